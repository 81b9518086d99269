internal import CompositeOperations
internal import DurableOperations

/// The point at which a process crashes.
final class SimulatedCrash: Sendable {
  /// The number of the write, from 0.
  let write: Int
  /// Whether the crash is after the write, and not before it.
  let isAfter: Bool
  private let happened = Lock(false)

  init(write: Int, isAfter: Bool) {
    self.write = write
    self.isAfter = isAfter
  }

  var hasHappened: Bool { happened.withLock { $0 } }

  fileprivate func happen() { happened.withLock { $0 = true } }
}

/// A store as a process sees it that crashes at one of its writes. After that, no request has an
/// effect.
struct CrashingBackend: RunBackend {
  private struct State: Sendable {
    var writes = 0
    var isClosed = false
    var claims: [ClaimToken] = []
  }

  private let base: any RunBackend
  private let crash: SimulatedCrash?
  private let state = StateBox()

  private final class StateBox: Sendable {
    let lock = Lock(State())
  }

  init(_ base: any RunBackend, _ crash: SimulatedCrash?) {
    self.base = base
    self.crash = crash
  }

  /// The claims that the process has made.
  var claims: [ClaimToken] { state.lock.withLock { $0.claims } }

  private static let closed = RunStoreError(.closed, "the process of this store has crashed")

  private func write<Result: Sendable>(
    _ body: () async throws -> Result
  ) async throws -> Result {
    let next = state.lock.withLock { state -> Int? in
      if state.isClosed { return nil }
      defer { state.writes += 1 }
      return state.writes
    }
    guard let number = next else { throw Self.closed }
    guard let crash, crash.write == number else { return try await body() }
    // The process also crashes after a write that fails.
    if crash.isAfter { _ = try? await body() }
    state.lock.withLock { $0.isClosed = true }
    crash.happen()
    throw Self.closed
  }

  private func read<Result: Sendable>(_ body: () async throws -> Result) async throws -> Result {
    if state.lock.withLock({ $0.isClosed }) { throw Self.closed }
    return try await body()
  }

  private func crashing(_ committer: some StepCommitter) -> any StepCommitter {
    CrashingCommitter(base: committer, backend: self)
  }

  /// The commits of such a store.
  private struct CrashingCommitter<Base: StepCommitter>: StepCommitter {
    let base: Base
    let backend: CrashingBackend

    var database: String { base.database }

    func commit<Value: Sendable>(
      dropping dropped: Range<Int>, hasKeys: Bool, by claim: ClaimToken,
      _ changes: @escaping @Sendable (Base.Connection) throws -> CommittedValue<Value>
    ) async throws -> CommittedValue<Value> {
      try await backend.write {
        try await base.commit(dropping: dropped, hasKeys: hasKeys, by: claim, changes)
      }
    }
  }

  // MARK: Requests

  var options: RunStoreOptions { base.options }
  var now: Int64 { base.now }
  var location: String { base.location }
  var committer: (any StepCommitter)? { base.committer.map { crashing($0) } }
  var changes: RunChanges { base.changes }

  func insert(_ run: NewRun) async throws -> (run: StoredRun, isNew: Bool) {
    let inserted = try await write {
      let (run, isNew) = try await base.insert(run)
      return Inserted(run: run, isNew: isNew)
    }
    return (inserted.run, inserted.isNew)
  }

  private struct Inserted: Sendable {
    let run: StoredRun
    let isNew: Bool
  }

  func run(_ id: RunID) async throws -> StoredRun? { try await read { try await base.run(id) } }

  func runs(_ selection: RunSelection) async throws -> [StoredRun] {
    try await read { try await base.runs(selection) }
  }

  func counts(of selection: RunSelection) async throws -> [RunCount] {
    try await read { try await base.counts(of: selection) }
  }

  func totals() async throws -> [RunTotals] { try await read { try await base.totals() } }

  func version() async throws -> String { try await read { try await base.version() } }

  func steps(of id: RunID, last count: Int?) async throws -> [StoredStep] {
    try await read { try await base.steps(of: id, last: count) }
  }

  func parts(of id: RunID, last count: Int?) async throws -> StoredParts {
    try await read { try await base.parts(of: id, last: count) }
  }

  func claim(flows: [String], limit: Int, isIdle: Bool) async throws -> [RunClaim] {
    try await write {
      let claims = try await base.claim(flows: flows, limit: limit, isIdle: isIdle)
      state.lock.withLock { $0.claims += claims.map(\.token) }
      return claims
    }
  }

  func claim(_ id: RunID) async throws -> ClaimAnswer {
    try await write {
      let answer = try await base.claim(id)
      if case .claimed(let claim) = answer {
        state.lock.withLock { $0.claims.append(claim.token) }
      }
      return answer
    }
  }

  func longestPause(of flows: [String], isIdle: Bool) async throws -> Duration {
    try await read { try await base.longestPause(of: flows, isIdle: isIdle) }
  }

  var pauseBetweenClaims: Duration { base.pauseBetweenClaims }
  var leavesChildrenToWorkers: Bool { base.leavesChildrenToWorkers }
  var mostChildren: Int? { base.mostChildren }

  func ownerState(of run: StoredRun) -> OwnerState { base.ownerState(of: run) }

  func append(
    _ step: StoredStep, dropping dropped: Range<Int>, hasKeys: Bool, by claim: ClaimToken
  ) async throws {
    try await write {
      try await base.append(step, dropping: dropped, hasKeys: hasKeys, by: claim)
    }
  }

  func store(key step: StoredStep, by claim: ClaimToken) async throws {
    try await write { try await base.store(key: step, by: claim) }
  }

  func removeKeys(by claim: ClaimToken) async throws {
    try await write { try await base.removeKeys(by: claim) }
  }

  func park(by claim: ClaimToken, until wake: Int64?, event: String?) async throws {
    try await write { try await base.park(by: claim, until: wake, event: event) }
  }

  func end(
    by claim: ClaimToken, _ outcome: String?, as state: RunState, sequence: String?
  ) async throws {
    try await write { try await base.end(by: claim, outcome, as: state, sequence: sequence) }
  }

  func release(by claim: ClaimToken, asFailed hasFailed: Bool) async throws {
    try await write { try await base.release(by: claim, asFailed: hasFailed) }
  }

  func markStuck(by claim: ClaimToken, because reason: String) async throws {
    try await write { try await base.markStuck(by: claim, because: reason) }
  }

  func cancel(_ id: RunID, because reason: String?) async throws {
    try await write { try await base.cancel(id, because: reason) }
  }

  func retry(_ id: RunID, from step: Int?) async throws {
    try await write { try await base.retry(id, from: step) }
  }

  func send(
    _ payload: String, as event: String, to id: RunID, replacing replaces: Bool
  ) async throws -> Bool {
    try await write {
      try await base.send(payload, as: event, to: id, replacing: replaces)
    }
  }

  func event(_ name: String, of id: RunID) async throws -> StoredEvent? {
    try await read { try await base.event(name, of: id) }
  }

  func forget(olderThan age: Int64) async throws -> Int {
    try await write { try await base.forget(olderThan: age) }
  }

  func tidy(olderThan age: Int64) async throws -> Int {
    try await write { try await base.tidy(olderThan: age) }
  }

  func forget(_ id: RunID) async throws { try await write { try await base.forget(id) } }

  func events(of id: RunID, last count: Int) async throws -> [StoredEvent] {
    try await read { try await base.events(of: id, last: count) }
  }

  func canWrite() async throws -> Bool { try await read { try await base.canWrite() } }

  func check() async throws -> [String] { try await read { try await base.check() } }

  func close() async { await base.close() }
}
