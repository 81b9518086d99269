internal import SQLiteSupport
internal import SystemSupport

// The statements about runs, and the requests from outside. Each function is a part of a
// transaction.
extension SQLiteConnection {
  /// Assignments after which no earlier claim counts against a run.
  static let noClaims = "claims = 0, failures = 0, interruptions = 0"

  static let runColumns = """
    id, flow, state, sequence, initial,
    (SELECT max(position) + 1 FROM step WHERE run = id AND key = ''),
    fence, owner, claims, wake, event, cancelled, reason, outcome, parent, began, updated, ended,
    interruptions, alone, (SELECT pid FROM run_process WHERE number = owner)
    """

  func run(_ id: RunID) throws -> StoredRun? {
    try fetchOne(
      "SELECT \(Self.runColumns) FROM run WHERE id = ?1", [.text(id.text)], StoredRun.init)
  }

  /// - Parameter ended: The owners that have ended, if the selection has the states of their runs.
  func runs(_ selection: RunSelection, of ended: [Int64]) throws -> [StoredRun] {
    var (conditions, values) = try conditions(of: selection, ended)
    if let (began, id) = selection.after {
      conditions.append("(began, id) < (?, ?)")
      values += [.integer(began), .text(id.text)]
    }
    return try fetchAll(
      """
      SELECT \(Self.runColumns) FROM run \(Self.filter(conditions))
      ORDER BY began DESC, id DESC LIMIT ?
      """,
      values + [.integer(Int64(clamping: selection.limit))], StoredRun.init)
  }

  /// - Parameter ended: The owners that have ended.
  func counts(of selection: RunSelection, _ ended: [Int64]) throws -> [RunCount] {
    let (conditions, values) = try conditions(of: selection, ended)
    return try fetchAll(
      """
      SELECT flow, \(Self.state(ended)), count(*) FROM run \(Self.filter(conditions))
      GROUP BY 1, 2 ORDER BY 1, 2
      """, values
    ) { row in
      RunCount(
        flow: row.text(at: 0) ?? "", state: RunState(rawValue: row.text(at: 1) ?? "") ?? .stuck,
        count: Int(row.integer(at: 2)))
    }
  }

  /// - Parameter now: The present time, in milliseconds since 1970.
  func totals(_ ended: [Int64], at now: Int64) throws -> [RunTotals] {
    try fetchAll(
      """
      SELECT flow, iif(state = 'parked' AND wake <= ?1, 'ready', \(Self.state(ended))), count(*),
        min(iif(state = 'parked' AND wake <= ?1, wake, updated)), coalesce(sum(ended - began), 0)
      FROM run GROUP BY 1, 2 ORDER BY 1, 2
      """, [.integer(now)]
    ) { row in
      RunTotals(
        flow: row.text(at: 0) ?? "", state: RunState(rawValue: row.text(at: 1) ?? "") ?? .stuck,
        count: Int(row.integer(at: 2)), age: max(0, now - row.integer(at: 3)),
        durations: row.integer(at: 4))
    }
  }

  private static func filter(_ conditions: [String]) -> String {
    conditions.isEmpty ? "" : "WHERE \(conditions.joined(separator: " AND "))"
  }

  /// The state of a run, of which no row says that its process has ended.
  private static func state(_ ended: [Int64]) -> String {
    if ended.isEmpty { return "state" }
    let owners = ended.map { "\($0)" }.joined(separator: ", ")
    return "iif(state = 'running' AND owner IN (\(owners)), 'interrupted', state)"
  }

  /// Only the conditions that are needed, so that SQLite uses the index of the order.
  private func conditions(
    of selection: RunSelection, _ ended: [Int64]
  ) throws -> ([String], [SQLiteValue]) {
    var (conditions, values): ([String], [SQLiteValue]) = ([], [])
    func require(_ condition: String, _ new: SQLiteValue) {
      conditions.append(condition)
      values.append(new)
    }
    if !selection.flows.isEmpty {
      let flows = try JSONRunCoder().encode(selection.flows)
      require("flow IN (SELECT value FROM json_each(?))", .text(flows))
    }
    if !selection.states.isEmpty {
      let states = try JSONRunCoder().encode(selection.states.map(\.rawValue))
      require("\(Self.state(ended)) IN (SELECT value FROM json_each(?))", .text(states))
    }
    if let text = selection.text { require("instr(lower(id), lower(?)) > 0", .text(text)) }
    if let parent = selection.parent { require("parent = ?", .text(parent.text)) }
    if let since = selection.since { require("began >= ?", .integer(since)) }
    return (conditions, values)
  }

  // MARK: Requests from outside

  /// Requests the cancellation of a run and of its child flows. Runs that no process runs end at
  /// once.
  ///
  /// - Parameter owner: The number of this process; nil if it runs no run.
  /// - Returns: The runs that this process runs, the runs that have ended, and the parents that
  ///   waited for these.
  func cancel(
    _ id: RunID, because reason: String?, owner: Int64?, now: Int64
  ) throws -> CancelledRuns {
    guard try run(id) != nil else { throw RunStoreError.noSuchRun(id) }
    let ids = try fetchAll(
      """
      WITH RECURSIVE tree(id) AS
        (SELECT ?1 UNION ALL SELECT run.id FROM run JOIN tree ON run.parent = tree.id)
      UPDATE run SET cancelled = ?2, reason = ifnull(?3, reason), updated = ?2
      WHERE id IN tree AND ended IS NULL AND cancelled IS NULL RETURNING id
      """,
      [.text(id.text), .integer(now), reason.map { .text($0) } ?? .null]
    ) { RunID($0.text(at: 0) ?? "") }
    var cancelled = CancelledRuns()
    for id in ids {
      try execute(
        """
        UPDATE run SET state = 'cancelled', wake = NULL, event = NULL, ended = ?2
        WHERE id = ?1 AND state <> 'running'
        """, [.text(id.text), .integer(now)])
      if changeCount > 0 {
        cancelled.ended.append(id)
        cancelled.woken += try wakeParents(of: id, now: now)
      } else if let owner, try run(id)?.owner == Int(owner) {
        cancelled.running.append(id)
      }
    }
    return cancelled
  }

  struct CancelledRuns: Sendable {
    var running: [RunID] = []
    var ended: [RunID] = []
    var woken: [RunID] = []
  }

  /// Deletes the steps of a run from one on, and makes the run ready.
  ///
  /// - Returns: Its parents that waited for it, the nearest first.
  func retry(_ id: RunID, from step: Int?, now: Int64) throws -> [RunID] {
    guard let run = try run(id) else { throw RunStoreError.noSuchRun(id) }
    let retry = try RunRetry(of: run, from: step, last: try steps(of: id, last: 1).last)
    let first = retry.first
    if first > 0, try !keepsStep(first - 1, of: id) {
      throw retry.error(oldest: try oldestStep(of: id))
    }
    let state = try sequence(of: id, before: first) ?? run.initial
    try execute(
      "DELETE FROM step WHERE run = ?1 AND ((position >= ?2 AND key = '') OR (key <> '' AND NOT ?3))",
      [.text(id.text), .integer(Int64(first)), .integer(retry.keepsKeys ? 1 : 0)])
    // The events that the deleted steps have received.
    try execute(
      "UPDATE event SET step = NULL WHERE run = ?1 AND step >= ?2",
      [.text(id.text), .integer(Int64(first))])
    try execute(
      """
      UPDATE run SET state = 'ready', sequence = ?2, fence = fence + 1, owner = NULL, \(Self.noClaims),
        wake = ?3, event = NULL, cancelled = NULL, reason = NULL, outcome = NULL, ended = NULL,
        updated = ?3 WHERE id = ?1
      """, [.text(id.text), .text(state), .integer(now)])
    return try wakeParents(of: id, now: now)
  }

  private func keepsStep(_ position: Int, of id: RunID) throws -> Bool {
    try fetchOne(
      "SELECT 1 FROM step WHERE run = ?1 AND key = '' AND position = ?2",
      [.text(id.text), .integer(Int64(position))]
    ) { _ in true } ?? false
  }

  private func oldestStep(of id: RunID) throws -> Int? {
    try fetchOne(
      "SELECT position FROM step WHERE run = ?1 AND key = '' ORDER BY position LIMIT 1",
      [.text(id.text)]
    ) { Int($0.integer(at: 0)) }
  }

  /// Returns the encoded sequence before a step; nil if it is the first one.
  private func sequence(of id: RunID, before position: Int) throws -> String? {
    try fetchOne(
      """
      SELECT sequence FROM step
      WHERE run = ?1 AND key = '' AND position < ?2 AND sequence IS NOT NULL
      ORDER BY position DESC LIMIT 1
      """, [.text(id.text), .integer(Int64(position))]
    ) { $0.text(at: 0) } ?? nil
  }

  struct SentEvent: Sendable {
    let counts: Bool
    /// The parents of the run that waited for it, the nearest first.
    var woken: [RunID] = []
  }

  /// Stores an event. The first one of a name counts, unless a later one replaces it that no finished step has
  /// received. After the limit of the wait for it, none counts.
  ///
  /// - Parameter hasEnded: Whether the process with a number has ended.
  func send(
    _ payload: String, as event: String, to id: RunID, replacing replaces: Bool, now: Int64,
    hasEnded: (_ owner: Int64) -> Bool
  ) throws -> SentEvent {
    guard let run = try run(id) else { throw RunStoreError.noSuchRun(id) }
    if run.state.hasEnded {
      guard replaces, run.state == .error else { throw RunStoreError.hasEnded(run) }
      return try replace(event, by: payload, forRetryOf: run)
    }
    // An event that has come in time can be replaced.
    let isLate = try limit(of: event, for: run, hasEnded).map { $0 < now } ?? false
    if try isLate && !hasEvent(event, for: id) { return SentEvent(counts: false) }
    try execute(
      """
      INSERT INTO event (run, name, payload, sent) VALUES (?1, ?2, ?3, ?4)
      ON CONFLICT DO \(replaces ? "UPDATE SET payload = ?3 WHERE step IS NULL" : "NOTHING")
      """,
      [.text(id.text), .text(event), .text(payload), .integer(now)])
    if changeCount == 0 { return SentEvent(counts: false) }
    try execute(
      """
      UPDATE run SET state = 'ready', wake = ?3, event = NULL, updated = ?3
      WHERE id = ?1 AND state = 'parked' AND event = ?2
      """, [.text(id.text), .text(event), .integer(now)])
    let isWoken = changeCount > 0
    return SentEvent(counts: true, woken: isWoken ? try wakeParents(of: id, now: now) : [])
  }

  /// The limit of the only wait for an event, of a run that no process runs; nil if it is not known. A process that runs
  /// it decides by itself.
  private func limit(
    of event: String, for run: StoredRun, _ hasEnded: (_ owner: Int64) -> Bool
  ) throws -> Int64? {
    switch run.state {
    case .parked: return run.event == event ? run.wake : nil
    case .running, .interrupted:
      guard let owner = run.owner, hasEnded(Int64(owner)) else { return nil }
    case .ready: break
    case .result, .error, .cancelled, .stuck: return nil
    }
    // Only of a step that is nothing but this wait: another step may have more waits, some without a limit.
    return try fetchOne(
      """
      SELECT value FROM step
      WHERE run = ?1 AND position = ?2 AND kind = 'wake' AND key = ?3 AND name = ?4
      """,
      [
        .text(run.id.text), .integer(Int64(run.stepCount)),
        .text(JournalKey(reserved: "event", event).text), .text("AwaitedEvent(\(event))"),
      ]
    ) { $0.text(at: 0).flatMap { Int64($0) } } ?? nil
  }

  /// Replaces an event of a run that has ended in an error, unless a step has received it that a retry does not repeat.
  private func replace(
    _ event: String, by payload: String, forRetryOf run: StoredRun
  ) throws -> SentEvent {
    let retry = try RunRetry(of: run, from: nil, last: try steps(of: run.id, last: 1).last)
    try execute(
      """
      UPDATE event SET payload = ?3
      WHERE run = ?1 AND name = ?2 AND (step IS NULL OR step >= ?4)
      """, [.text(run.id.text), .text(event), .text(payload), .integer(Int64(retry.first))])
    if changeCount > 0 { return SentEvent(counts: true) }
    if try !hasEvent(event, for: run.id) { throw RunStoreError.hasEnded(run) }
    return SentEvent(counts: false)
  }

  private func hasEvent(_ event: String, for id: RunID) throws -> Bool {
    try fetchOne(
      "SELECT 1 FROM event WHERE run = ?1 AND name = ?2", [.text(id.text), .text(event)]
    ) { _ in true } ?? false
  }
}

extension StoredRun {
  /// Reads a row with the columns of `SQLiteConnection.runColumns`.
  init(_ row: SQLiteStatement) throws {
    func integer(_ index: Int) -> Int64? { row.isNull(at: index) ? nil : row.integer(at: index) }
    func text(_ index: Int) -> String { row.text(at: index) ?? "" }
    self.init(
      id: RunID(text(0)), flow: text(1), state: RunState(rawValue: text(2)) ?? .stuck,
      sequence: text(3), initial: text(4), stepCount: Int(integer(5) ?? 0),
      fence: Int(row.integer(at: 6)), owner: integer(7).map { Int($0) },
      claims: Int(row.integer(at: 8)), wake: integer(9), event: row.text(at: 10),
      cancelled: integer(11), reason: row.text(at: 12), outcome: row.text(at: 13),
      parent: row.text(at: 14).map { RunID($0) }, began: row.integer(at: 15),
      updated: row.integer(at: 16), ended: integer(17))
    interruptions = Int(row.integer(at: 18))
    isAlone = row.integer(at: 19) != 0
    worker = integer(20).map { "\(SystemProcess.hostName)/\($0)" }
  }
}

extension RunStoreError {
  init(_ error: SQLiteError) {
    let reason: Reason =
      switch error.kind {
      case .diskFull: .diskFull
      case .inputOutput: .inputOutput
      case .corrupt, .notADatabase: .damagedFile
      case .foreignFile: .foreignFile
      case .newerSchema: .newerSchema
      case .fileNotFound, .cannotOpen, .readOnlyFolder, .notPermitted: .notAccessible
      case .busy: .busy
      case .interrupted, .untrustedSchema, .unsupportedLibrary, .outOfMemory, .constraint,
        .tooLarge, .typeMismatch, .invalidName, .invalidStatement, .other:
        .other
      }
    self.init(reason, "\(error)")
  }
}
