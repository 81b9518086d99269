/// A database of records, near or far.
///
/// Each function is one request. What is too much for one, what is to be tried again, and what follows the last page
/// is the concern of the operations: ``SaveRecords``, ``DeleteRecords``, ``QueryRecords``, ``FetchChanges``,
/// ``CheckAccount``.
///
/// What goes wrong is thrown as a ``RecordError``, whose reason says whether the same request may go right later. Other
/// errors count as final. A request whose task is cancelled throws `CancellationError` as soon as it can.
public protocol RecordDatabase: Sendable {
  /// How much may be asked for at once.
  var limits: RecordLimits { get }

  /// What it is able to do beyond saving, deleting and finding records.
  var capabilities: RecordCapabilities { get }

  /// Whether it is there for whoever asks.
  func accountStatus() async throws -> AccountStatus

  /// Saves and deletes records, in order.
  ///
  /// - Parameter batch: What is to be done: at most as much as the limits say, and one change a record.
  /// - Returns: What became of each change, in the order of the batch.
  /// - Throws: A ``RecordError`` if that became of none of them.
  func modify(_ batch: RecordBatch) async throws -> [RecordReply]

  /// Reads records by their names.
  ///
  /// - Parameters:
  ///   - ids: At most as many as the limits say for a batch.
  ///   - keys: The fields that are wanted; nil for all.
  /// - Returns: Those that are there.
  func lookup(_ ids: [RecordID], keys: [String]?) async throws -> [RecordID: DatabaseRecord]

  /// Finds records.
  ///
  /// - Parameters:
  ///   - query: Which.
  ///   - cursor: Where the page begins; nil for the first one.
  ///   - count: How many there are on it at most.
  func query(_ query: RecordQuery, after cursor: RecordCursor?, atMost count: Int) async throws
    -> RecordPage

  /// Tells what has changed.
  ///
  /// - Parameters:
  ///   - token: Since when; nil for all that is there.
  ///   - zone: In which part of it.
  /// - Throws: A ``RecordError`` with ``RecordError/Reason/tokenExpired`` if that is longer ago than the database
  ///   remembers.
  func changes(since token: ChangeToken?, in zone: RecordZone) async throws -> ChangePage
}

/// How much a database takes and gives at once.
public struct RecordLimits: Hashable, Sendable {
  /// How many records a batch may have.
  public var items: Int
  /// How many bytes the records of a batch may have together, as ``DatabaseRecord/byteCount`` counts them.
  public var bytes: Int
  /// How many records there are on a page.
  public var page: Int

  /// - Precondition: None of them is below 1.
  public init(items: Int = .max, bytes: Int = .max, page: Int = 1_000) {
    precondition(
      items >= 1 && bytes >= 1 && page >= 1,
      "`items`, `bytes` and `page` must be at least 1 (were \(items), \(bytes) and \(page))")
    self.items = items
    self.bytes = bytes
    self.page = page
  }
}

/// What a database is able to do beyond saving, deleting and finding records.
public struct RecordCapabilities: OptionSet, Hashable, Sendable {
  public let rawValue: UInt

  public init(rawValue: UInt) { self.rawValue = rawValue }

  /// To save and delete all records of a batch or none.
  public static let atomicBatches = RecordCapabilities(rawValue: 1 << 0)
  /// To tell what has changed.
  public static let changes = RecordCapabilities(rawValue: 1 << 1)
  /// To sort.
  public static let sorting = RecordCapabilities(rawValue: 1 << 2)
  /// To find what is one way or another, `||`.
  public static let alternatives = RecordCapabilities(rawValue: 1 << 3)
  /// To find what is not so, `!`.
  public static let negation = RecordCapabilities(rawValue: 1 << 4)
  /// To find texts within texts.
  public static let textSearch = RecordCapabilities(rawValue: 1 << 5)
  /// To find values within lists.
  public static let listSearch = RecordCapabilities(rawValue: 1 << 6)
  /// All of them.
  public static let all = RecordCapabilities(rawValue: 1 << 7 - 1)

  private static let names: [(RecordCapabilities, String)] = [
    (.atomicBatches, "change all records of a batch or none"), (.changes, "report changes"),
    (.sorting, "sort"), (.alternatives, "evaluate alternatives (||)"),
    (.negation, "evaluate negations (!)"), (.textSearch, "search within strings"),
    (.listSearch, "search within lists"),
  ]

  /// - Throws: A ``RecordError`` if not all of them are there.
  func require(_ needs: RecordCapabilities) throws(RecordError) {
    guard let missing = Self.names.first(where: { needs.contains($0.0) && !contains($0.0) }) else {
      return
    }
    throw RecordError(.unsupported("this database cannot \(missing.1)"))
  }
}

/// Whether a database is there for whoever asks.
public enum AccountStatus: String, Hashable, Sendable {
  case available
  /// Nobody is signed in; an embedded database does not exist.
  case noAccount
  /// Whoever is signed in may not use it.
  case restricted
  /// It is there, but not at the moment.
  case temporarilyUnavailable
  /// It cannot be told.
  case couldNotDetermine
}
