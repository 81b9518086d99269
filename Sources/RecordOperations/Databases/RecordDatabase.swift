/// A database of records, embedded or remote.
///
/// Each method is one request. The operations ``SaveRecords``, ``DeleteRecords``, ``QueryRecords``,
/// ``FetchChanges`` and ``CheckAccount`` split large requests, retry failed ones and fetch further
/// pages.
///
/// Failures are thrown as ``RecordError``, whose reason says whether the same request may succeed
/// later. Errors of other types are not retried. A request whose task is cancelled throws
/// `CancellationError` as soon as possible.
public protocol RecordDatabase: Sendable {
  /// The limits of one request.
  var limits: RecordLimits { get }

  /// The optional features that the database supports.
  var capabilities: RecordCapabilities { get }

  /// Returns whether the database is available to the current user.
  ///
  /// - Throws: A ``RecordError`` if the request fails.
  func accountStatus() async throws -> AccountStatus

  /// Returns an ID that no other database has; `nil` if the database has none, or has none yet.
  ///
  /// A ``RecordMirror``, which keeps a local copy of a database, uses the ID when it fetches all
  /// records again. If the ID is the same as before, or still `nil`, a record that is missing was
  /// deleted, so the mirror deletes it locally. If the ID has changed, this is another database, in
  /// which nothing was deleted. The mirror then keeps all local records.
  ///
  /// The default implementation returns `nil`.
  ///
  /// - Throws: A ``RecordError`` if the request fails.
  func identity() async throws -> String?

  /// Saves and deletes records, in order.
  ///
  /// - Parameter batch: The changes: no more than ``limits`` allow, and at most one for each
  ///   record.
  /// - Returns: The result of each change, in the order of the batch.
  /// - Throws: A ``RecordError`` if the request fails as a whole.
  func modify(_ batch: RecordBatch) async throws -> [RecordReply]

  /// Fetches records by their IDs.
  ///
  /// - Parameters:
  ///   - ids: The IDs of the records, at most as many as ``limits`` allow for a batch.
  ///   - keys: The fields to fetch; `nil` for all.
  /// - Returns: The records that exist.
  /// - Throws: A ``RecordError`` if the request fails.
  func lookup(_ ids: [RecordID], keys: [String]?) async throws -> [RecordID: DatabaseRecord]

  /// Fetches a page of the records that match a query.
  ///
  /// - Parameters:
  ///   - query: The query.
  ///   - cursor: The start of the page; `nil` for the first page.
  ///   - count: The maximum number of records on the page.
  /// - Throws: A ``RecordError`` if the request fails.
  func query(_ query: RecordQuery, after cursor: RecordCursor?, atMost count: Int) async throws
    -> RecordPage

  /// Fetches a page of changes.
  ///
  /// - Parameters:
  ///   - token: The position after which to fetch changes; `nil` to fetch all records.
  ///   - zone: The part of the database from which to fetch changes.
  /// - Throws: A ``RecordError``, with the reason ``RecordError/Reason/tokenExpired`` if the
  ///   database no longer has all changes since the token.
  func changes(since token: ChangeToken?, in zone: RecordZone) async throws -> ChangePage
}

extension RecordDatabase {
  /// `nil`: the database has no ID.
  public func identity() async throws -> String? { nil }
}

/// The limits of one request to a database.
///
/// ```swift
/// import RecordOperations
///
/// let small = MemoryRecordDatabase(limits: RecordLimits(items: 400, bytes: 1 << 20, page: 200))
/// ```
public struct RecordLimits: Hashable, Sendable {
  /// The maximum number of records in a batch.
  public var items: Int
  /// The maximum size of the records in a batch in bytes, as counted by
  /// ``DatabaseRecord/byteCount``.
  public var bytes: Int
  /// The maximum number of records on a page.
  public var page: Int

  /// Creates limits.
  ///
  /// - Parameters:
  ///   - items: The maximum number of records in a batch.
  ///   - bytes: The maximum size of the records in a batch in bytes.
  ///   - page: The maximum number of records on a page.
  /// - Precondition: Each limit is at least 1.
  public init(items: Int = .max, bytes: Int = .max, page: Int = 1_000) {
    precondition(
      items >= 1 && bytes >= 1 && page >= 1,
      "`items`, `bytes` and `page` must be at least 1 (were \(items), \(bytes) and \(page))")
    self.items = items
    self.bytes = bytes
    self.page = page
  }

  /// Checks the size of a batch.
  ///
  /// - Throws: A ``RecordError`` if a batch exceeds the limits.
  package func check(_ batch: RecordBatch) throws(RecordError) {
    let byteCount = batch.changes.reduce(0) { $0 + $1.byteCount }
    if batch.changes.count > items || byteCount > bytes { throw RecordError(.limitExceeded) }
  }
}

/// The optional features of a database, beyond saving, deleting and finding records.
public struct RecordCapabilities: OptionSet, Hashable, Sendable {
  /// The bits of the set.
  public let rawValue: UInt

  /// Creates a set from its bits.
  public init(rawValue: UInt) { self.rawValue = rawValue }

  /// Saving and deleting all records of a batch or none.
  public static let atomicBatches = RecordCapabilities(rawValue: 1 << 0)
  /// Reporting changes.
  public static let changes = RecordCapabilities(rawValue: 1 << 1)
  /// Sorting the results of a query.
  public static let sorting = RecordCapabilities(rawValue: 1 << 2)
  /// Predicates with alternatives, `||`.
  public static let alternatives = RecordCapabilities(rawValue: 1 << 3)
  /// Predicates with negations, `!`.
  public static let negation = RecordCapabilities(rawValue: 1 << 4)
  /// Finding strings within strings.
  public static let textSearch = RecordCapabilities(rawValue: 1 << 5)
  /// Finding values within lists.
  public static let listSearch = RecordCapabilities(rawValue: 1 << 6)
  /// All features.
  public static let all = RecordCapabilities(rawValue: 1 << 7 - 1)

  private static let names: [(RecordCapabilities, String)] = [
    (.atomicBatches, "change all records of a batch or none"), (.changes, "report changes"),
    (.sorting, "sort"), (.alternatives, "evaluate alternatives (||)"),
    (.negation, "evaluate negations (!)"), (.textSearch, "search within strings"),
    (.listSearch, "search within lists"),
  ]

  /// Throws an error if a feature is not supported.
  ///
  /// - Throws: A ``RecordError`` that names the missing feature.
  package func require(_ needs: RecordCapabilities) throws(RecordError) {
    guard let missing = Self.names.first(where: { needs.contains($0.0) && !contains($0.0) }) else {
      return
    }
    throw RecordError(.unsupported("this database cannot \(missing.1)"))
  }
}

/// Whether a database is available to the current user.
public enum AccountStatus: String, Hashable, Sendable {
  /// The database is available.
  case available
  /// No user is signed in, or an embedded database does not exist.
  case noAccount
  /// The current user may not use the database.
  case restricted
  /// The database is temporarily unavailable.
  case temporarilyUnavailable
  /// The status could not be determined.
  case couldNotDetermine
}
