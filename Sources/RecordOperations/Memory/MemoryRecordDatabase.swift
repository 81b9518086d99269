internal import CompositeOperations

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// A database of records that is gone with the program: for tests, previews, and what need not be kept.
///
/// ```swift
/// import RecordOperations
///
/// let database = MemoryRecordDatabase()
/// let book = DatabaseRecord("Book", "9780141439600")
/// _ = await SaveRecords([book], in: database).run()
/// ```
///
/// It keeps to what ``RecordDatabase`` and the policies say, like the others, and answers at once. What a small or
/// simple database would refuse it refuses too, if it is made with such limits and capabilities.
public final class MemoryRecordDatabase: RecordDatabase {
  public let limits: RecordLimits
  public let capabilities: RecordCapabilities

  private let store: Lock<RecordStore>

  public init(limits: RecordLimits = RecordLimits(), capabilities: RecordCapabilities = .all) {
    self.limits = limits
    self.capabilities = capabilities
    store = Lock(RecordStore())
  }

  public func accountStatus() async throws -> AccountStatus { .available }

  public func modify(_ batch: RecordBatch) async throws -> [RecordReply] {
    try Task.checkCancellation()
    if batch.isAtomic { try capabilities.require(.atomicBatches) }
    try check(batch.changes.count, batch.changes.reduce(0) { $0 + $1.byteCount })
    let moment = Date().toTheMillisecond
    return store.withLock { $0.apply(batch, at: moment) }
  }

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

  public func changes(since token: ChangeToken?, in zone: RecordZone) async throws -> ChangePage {
    try Task.checkCancellation()
    try capabilities.require(.changes)
    return try store.withLock { store in
      Result { try store.changes(since: token, in: zone, atMost: limits.page) }
    }.get()
  }

  /// Forgets which records were deleted: tokens from before that are expired.
  public func forgetDeletions() { store.withLock { $0.forgetDeletions() } }

  private func check(_ items: Int, _ bytes: Int) throws {
    if items > limits.items || bytes > limits.bytes { throw RecordError(.limitExceeded) }
  }
}
