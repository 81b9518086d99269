internal import CompositeOperations
internal import Dispatch
internal import Foundation
internal import SQLiteSupport
internal import SystemSupport

/// A journal in an SQLite file, or in memory.
///
/// Writes share transactions (``GroupCommit``). Reads have connections of their own, except in
/// memory.
final class SQLiteRunBackend: RunBackend {
  let options: RunStoreOptions
  let location: String
  let changes = RunChanges()

  /// Nil for a journal in memory.
  let file: JournalFile?
  private let writes: GroupCommit
  private let reads: SQLiteWorkerPool?
  private let watch: JournalWatch?
  private let longSteps = LongSteps()
  /// This process, since its first claim.
  private let owner = Lock<JournalOwner?>(nil)
  /// Held by the claim that registers this process.
  private let registration = AsyncMutex()
  /// Claims of this process that could not be released. Its next claim releases them, or a task.
  let unreleased = Lock<Set<ClaimToken>>([])
  /// Whether a task tries to release them.
  let isReleasing = Lock(false)
  /// Whether the store was closed, so that the task writes nothing more.
  let isClosed = Lock(false)

  /// - Parameters:
  ///   - path: The path of the file; nil for a journal in memory.
  ///   - hook: Called before and after each commit; nil except in tests.
  ///   - lockError: The error of the locks by which processes see each other, in tests.
  init(
    file path: String?, options: RunStoreOptions, onCommit hook: CommitHook? = nil,
    lockError: SystemError? = nil
  ) {
    let file = path.map { JournalFile($0, lockError: lockError) }
    self.file = file
    self.options = options
    location = file?.path ?? "memory"
    guard let file else {
      writes = GroupCommit("DurableOperations.memory", hook: hook) {
        let connection = try SQLiteConnection.openInMemory()
        try JournalSchema.prepare(connection, now: options.milliseconds)
        return connection
      }
      (reads, watch) = (nil, nil)
      return
    }
    let configuration = SQLiteConfiguration(
      access: .create, durability: options.durability == .full ? .full : .normal,
      busyTimeout: options.busyTimeout, permissions: 0o600)
    writes = GroupCommit("DurableOperations.writes", hook: hook) {
      try file.checkBeforeOpening()
      let connection = try SQLiteConnection.open(file.path, for: .writing, configuration)
      try file.check(connection)
      if try JournalSchema.prepare(connection, now: options.milliseconds) {
        try connection.markAsUsed()
        // Into the file itself, so that a copy without the log is known as one.
        connection.checkpointWAL()
      }
      return connection
    }
    // A file that was removed is not created again.
    var existing = configuration
    existing.access = .existing
    let reading = existing
    reads = SQLiteWorkerPool(capacity: 2) { index in
      SQLiteWorker("DurableOperations.reads.\(index)") {
        let connection = try SQLiteConnection.open(file.path, for: .reading, reading)
        try file.check(connection)
        try JournalSchema.checkReadable(connection)
        return connection
      }
    }
    watch = JournalWatch(of: file, reading)
    changes.onInterest { [weak self] in self?.startWatch() }
  }

  // MARK: Access

  /// Makes a write.
  ///
  /// - Throws: A ``RunStoreError`` in place of a `SQLiteError`, or the error of the body.
  func write<Result: Sendable>(
    _ body: @escaping @Sendable (SQLiteConnection) throws -> Result
  ) async throws -> Result {
    do { return try await writes.write(body) } catch let error as SQLiteError {
      throw RunStoreError(error)
    }
  }

  /// Makes a write that is undone if its body throws.
  ///
  /// - Throws: The error of the body, also a `SQLiteError` that concerns only its statements; a
  ///   ``RunStoreError`` in place of any other `SQLiteError`.
  func writeInSavepoint<Result: Sendable>(
    _ body: @escaping @Sendable (SQLiteConnection) throws -> Result
  ) async throws -> Result {
    do { return try await writes.writeInSavepoint(body) } catch let error as SQLiteError
      where !error.isOfStatement
    { throw RunStoreError(error) }
  }

  func read<Result: Sendable>(
    _ body: @escaping @Sendable (SQLiteConnection) throws -> Result
  ) async throws -> Result {
    do {
      // The workers refuse a cancelled task, which has to read its run in order to release it.
      guard !Task.isCancelled, let reads else { return try await writes.perform(body) }
      try await prepare()
      return try await reads.run(body)
    } catch let error as SQLiteError {
      throw RunStoreError(error)
    }
  }

  private let prepared = Lock(false)

  /// Creates the file and its tables before the first read. Does nothing if the file cannot be
  /// written; it may still be readable.
  private func prepare() async throws {
    if prepared.withLock({ $0 }) { return }
    do { try await writes.perform { _ in } } catch let error as SQLiteError
      where error.kind == .notPermitted
    { return }
    prepared.withLock { $0 = true }
  }

  func canWrite() async throws -> Bool {
    do { try await prepare() } catch let error as SQLiteError { throw RunStoreError(error) }
    return prepared.withLock(\.self)
  }

  var now: Int64 { options.milliseconds }

  var ownNumber: Int64? { owner.withLock { $0?.number } }

  /// The number of this process among the owners. The first claim registers it.
  private func ownerNumber() async throws -> Int64 {
    guard let file else { return 1 }
    if let number = ownNumber { return number }
    await registration.acquireIgnoringCancellation()
    defer { registration.release() }
    if let number = ownNumber { return number }
    let now = now
    // A transaction of its own: after a rollback, another process could get the same number.
    let registered = try await writeInSavepoint { [weak self] connection in
      try file.check(connection)
      // Processes that were killed without a run have left their rows, too.
      try self?.takeOver(from: connection.registeredOwners, connection, now)
      return try JournalOwner(in: connection, of: file, now: now)
    }
    owner.withLock { $0 = registered }
    // The runs that are claimed next are read while the claim waits for the disk.
    prepared.withLock { $0 = true }
    reads?.openFirst()
    return registered.number
  }

  var committer: (any StepCommitter)? {
    file.map { SQLiteStepCommitter(database: $0.path, backend: self) }
  }

  func close() async {
    _ = await releaseAll()
    isClosed.withLock { $0 = true }
    await reads?.close()
    if file != nil { await writes.close() }
  }

  // MARK: Runs

  func insert(_ run: NewRun) async throws -> (run: StoredRun, isNew: Bool) {
    let now = now
    let answer = try await write { [file] connection -> InsertedRun in
      try file?.check(connection)
      if let found = try connection.run(run.id) { return InsertedRun(run: found, isNew: false) }
      try connection.execute(
        """
        INSERT INTO run (id, flow, sequence, initial, state, wake, parent, began, updated)
        VALUES (?1, ?2, ?3, ?3, 'ready', ?5, ?4, ?5, ?5)
        """,
        [
          .text(run.id.text), .text(run.flow), .text(run.state),
          run.parent.map { .text($0.text) } ?? .null, .integer(now),
        ])
      guard let inserted = try connection.run(run.id) else {
        throw RunStoreError(.other, "run \(run.id) was inserted and is not there")
      }
      return InsertedRun(run: inserted, isNew: true)
    }
    if answer.isNew { changes.notify([.ready]) }
    return (answer.run, answer.isNew)
  }

  private struct InsertedRun: Sendable {
    let run: StoredRun
    let isNew: Bool
  }

  func run(_ id: RunID) async throws -> StoredRun? { try await read { try $0.run(id) } }

  func runs(_ selection: RunSelection) async throws -> [StoredRun] {
    try await read { [file] connection in
      let looks = !Set(selection.states).isDisjoint(with: [.running, .interrupted])
      return try connection.runs(selection, of: looks ? file?.endedOwners(connection) ?? [] : [])
    }
  }

  func counts(of selection: RunSelection) async throws -> [RunCount] {
    try await read { [file] connection in
      try connection.counts(of: selection, file?.endedOwners(connection) ?? [])
    }
  }

  func totals() async throws -> [RunTotals] {
    try await read { [file, options] connection in
      try connection.totals(file?.endedOwners(connection) ?? [], at: options.milliseconds)
    }
  }

  /// Changes also when a process ends that has runs.
  func version() async throws -> String {
    try await read { [file] in "\(try $0.dataVersion) \(try file?.endedOwners($0) ?? [])" }
  }

  func steps(of id: RunID, last count: Int?) async throws -> [StoredStep] {
    try await read { try $0.steps(of: id, last: count) }
  }

  func parts(of id: RunID, last count: Int?) async throws -> StoredParts {
    try await read { connection in
      try StoredParts(steps: connection.steps(of: id, last: count), keys: connection.keys(of: id))
    }
  }

  // MARK: Steps in progress

  func stepBegan(_ step: RunningStep, by claim: ClaimToken) {
    // Without the store, so that a process that has released it does not own its runs any more.
    longSteps.begin(step, by: claim) { [weak self] steps in
      try? await self?.write { connection in
        for (claim, step) in steps { try connection.store(step, by: claim) }
      }
    }
  }

  func stepEnded(by claim: ClaimToken) { longSteps.end(by: claim) }

  func runningStep(of run: StoredRun) async throws -> RunningStep? {
    try await read { try $0.runningStep(of: run) }
  }

  // MARK: Claims

  func claim(flows: [String], limit: Int, isIdle: Bool) async throws -> [RunClaim] {
    let now = now
    let names = options.json(flows)
    let owner = try await ownerNumber()
    return try await writeClaim(now) { connection in
      let runs = try connection.claim(
        flows: names, limit: limit, isIdle: isIdle, owner: owner, now: now)
      return runs.map { RunClaim($0, isFirst: $0.fence == 1) }
    }
  }

  func claim(_ id: RunID) async throws -> ClaimAnswer {
    let now = now
    let owner = try await ownerNumber()
    return try await writeClaim(now) { connection -> ClaimAnswer in
      guard let run = try connection.run(id) else { return .missing }
      switch run.state {
      case .result, .error, .cancelled, .stuck: return .over(run)
      case .running, .interrupted: return .taken
      case .ready, .parked:
        let isDue = run.state == .ready || run.wake.map { $0 <= now } ?? false
        if !isDue { return .parked(until: run.wake) }
      }
      guard let claimed = try connection.claim(id, of: run.parent, owner: owner, now: now) else {
        return try connection.run(id).map { .over($0) } ?? .missing
      }
      return .claimed(RunClaim(claimed, isFirst: claimed.fence == 1))
    }
  }

  private static let longestPause = Duration.seconds(5)

  func longestPause(of flows: [String], isIdle: Bool) async throws -> Duration {
    let (names, now) = (options.json(flows), now)
    let wake = try await read { try $0.nextWake(flows: names, isIdle: isIdle, now: now) }
    return wake.map { min(Self.longestPause, .milliseconds($0 - now)) } ?? Self.longestPause
  }

  func ownerState(of run: StoredRun) -> OwnerState {
    guard let file, let owner = run.owner, run.state == .running else { return .lives }
    return file.state(ofOwner: Int64(owner))
  }

  func ownerProblems() async throws -> [String] {
    guard let file else { return [] }
    let owners = try await read { connection in
      try connection.fetchAll(
        """
        SELECT DISTINCT owner, pid, program FROM run LEFT JOIN run_process ON number = owner
        WHERE state = 'running' AND owner IS NOT NULL ORDER BY owner
        """
      ) { (number: $0.integer(at: 0), process: $0.integer(at: 1), program: $0.text(at: 2) ?? "") }
    }
    return owners.compactMap { number, process, program in
      guard case .unknown(let reason) = file.state(ofOwner: number) else { return nil }
      return "process \(process) (\(program)) may have ended, and keeps its runs: \(reason)"
    }
  }

  // The thread of a write keeps its body for a short time after the caller has continued. With a strong
  // reference, the process would then still own its runs, although its store was released.

  /// Makes claims, after what can be claimed has been made ready.
  private func writeClaim<Result: Sendable>(
    _ now: Int64, _ body: @escaping @Sendable (SQLiteConnection) throws -> Result
  ) async throws -> Result {
    let released = unreleased.withLock { $0 }
    let result = try await write { [weak self, file] connection in
      // No other program starts or sees runs in a file that was removed or replaced.
      try file?.check(connection)
      for claim in released { try connection.release(claim, asFailed: true, now: now) }
      try self?.takeOver(from: connection.owners, connection, now)
      return try body(connection)
    }
    if !released.isEmpty { unreleased.withLock { $0.subtract(released) } }
    return result
  }

  /// Makes the runs of those processes that have ended ready for others.
  private func takeOver(
    from owners: [Int64], _ connection: SQLiteConnection, _ now: Int64
  ) throws {
    guard let file else { return }
    // No committed number is given twice, so an owner that has ended does not come back.
    let own = ownNumber
    for number in owners where number != own && file.state(ofOwner: number) == .hasEnded {
      try connection.makeRunsReady(ofOwner: number, now: now)
    }
  }

  /// Wakes the tasks that wait for a run, for runs that have changed with it, or for a run to claim.
  func notify(_ run: RunID, _ others: [RunID]) {
    changes.notify([.ready, .run(run)] + others.map { .run($0) })
  }

  // MARK: Changes of other processes

  private func startWatch() {
    watch?.start { [weak self] in
      self?.changes.isOfInterest == true
    } isChanged: { [file] connection in
      // A process has ended while its runs were running.
      (try? file?.endedOwners(connection))?.isEmpty == false
    } changed: { [weak self] connection in
      self?.otherProcessChanged(connection)
    }
  }

  private func otherProcessChanged(_ connection: SQLiteConnection) {
    let running = Set(changes.runningRuns)
    if !running.isEmpty, let cancelled = try? connection.cancelledRuns {
      for id in cancelled where running.contains(id) { changes.cancelTask(of: id) }
    }
    changes.notifyAll()
  }
}

extension RunStoreOptions {
  fileprivate func json(_ names: [String]) -> String {
    var json = JSONWriter()
    json.array { json in for name in names { json.string(name) } }
    return json.text
  }

  /// The names of the types of a step: its operations, the outermost first, then the result type,
  /// then the mangled name of the operation.
  func json(_ step: StoredStep) -> String {
    json(step.types.operations + [step.types.success, step.mangledName])
  }
}
