internal import CompositeOperations

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// A database of records in memory, for tests, previews and temporary data.
///
/// ```swift
/// import RecordOperations
///
/// let database = MemoryRecordDatabase()
/// let book = DatabaseRecord("Book", "9780141439600")
/// _ = await SaveRecords([book], in: database).run()
/// ```
///
/// It follows the rules of ``RecordDatabase`` and of the policies, and replies without waiting.
/// With ``limits`` and ``capabilities`` it refuses what a small or simple database would refuse.
public final class MemoryRecordDatabase: RecordDatabase {
  /// The limits of one request.
  public let limits: RecordLimits
  /// The features that requests may use.
  public let capabilities: RecordCapabilities

  private let store: Lock<RecordStore>

  /// Creates an empty database.
  ///
  /// - Parameters:
  ///   - limits: The limits of one request.
  ///   - capabilities: The features that requests may use.
  public init(limits: RecordLimits = RecordLimits(), capabilities: RecordCapabilities = .all) {
    self.limits = limits
    self.capabilities = capabilities
    store = Lock(RecordStore())
  }

  /// Returns ``AccountStatus/available``.
  public func accountStatus() async throws -> AccountStatus { .available }

  /// Returns an ID that no other database has.
  public func identity() async throws -> String? { store.withLock { $0.identity } }

  /// Saves and deletes records, in order.
  ///
  /// - Throws: A ``RecordError`` if the batch exceeds ``limits`` or is atomic without
  ///   ``RecordCapabilities/atomicBatches``; `CancellationError`.
  public func modify(_ batch: RecordBatch) async throws -> [RecordReply] {
    try Task.checkCancellation()
    if batch.isAtomic { try capabilities.require(.atomicBatches) }
    try check(batch.changes.count, batch.changes.reduce(0) { $0 + $1.byteCount })
    let moment = Date().toTheMillisecond
    return store.withLock { $0.apply(batch, at: moment) }
  }

  /// Fetches records by their IDs.
  ///
  /// - Throws: A ``RecordError`` if there are more IDs than ``limits`` allow; `CancellationError`.
  public func lookup(
    _ ids: [RecordID], keys: [String]?
  ) async throws -> [RecordID: DatabaseRecord] {
    try Task.checkCancellation()
    try check(ids.count, 0)
    return store.withLock { store in
      var found: [RecordID: DatabaseRecord] = [:]
      for id in ids { found[id] = store.record(id, keys: keys) }
      return found
    }
  }

  /// Fetches a page of the records that match a query.
  ///
  /// - Throws: A ``RecordError`` if the query is invalid or needs a feature that is not in
  ///   ``capabilities``; `CancellationError`.
  public func query(
    _ query: RecordQuery, after cursor: RecordCursor?, atMost count: Int
  ) async throws -> RecordPage {
    try Task.checkCancellation()
    if let reason = query.predicate?.impossibility { throw RecordError(.invalid(reason)) }
    try capabilities.require(query.needs)
    guard count >= 1 else {
      throw RecordError(.invalid("a page must have at least 1 record (was \(count))"))
    }
    return try store.withLock { store in
      Result { try store.page(of: query, after: cursor, atMost: min(count, limits.page)) }
    }.get()
  }

  /// Fetches a page of changes.
  ///
  /// - Throws: A ``RecordError`` if the token has expired, or without
  ///   ``RecordCapabilities/changes``; `CancellationError`.
  public func changes(since token: ChangeToken?, in zone: RecordZone) async throws -> ChangePage {
    try Task.checkCancellation()
    try capabilities.require(.changes)
    return try store.withLock { store in
      Result { try store.changes(since: token, in: zone, atMost: limits.page) }
    }.get()
  }

  /// Forgets which records were deleted, so that earlier tokens expire.
  public func forgetDeletions() { store.withLock { $0.forgetDeletions() } }

  private func check(_ items: Int, _ bytes: Int) throws {
    if items > limits.items || bytes > limits.bytes { throw RecordError(.limitExceeded) }
  }
}
