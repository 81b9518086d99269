internal import CompositeOperations
internal import Dispatch
internal import DurableOperations
internal import Foundation
internal import SystemSupport

/// A store in a queue of Absurd.
///
/// A run is a task of the queue, and its claim an attempt with a lease. The lease is extended by each
/// write and by ``PostgresWatch``.
final class PostgresRunBackend: RunBackend {
  let options: RunStoreOptions
  let location: String
  let changes = RunChanges()
  let leavesChildrenToWorkers = true
  let mostChildren: Int? = 10_000
  var worker: String? { workerName.process }

  let queue: AbsurdQueue
  let texts: AbsurdText
  let held = HeldClaims()
  /// The claims of runs that were started to be claimed next.
  let claimedAtStart = Lock<[RunID: RunClaim]>([:])
  let lastClaimWasEmpty = Lock(false)
  /// The suspect for which a worker of this process begins nothing else.
  let waitingSuspect = Lock<WaitingSuspect?>(nil)
  let workerName = WorkerName()
  let clock: ServerClock
  /// How long a claim is valid without a sign of life.
  let lease: Duration
  let pool: PostgresPool
  let address: PostgresAddress
  private let reads: RunReads
  private let watch: PostgresWatch

  init(
    _ address: String, queue name: String, options: RunStoreOptions,
    lease: Duration = .seconds(30), connections: Int? = nil
  ) {
    self.options = options
    self.lease = lease
    self.address = PostgresAddress(address)
    let database = "\(self.address)"
    location = "\(database), queue '\(name)'"
    let queue = AbsurdQueue(name)
    self.queue = queue
    texts = AbsurdText(options.coder)
    let clock = ServerClock(options)
    self.clock = clock
    let capacity = connections ?? Self.defaultConnections
    pool = PostgresPool(to: address, capacity: capacity, timeout: lease * 2 / 3) { connection in
      try AbsurdSchema.check(connection, queue: name, at: database)
      let asked = ServerClock.MachineTime.now
      if let time = try connection.rows(Self.settings).integer(0, 0) {
        clock.compare(time, asked: asked)
      }
    }
    reads = RunReads(by: queue.reads.named, in: pool, clock)
    watch = PostgresWatch(of: queue, at: address, held, changes, lease: lease)
    changes.onInterest { [weak watch] in watch?.start() }
  }

  /// With fewer, writes wait for a connection and then for its commit. A machine with many processors
  /// may run many flows, and so may its server.
  private static let defaultConnections = min(max(8, 2 * Processors.count), 32)

  /// Returns the time of the server, and changes settings of a connection. Its statements read few rows by an index,
  /// but their plans may have been made when a table was empty: with a scan, they become slower as the table grows. And
  /// a scan that was avoided without success has a cost for which a query would be compiled.
  private static let settings = PostgresStatement(
    "settings",
    """
    select \(milliseconds("absurd.current_time()")),
      set_config('enable_seqscan', 'off', false), set_config('jit', 'off', false),
      set_config('standard_conforming_strings', 'on', false)
    """)

  var now: Int64 { clock.now }
  var leaseSeconds: Int64 { max(1, lease.components.seconds) }

  func close() async {
    await watch.close()
    await pool.close()
  }

  func ownerState(of run: StoredRun) -> OwnerState { run.hasExpired ? .hasEnded : .lives }

  // MARK: Requests

  /// Makes a request that may be repeated.
  ///
  /// - Throws: A ``RunStoreError`` in place of a ``PostgresError``; the error of the body.
  func request<Result: Sendable>(
    _ body: @escaping @Sendable (PostgresConnection) throws -> Result
  ) async throws -> Result {
    try await repeated { try await self.pool.run(body) }
  }

  /// How long a request is repeated while the server cannot be reached.
  private static let patience = Duration.seconds(3)

  /// Repeats a request while the server cannot be reached.
  ///
  /// - Parameter patience: How long, from the beginning of the request. After its first failure it is
  ///   repeated for three seconds in any case, however long that attempt has taken.
  func repeated<Result>(
    for patience: Duration = patience, _ body: () async throws -> Result
  ) async throws -> Result {
    var pauses = Backoff.Delays(
      Backoff.exponential(from: .milliseconds(50)).capped(at: .seconds(1)).jittered())
    var randomness = SystemRandomNumberGenerator()
    let began = ContinuousClock.now
    var end: ContinuousClock.Instant?
    while true {
      do { return try await body() } catch let error as PostgresError {
        if end == nil { end = max(began + patience, .now + Self.patience) }
        guard error.isTransient, let end, .now < end else { throw RunStoreError(error) }
        await Self.pause(pauses.delay(using: &randomness))
      }
    }
  }

  /// Waits, also in a cancelled task.
  private static func pause(_ duration: Duration) async {
    await withCheckedContinuation { continuation in
      DispatchQueue.global().asyncAfter(deadline: .now() + duration.dispatchInterval) {
        continuation.resume()
      }
    }
  }

  // MARK: Runs

  func insert(_ run: NewRun) async throws -> (run: StoredRun, isNew: Bool) {
    // Shows after a lost reply whether this start has made the run.
    let start = workerName.next()
    let trace = RunTrace(below: RunTrace.current)
    let options = Self.options(
      of: run.id, parent: run.parent, trace: trace, start: start,
      attempts: 0)
    let state = #"{"state":\#(texts.stored(run.state))}"#
    let values: [PostgresValue] = [
      .text(queue.name), .text(run.flow), .text(state), .text(options),
    ]
    if run.isClaimedNext, let claim = try await startClaimed(run.id, values, start) {
      return (claim.run, true)
    }
    let spawn = queue.requests.spawn
    let rows = try await repeated { try await pool.rows(spawn, values, order: run.id.text) }
    if rows.boolean(0, 2) == true {
      changes.notify([.ready])
      return (StoredRun(run, in: trace, began: rows.integer(0, 3) ?? now, at: now), true)
    }
    guard let stored = try await stored(run.id) else {
      throw RunStoreError(
        .other, "run \(run.id) was started and is not there; it may have been forgotten")
    }
    let isNew = stored.start == start
    if isNew { changes.notify([.ready]) }
    return (stored.run, isNew)
  }

  /// The options of a task.
  ///
  /// - Parameter attempts: How many attempts the run had before it was retried.
  static func options(
    of id: RunID, parent: RunID?, trace: RunTrace, start: String, attempts: Int
  ) -> String {
    var options = JSONWriter()
    options.object { json in
      json.member("idempotency_key", id.text)
      json.name("headers")
      json.object { json in
        json.member("run", id.text)
        json.member("events", String(AbsurdName.prefix(of: id).dropLast()))
        json.member("start", start)
        if attempts > 0 { json.member("attempts", attempts) }
        if let parent { json.member("parent", parent.text) }
        json.member("traceparent", trace.traceParent)
        if let parent = trace.parentSpanID { json.member("parentspan", parent) }
      }
    }
    return options.text
  }

  func stored(_ id: RunID) async throws -> AbsurdRun? {
    try await repeated { try await reads.run(id) }
  }

  func run(_ id: RunID) async throws -> StoredRun? { try await stored(id)?.run }

  func runs(_ selection: RunSelection) async throws -> [StoredRun] {
    let read = queue.reads.runs
    let values: [PostgresValue] = [
      selection.after.map { .integer($0.began) } ?? .null,
      selection.after.map { .text($0.id.text) } ?? .null,
      .integer(Int64(clamping: selection.limit)),
    ]
    return try await request { [clock] connection in
      let asked = ServerClock.MachineTime.now
      let rows = try connection.rows(read, Self.conditions(of: selection) + values)
      return clock.runs(rows, asked: asked).map(\.run)
    }
  }

  /// The values $1 to $5 of the statements.
  private static func conditions(of selection: RunSelection) -> [PostgresValue] {
    [
      .texts(selection.flows), .texts(selection.states.map(\.rawValue)),
      selection.text.map { .text($0) } ?? .null, selection.parent.map { .text($0.text) } ?? .null,
      selection.since.map { .integer($0) } ?? .null,
    ]
  }

  func counts(of selection: RunSelection) async throws -> [RunCount] {
    let (prepare, read) = (queue.reads.prepareCounts, queue.reads.counts)
    let rows = try await request { connection in
      try connection.rows([(prepare, []), (read, Self.conditions(of: selection))])[1]
    }
    let counts = (0..<rows.count).map { row in
      RunCount(
        flow: rows.text(row, 0) ?? "", state: RunState(rawValue: rows.text(row, 1) ?? "") ?? .stuck,
        count: Int(rows.integer(row, 2) ?? 0))
    }
    return counts.sorted { ($0.flow, $0.state.rawValue) < ($1.flow, $1.state.rawValue) }
  }

  func totals() async throws -> [RunTotals] {
    let read = queue.reads.totals
    let rows = try await request { try $0.rows(read) }
    let totals = (0..<rows.count).map { row in
      RunTotals(
        flow: rows.text(row, 0) ?? "", state: RunState(rawValue: rows.text(row, 1) ?? "") ?? .stuck,
        count: Int(rows.integer(row, 2) ?? 0), age: max(0, rows.integer(row, 3) ?? 0),
        durations: rows.integer(row, 4) ?? 0)
    }
    return totals.sorted { ($0.flow, $0.state.rawValue) < ($1.flow, $1.state.rawValue) }
  }

  func version() async throws -> String {
    let read = queue.reads.version
    return try await request { try $0.rows(read).text(0, 0) } ?? ""
  }

  func steps(of id: RunID, last count: Int?) async throws -> [StoredStep] {
    let values: [PostgresValue] = [.text(id.text), .integer(Int64(clamping: count ?? .max))]
    let read = queue.reads.steps
    let rows = try await request { try $0.rows(read, values) }
    return (0..<rows.count).reversed().compactMap { StoredStep(rows, $0) }
  }

  func parts(of id: RunID, last count: Int?) async throws -> StoredParts {
    let read = queue.reads.keys
    let steps = try await steps(of: id, last: count)
    let rows = try await request { try $0.rows(read, [.text(id.text)]) }
    return StoredParts(steps: steps, keys: (0..<rows.count).compactMap { StoredStep(rows, $0) })
  }

  func event(_ name: String, of id: RunID) async throws -> StoredEvent? {
    let read = queue.reads.event
    let event = AbsurdName.event(name, of: id)
    let rows = try await request { try $0.rows(read, [.text(event)]) }
    guard rows.count > 0, let payload = rows.text(0, 0) else { return nil }
    let sent = (rows.integer(0, 1) ?? 0) - Self.eventTolerance
    return StoredEvent(name: name, payload: AbsurdText.text(payload), sent: sent)
  }

  /// By how many milliseconds an event counts as earlier than it was sent by the clock of the server, because the
  /// machines that have set and that look at the limit know that clock to a second, and the server rounds limits up to
  /// whole seconds. So an event that ``send(_:as:to:replacing:)`` has accepted counts.
  private static let eventTolerance: Int64 = 3_000

  func events(of id: RunID, last count: Int) async throws -> [StoredEvent] {
    let (read, permitScans) = (queue.reads.events, queue.claims.permitScans)
    let values: [PostgresValue] = [
      .text(AbsurdName.prefix(of: id)), .integer(Int64(clamping: count)),
    ]
    let rows = try await request { connection in
      try connection.rows([(permitScans, [.text("on")]), (read, values)])[1]
    }
    return (0..<rows.count).map { row in
      StoredEvent(
        name: AbsurdName.awaitedEvent(rows.text(row, 0)) ?? "",
        payload: rows.text(row, 1).map(AbsurdText.text) ?? "", sent: rows.integer(row, 2) ?? 0)
    }
  }

  /// Whether the session may write, and the role may change the table $1.
  private static let permission = PostgresStatement(
    "read the permission",
    """
    select current_setting('transaction_read_only') = 'off'
      and has_table_privilege($1::text, 'UPDATE')
    """)

  func canWrite() async throws -> Bool {
    let tasks = AbsurdTables(queue.name).tasks
    return try await request { connection in
      try connection.rows(Self.permission, [.text(tasks)]).boolean(0, 0) ?? false
    }
  }

  func check() async throws -> [String] {
    let read = queue.reads.stuck
    let rows = try await request { try $0.rows(read, []) }
    return (0..<rows.count).map { row in
      "run \(rows.text(row, 0) ?? "") is stuck: \(rows.text(row, 1) ?? "")"
    }
  }
}

extension RunStoreError {
  init(_ error: PostgresError) {
    let reason: Reason =
      switch (error.kind, error.code) {
      case (.notConnected, let code) where code.isEmpty || code.hasPrefix("57"): .unreachable
      case (.lost, _): .unreachable
      case (_, "53100"): .diskFull
      // A server that is a replica now, is out of memory, or has cancelled a statement.
      case (_, "25006"), (_, "53200"), (_, "57014"), (_, "55P03"), (_, "40001"), (_, "40P01"): .busy
      case (_, "42501"): .notAccessible
      case (_, "3F000"), (_, "42P01"), (_, "42883"), (_, "42703"): .unsupportedSchema
      case (.notConnected, let code) where code.hasPrefix("53"): .unreachable
      case (.notConnected, _): .notAccessible
      case (.refused, _): .other
      }
    self.init(reason, error.description)
  }
}
