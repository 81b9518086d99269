internal import CompositeOperations

/// A database with injected faults, for tests of code that must not lose data when its database
/// fails.
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
/// The closure is called before each request and may use the base database itself. A record that it
/// saves there simulates another writer, and makes the request fail with a conflict.
public final class FaultyRecordDatabase: RecordDatabase {
  /// A request to the database.
  public enum Request: Sendable {
    case accountStatus
    case modify(RecordBatch)
    case lookup([RecordID])
    case query(RecordQuery)
    case changes(ChangeToken?)
  }

  /// A fault to inject.
  public enum Fault: Sendable {
    /// Throws the error without making the request.
    case refusing(RecordError)
    /// Loses the request: throws ``RecordError/Reason/replyLost`` without making it.
    case losingRequest
    /// Loses the reply: makes the request, then throws ``RecordError/Reason/replyLost``.
    case losingReply
    /// Fails the changes for which the closure returns an error. An atomic batch then fails as a
    /// whole.
    case failing(@Sendable (RecordChange) -> RecordError?)
  }

  let base: any RecordDatabase
  private let fault: @Sendable (Request, Int) async -> Fault?
  private let count = Lock(0)

  /// Creates a database that injects faults into requests to another one.
  ///
  /// - Parameters:
  ///   - base: The database that receives the requests.
  ///   - fault: Returns the fault to inject into a request, or `nil` for none. Its second argument
  ///     is the number of the request, starting at 1.
  public init(
    _ base: any RecordDatabase, fault: @escaping @Sendable (Request, Int) async -> Fault?
  ) {
    self.base = base
    self.fault = fault
  }

  /// The number of requests so far.
  public var requestCount: Int { count.withLock(\.self) }

  /// The limits of the base database.
  public var limits: RecordLimits { base.limits }
  /// The features of the base database.
  public var capabilities: RecordCapabilities { base.capabilities }

  /// Returns the account status of the base database, unless a fault is injected.
  public func accountStatus() async throws -> AccountStatus {
    try await reply(to: .accountStatus) { _ in try await self.base.accountStatus() }
  }

  /// Returns the ID of the base database.
  public func identity() async throws -> String? { try await base.identity() }

  /// Saves and deletes records in the base database, unless a fault is injected.
  public func modify(_ batch: RecordBatch) async throws -> [RecordReply] {
    try await reply(to: .modify(batch)) { fault in
      guard case .failing(let failure)? = fault else { return try await self.base.modify(batch) }
      return try await self.modify(batch, failing: failure)
    }
  }

  /// Makes the changes for which no failure is injected.
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

  /// Fetches records from the base database, unless a fault is injected.
  public func lookup(
    _ ids: [RecordID], keys: [String]?
  ) async throws -> [RecordID: DatabaseRecord] {
    try await reply(to: .lookup(ids)) { _ in try await self.base.lookup(ids, keys: keys) }
  }

  /// Fetches a page of records from the base database, unless a fault is injected.
  public func query(
    _ query: RecordQuery, after cursor: RecordCursor?, atMost count: Int
  ) async throws -> RecordPage {
    try await reply(to: .query(query)) { _ in
      try await self.base.query(query, after: cursor, atMost: count)
    }
  }

  /// Fetches a page of changes from the base database, unless a fault is injected.
  public func changes(since token: ChangeToken?, in zone: RecordZone) async throws -> ChangePage {
    try await reply(to: .changes(token)) { _ in try await self.base.changes(since: token, in: zone)
    }
  }

  private func reply<Reply: Sendable>(
    to request: Request, _ send: (Fault?) async throws -> Reply
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
      _ = try await send(fault)
      throw RecordError(.replyLost)
    case .failing, nil: return try await send(fault)
    }
  }
}
