import CompositeOperations
import RecordOperations

/// Random faults of requests.
final class FaultPlan: Sendable {
  private struct State {
    var random: OperationRandomness
    var isActive = false
    var kill: (@Sendable () -> Void)?
  }
  private let state: Lock<State>
  /// Whether the remote database has connections.
  private let cutsConnections: Bool

  init(seed: UInt64, cutsConnections: Bool) {
    state = Lock(State(random: .seeded(seed &+ 1)))
    self.cutsConnections = cutsConnections
  }

  /// Ends the current round as the end of its process would.
  var kill: (@Sendable () -> Void)? {
    get { state.withLock { $0.kill } }
    set { state.withLock { $0.kill = newValue } }
  }

  func whileActive<Result>(_ body: () async -> Result) async -> Result {
    state.withLock { $0.isActive = true }
    defer { state.withLock { $0.isActive = false } }
    return await body()
  }

  enum Fault: Equatable {
    case refused, requestLost, replyLost, killedBefore, killedAfter, tokenExpired
    case partial(Int)
    case cut(ConnectionCut)
  }

  func next() -> Fault? {
    state.withLock { state in
      guard state.isActive else { return nil }
      switch Int.random(in: 0..<40, using: &state.random) {
      case 0, 1: return .refused
      case 2, 3: return .requestLost
      case 4, 5, 6: return .replyLost
      case 7: return .killedBefore
      case 8, 9: return .killedAfter
      case 10: return .tokenExpired
      case 11, 12: return .partial(Int.random(in: 0..<3, using: &state.random))
      case 13..<20 where cutsConnections:
        return .cut(.reply(after: Int.random(in: 0..<8, using: &state.random)))
      case 20..<25 where cutsConnections:
        return .cut(.backend(afterMicroseconds: Int.random(in: 0..<6_000, using: &state.random)))
      default: return nil
      }
    }
  }
}

/// A remote database with random faults, which notes the values that a deletion removes from other
/// records.
final class WatchedDatabase: RecordDatabase {
  let faults: FaultPlan
  private let server: any MirrorServer
  private let base: any RecordDatabase
  private let removed = Lock<Set<String>>([])

  init(_ server: any MirrorServer, _ faults: FaultPlan) {
    (self.server, base, self.faults) = (server, server.database, faults)
  }

  var limits: RecordLimits { base.limits }
  var capabilities: RecordCapabilities { base.capabilities }
  func accountStatus() async throws -> AccountStatus { try await base.accountStatus() }
  func identity() async throws -> String? { try await base.identity() }

  var cascaded: Set<String> { removed.withLock(\.self) }

  func modify(_ batch: RecordBatch) async throws -> [RecordReply] {
    try await reply { fault in
      guard case .partial(let place)? = fault, place < batch.changes.count else {
        return try await self.apply(batch)
      }
      var rest = batch
      let failed = rest.changes.remove(at: place)
      var replies = rest.changes.isEmpty ? [] : try await self.apply(rest)
      replies.insert(.failed(RecordError(.notPermitted("not today"), of: failed.id)), at: place)
      return replies
    }
  }

  private func apply(_ batch: RecordBatch) async throws -> [RecordReply] {
    let deletions = batch.changes.filter { if case .delete = $0 { true } else { false } }
    if deletions.isEmpty { return try await base.modify(batch) }
    let before = try await server.observer.contents
    let replies: Result<[RecordReply], any Error>
    do { replies = .success(try await base.modify(batch)) } catch { replies = .failure(error) }
    // The request may have been executed even if its reply was lost.
    try await server.settle()
    let after = try await server.observer.contents
    for (id, fields) in before where after[id] == nil && !deletions.contains(where: { $0.id == id })
    {
      removed.withLock { $0.formUnion(fields.values) }
    }
    return try replies.get()
  }

  func lookup(_ ids: [RecordID], keys: [String]?) async throws -> [RecordID: DatabaseRecord] {
    try await reply { _ in try await self.base.lookup(ids, keys: keys) }
  }

  func query(
    _ query: RecordQuery, after cursor: RecordCursor?, atMost count: Int
  ) async throws -> RecordPage {
    try await reply { _ in try await self.base.query(query, after: cursor, atMost: count) }
  }

  func changes(since token: ChangeToken?, in zone: RecordZone) async throws -> ChangePage {
    try await reply { fault in
      if fault == .tokenExpired, token != nil { throw RecordError(.tokenExpired) }
      return try await self.base.changes(since: token, in: zone)
    }
  }

  private func reply<Reply: Sendable>(
    _ send: @Sendable (FaultPlan.Fault?) async throws -> Reply
  ) async throws -> Reply {
    let fault = faults.next()
    switch fault {
    case .refused: throw RecordError(.unavailable("busy"))
    case .requestLost: throw RecordError(.replyLost)
    case .killedBefore:
      faults.kill?()
      throw CancellationError()
    case .killedAfter:
      _ = try await send(fault)
      faults.kill?()
      throw CancellationError()
    case .replyLost:
      _ = try await send(fault)
      throw RecordError(.replyLost)
    case .cut(let cut):
      return try await server.cutting(cut) { try await send(fault) }
    case .tokenExpired, .partial, nil: return try await send(fault)
    }
  }
}
