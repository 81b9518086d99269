public import CompositeOperations

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// An operation that fetches what has changed in a database since a token.
///
/// ```swift
/// import RecordOperations
///
/// let database = MemoryRecordDatabase()
/// let all = try await FetchChanges(in: database).run().get()
/// let since = try await FetchChanges(since: all.token, in: database).run().get()
/// for record in since.changed { print(record.id) }
/// ```
///
/// The operation fetches all pages. If the token has expired, the operation fetches all records
/// instead and sets ``FetchedChanges/startsOver``: a record that is not in the result no longer
/// exists. If a token expires between two pages, the operation starts over, too. If tokens
/// expire more often than ``retries`` permits, the operation fails.
///
/// To store the changes, use ``applying(_:)``, which passes each page to a closure. Errors of the
/// database are thrown unchanged.
public struct FetchChanges: ComposableOperation {
  /// The position after which to fetch changes; `nil` to fetch all records.
  public let token: ChangeToken?
  /// The zone, which is the part of the database whose changes are fetched.
  public let zone: RecordZone
  /// The database of the records.
  public let database: any RecordDatabase
  /// How often a request is attempted.
  public let retries: RetryPolicy

  /// Creates an operation that fetches changes.
  ///
  /// - Parameters:
  ///   - token: The position after which to fetch changes; `nil` to fetch all records.
  ///   - database: The database of the records.
  ///   - zone: The zone, which is the part of the database whose changes are fetched.
  ///   - retries: How often a request is attempted.
  public init(
    since token: ChangeToken? = nil, in database: any RecordDatabase,
    zone: RecordZone = .default, retries: RetryPolicy = .databaseDefault
  ) {
    self.token = token
    self.zone = zone
    self.database = database
    self.retries = retries
  }

  public var operationName: String { "fetch changes" }

  /// Fetches all changes.
  ///
  /// - Returns: Each changed record once, in its current state. The records are in the order of the
  ///   last change of each.
  /// - Throws: A ``RecordError``, and any other error of the database; `CancellationError`.
  public func perform(in context: OperationContext) async throws -> FetchedChanges {
    var changed: [RecordID: DatabaseRecord] = [:]
    var deleted: Set<RecordID> = []
    var order: [RecordID] = []
    var startsOver = false
    var delayedSince: Date?
    let token = try await eachPage(in: context) { page in
      delayedSince = page.delayedSince
      if page.startsOver {
        (changed, deleted, order, startsOver) = ([:], [], [], true)
      }
      for record in page.changed {
        changed[record.id] = record
        deleted.remove(record.id)
        order.append(record.id)
      }
      for id in page.deleted {
        changed[id] = nil
        deleted.insert(id)
        order.append(id)
      }
      context.report(changed.count + deleted.count, unit: "records")
    }
    // Each record at the position of its last change.
    var seen: Set<RecordID> = []
    let last = order.reversed().filter { seen.insert($0).inserted }.reversed()
    return FetchedChanges(
      changed: last.compactMap { changed[$0] }, deleted: last.filter(deleted.contains),
      token: token, startsOver: startsOver, delayedSince: delayedSince)
  }

  /// Returns an operation that passes each page to a closure before it fetches the next one.
  ///
  /// ```swift
  /// import RecordOperations
  ///
  /// let database = MemoryRecordDatabase()
  /// let copy = Copy()
  /// let follow = FetchChanges(since: await copy.token, in: database).applying { page in
  ///   await copy.apply(page)
  /// }
  /// let token = try await follow.run().get()
  ///
  /// actor Copy {
  ///   var records: [RecordID: DatabaseRecord] = [:]
  ///   var token: ChangeToken?
  ///
  ///   func apply(_ page: FetchedChanges) {
  ///     if page.startsOver { records = [:] }
  ///     for record in page.changed { records[record.id] = record }
  ///     for id in page.deleted { records[id] = nil }
  ///     token = page.token
  ///   }
  /// }
  /// ```
  ///
  /// If the token of a page is stored in one transaction with its changes, no change is lost or
  /// applied twice, wherever the run ends.
  ///
  /// - Parameter apply: Stores a page. An error that it throws ends the run.
  /// - Returns: An operation whose result is the token of the last page.
  public func applying(
    _ apply: nonisolated(nonsending) @escaping @Sendable (FetchedChanges) async throws -> Void
  ) -> some ComposableOperation<ChangeToken> {
    SimpleOperation.withContext { context in try await eachPage(in: context, apply) }.named(
      operationName)
  }

  /// Passes each page to a closure.
  ///
  /// - Parameter passesFailures: Whether a page may have records that could not be read. Otherwise they are errors.
  /// - Returns: The token of the last page.
  nonisolated(nonsending) func eachPage(
    in context: OperationContext,
    passingFailures passesFailures: Bool = false,
    _ body: nonisolated(nonsending) (FetchedChanges) async throws -> Void
  ) async throws -> ChangeToken {
    try database.capabilities.require(.changes)
    var token = token
    var startsOver = token == nil
    var number = 1
    var starts = 1
    var seen: Set<ChangeToken> = []
    while true {
      if let token { seen.insert(token) }
      let (database, zone, since) = (database, zone, token)
      let request = readRequest("page \(number)", retries: retries) {
        let page = try await database.changes(since: since, in: zone)
        // The position after the page is also after this change.
        if !passesFailures, let error = page.failed.first { throw error }
        return page
      }
      let page: ChangePage
      do { page = try await context.run(request) } catch let error as RecordError {
        // Limited, because a database may forget changes faster than it reports them.
        guard case .tokenExpired = error.reason, token != nil, starts < retries.attempts else {
          throw error
        }
        starts += 1
        (token, startsOver, seen) = (nil, true, [])
        continue
      }
      if page.hasMore, seen.contains(page.token) {
        throw RecordError(
          .invalid(
            """
            page \(number) of the changes ends at a position where an earlier page ended (\(page.token)), \
            and more pages would follow, endlessly; this is an error of the database
            """))
      }
      try await body(FetchedChanges(page, startsOver: startsOver))
      if !page.hasMore { return page.token }
      (token, startsOver) = (page.token, false)
      number += 1
    }
  }
}

/// The changes of a database: all of them, or a page.
public struct FetchedChanges: Sendable {
  /// The saved records, in their current state.
  public let changed: [DatabaseRecord]
  /// The IDs of the deleted records.
  public let deleted: [RecordID]
  /// The errors of records that could not be read.
  let failed: [RecordError]
  /// The position after these changes.
  public let token: ChangeToken
  /// Whether this fetch began with all records of the zone, because there was no token or because
  /// the token had expired.
  ///
  /// If this is `true`, discard all records that were fetched earlier. Of the pages of a fetch,
  /// this is `true` for the first one without a token, and for the first one after a token expired.
  public let startsOver: Bool
  /// The time of the first change that could not be fetched yet, because an open transaction of
  /// another program delays it; `nil` if no change is delayed, or if the database does not know.
  public let delayedSince: Date?

  init(
    changed: [DatabaseRecord], deleted: [RecordID], failed: [RecordError] = [],
    token: ChangeToken, startsOver: Bool, delayedSince: Date?
  ) {
    self.changed = changed
    self.deleted = deleted
    self.failed = failed
    self.token = token
    self.startsOver = startsOver
    self.delayedSince = delayedSince
  }

  init(_ page: ChangePage, startsOver: Bool) {
    self.init(
      changed: page.changed, deleted: page.deleted, failed: page.failed, token: page.token,
      startsOver: startsOver,
      delayedSince: page.delayedSince)
  }
}
