internal import CompositeOperations

/// A database that goes wrong as it is told: for tests of flows that must not lose anything when theirs does.
///
/// ```swift
/// import RecordOperations
///
/// let database = FaultyRecordDatabase(MemoryRecordDatabase()) { request, number in
///   number == 1 ? .losingReply : nil
/// }
/// let saved = await SaveRecords([DatabaseRecord("Book")], in: database).run()
/// ```
///
/// The closure is asked about every request, and may use the database behind it: whoever saves a record there stands
/// in for somebody else, and has the request end in a conflict.
public final class FaultyRecordDatabase: RecordDatabase {
  /// What is asked of the database.
  public enum Request: Sendable {
    case accountStatus
    case modify(RecordBatch)
    case lookup([RecordID])
    case query(RecordQuery)
    case changes(ChangeToken?)
  }

  /// What goes wrong.
  public enum Fault: Sendable {
    /// Nothing is done, and the error says why.
    case refusing(RecordError)
    /// Nothing is done, and no answer comes.
    case losingRequest
    /// It is done, and no answer comes.
    case losingReply
    /// Changes of some records are not made; which ones, the closure says. An atomic batch fails as a whole then.
    case failing(@Sendable (RecordChange) -> RecordError?)
  }

  private let base: any RecordDatabase
  private let fault: @Sendable (Request, Int) async -> Fault?
  private let count = Lock(0)

  /// - Parameters:
  ///   - base: The database behind it.
  ///   - fault: What goes wrong with a request; nil for nothing. It is told the number of the request, from 1.
  public init(
    _ base: any RecordDatabase, fault: @escaping @Sendable (Request, Int) async -> Fault?
  ) {
    self.base = base
    self.fault = fault
  }

  /// How many requests there were.
  public var requestCount: Int { count.withLock(\.self) }

  public var limits: RecordLimits { base.limits }
  public var capabilities: RecordCapabilities { base.capabilities }

  public func accountStatus() async throws -> AccountStatus {
    try await answer(.accountStatus) { _ in try await self.base.accountStatus() }
  }

  public func modify(_ batch: RecordBatch) async throws -> [RecordReply] {
    try await answer(.modify(batch)) { fault in
      guard case .failing(let failure)? = fault else { return try await self.base.modify(batch) }
      return try await self.modify(batch, failing: failure)
    }
  }

  /// Makes the changes that do not fail.
  private func modify(
    _ batch: RecordBatch, failing failure: @Sendable (RecordChange) -> RecordError?
  ) async throws -> [RecordReply] {
    let failures = batch.changes.map(failure)
    if batch.isAtomic {
      guard failures.contains(where: { $0 != nil }) else { return try await base.modify(batch) }
      return zip(batch.changes, failures).map { change, failure in
        .failed(failure ?? RecordError(.batchFailed, of: change.id))
      }
    }
    let passed = zip(batch.changes, failures).filter { $0.1 == nil }.map(\.0)
    var replies = try await base.modify(RecordBatch(passed))[...]
    return failures.compactMap { $0.map { .failed($0) } ?? replies.popFirst() }
  }

  public func lookup(
    _ ids: [RecordID], keys: [String]?
  ) async throws -> [RecordID: DatabaseRecord] {
    try await answer(.lookup(ids)) { _ in try await self.base.lookup(ids, keys: keys) }
  }

  public func query(
    _ query: RecordQuery, after cursor: RecordCursor?, atMost count: Int
  ) async throws -> RecordPage {
    try await answer(.query(query)) { _ in
      try await self.base.query(query, after: cursor, atMost: count)
    }
  }

  public func changes(since token: ChangeToken?, in zone: RecordZone) async throws -> ChangePage {
    try await answer(.changes(token)) { _ in try await self.base.changes(since: token, in: zone) }
  }

  private func answer<Reply: Sendable>(
    _ request: Request, _ answer: (Fault?) async throws -> Reply
  ) async throws -> Reply {
    let number = count.withLock { count in
      count += 1
      return count
    }
    let fault = await fault(request, number)
    switch fault {
    case .refusing(let error): throw error
    case .losingRequest: throw RecordError(.replyLost)
    case .losingReply:
      _ = try await answer(fault)
      throw RecordError(.replyLost)
    case .failing, nil: return try await answer(fault)
    }
  }
}
