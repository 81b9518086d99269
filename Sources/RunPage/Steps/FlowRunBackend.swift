package import DurableOperations
package import FlowFiles
import Foundation
import SQLiteSupport
import SystemSupport

/// The runs in the state of a flow file, for the page and `coop journal`, which show durable runs.
///
/// It reads the state, and can request the cancellation of a run. Only `coop flow run` begins and
/// continues runs.
package struct FlowRunBackend: RunBackend {
  /// The flow that all runs of flow files have in lists. Their names have the name of the file's flow.
  static let flowName = "flow"

  package let options = RunStoreOptions()
  package let changes = RunChanges()
  package var now: Int64 { options.milliseconds }
  package var location: String { file.path }

  private let file: FlowStateFile
  private let reader: SQLiteWorker
  private let writer: SQLiteWorker

  package init(_ file: FlowStateFile) {
    self.file = file
    reader = SQLiteWorker("flow runs") {
      let connection = try SQLiteConnection.open(
        file.path, for: .reading, SQLiteConfiguration(access: .existing))
      try FlowStateFile.check(connection)
      return connection
    }
    writer = SQLiteWorker("flow runs, writing") {
      let connection = try SQLiteConnection.open(
        file.path, for: .writing, SQLiteConfiguration(access: .existing, durability: .full))
      try FlowStateFile.check(connection)
      return connection
    }
  }

  private static func perform<Value: Sendable>(
    on worker: SQLiteWorker, _ body: @escaping @Sendable (SQLiteConnection) throws -> Value
  ) async throws -> Value {
    do { return try await worker.run(body) } catch let error as SQLiteError {
      throw RunStoreError(error.kind == .notPermitted ? .notAccessible : .other, "\(error)")
    }
  }

  // MARK: Reading

  package func run(_ id: RunID) async throws -> StoredRun? {
    try await Self.perform(on: reader) { connection in
      try connection.fetchOne(
        "SELECT * FROM (\(try rows(connection))) WHERE id = ?1", [.text(id.text)], Self.run)
    }
  }

  package func runs(_ selection: RunSelection) async throws -> [StoredRun] {
    try await Self.perform(on: reader) { connection in
      var (filter, values) = Self.filter(selection)
      if let after = selection.after {
        filter += " AND (began, id) < (?, ?)"
        values += [.integer(after.began), .text(after.id.text)]
      }
      return try connection.fetchAll(
        "SELECT * FROM (\(try rows(connection))) WHERE \(filter) ORDER BY began DESC, id DESC LIMIT ?",
        values + [.integer(Int64(clamping: selection.limit))], Self.run)
    }
  }

  package func counts(of selection: RunSelection) async throws -> [RunCount] {
    try await Self.perform(on: reader) { connection in
      let (filter, values) = Self.filter(selection)
      return try connection.fetchAll(
        "SELECT state, count(*) FROM (\(try rows(connection))) WHERE \(filter) GROUP BY state ORDER BY state",
        values
      ) { row in
        RunCount(
          flow: Self.flowName, state: RunState(rawValue: row.text(at: 0) ?? "") ?? .stuck,
          count: Int(row.integer(at: 1)))
      }
    }
  }

  package func totals() async throws -> [RunTotals] {
    try await Self.perform(on: reader) { connection in
      try connection.fetchAll(
        """
        SELECT state, count(*), min(updated), sum(iif(state IN ('running', 'interrupted'), 0, updated - began))
        FROM (\(try rows(connection))) GROUP BY state ORDER BY state
        """
      ) { [now] row in
        RunTotals(
          flow: Self.flowName, state: RunState(rawValue: row.text(at: 0) ?? "") ?? .stuck,
          count: Int(row.integer(at: 1)), age: max(0, now - row.integer(at: 2)),
          durations: row.integer(at: 3))
      }
    }
  }

  /// Changes also when the process of a run ends.
  package func version() async throws -> String {
    try await Self.perform(on: reader) { "\(try $0.dataVersion) \(try live($0))" }
  }

  package func steps(of id: RunID, last count: Int?) async throws -> [StoredStep] { [] }

  package func parts(of id: RunID, last count: Int?) async throws -> StoredParts {
    StoredParts(steps: [], keys: [])
  }

  package func event(_ name: String, of id: RunID) async throws -> StoredEvent? { nil }
  package func events(of id: RunID, last count: Int) async throws -> [StoredEvent] { [] }

  package func ownerState(of run: StoredRun) -> OwnerState {
    // A process that ends by a signal, such as Ctrl-C, stores that it has ended.
    run.state == .interrupted && run.owner != nil ? .hasEnded : .lives
  }

  package func canWrite() async throws -> Bool {
    FileManager.default.isWritableFile(atPath: file.path) && SQLiteFile(file.path).hasWritableFolder
  }

  package func check() async throws -> [String] {
    let lines = try await Self.perform(on: reader) { connection in
      try connection.fetchAll("PRAGMA quick_check") { $0.text(at: 0) ?? "" }
    }
    return lines == ["ok"] ? [] : lines
  }

  package func copy(to path: String) async throws {
    throw RunStoreError(
      .other,
      "\(location) is the state of a flow file, with logs beside it; copy its folder while no run of the flow is in progress"
    )
  }

  package func close() async {
    await reader.close()
    await writer.close()
  }

  /// The numbers of the runs that a process works on.
  private func live(_ connection: SQLiteConnection) throws -> [Int] {
    try connection.fetchAll(
      "SELECT number FROM flow_run WHERE state IS NULL AND process IS NOT NULL"
    ) { Int($0.integer(at: 0)) }.filter(file.isRunning)
  }

  /// The runs, with the columns that selections compare.
  private func rows(_ connection: SQLiteConnection) throws -> String {
    let live = try live(connection).map { "\($0)" }.joined(separator: ", ")
    return """
      SELECT flow || '#' || number AS id, CASE state WHEN 'succeeded' THEN 'result'
          WHEN 'failed' THEN 'error' WHEN 'cancelled' THEN 'cancelled'
          ELSE iif(process IS NOT NULL AND number IN (\(live)), 'running', 'interrupted') END AS state,
        process, cancelled, reason, began, updated,
        json_object('flow', flow, 'number', number, 'values', json("values"), 'selection', selection,
          'name', name) AS sequence
      FROM flow_run
      """
  }

  private static func filter(_ selection: RunSelection) -> (String, [SQLiteValue]) {
    var (conditions, values): ([String], [SQLiteValue]) = (["true"], [])
    if !selection.flows.isEmpty, !selection.flows.contains(flowName) { conditions.append("false") }
    // No run of a flow file is the child of another run.
    if selection.parent != nil { conditions.append("false") }
    if !selection.states.isEmpty {
      let marks = selection.states.map { _ in "?" }.joined(separator: ", ")
      conditions.append("state IN (\(marks))")
      values += selection.states.map { .text($0.rawValue) }
    }
    if let text = selection.text {
      conditions.append("instr(lower(id), lower(?)) > 0")
      values.append(.text(text))
    }
    if let since = selection.since {
      conditions.append("began >= ?")
      values.append(.integer(since))
    }
    return (conditions.joined(separator: " AND "), values)
  }

  private static func run(_ row: SQLiteStatement) -> StoredRun {
    func number(_ column: Int) -> Int64? {
      row.text(at: column) == nil ? nil : row.integer(at: column)
    }
    let state = RunState(rawValue: row.text(at: 1) ?? "") ?? .stuck
    let reason = row.text(at: 4)
    let updated = row.integer(at: 6)
    let sequence = row.text(at: 7) ?? ""
    return StoredRun(
      id: RunID(row.text(at: 0) ?? ""), flow: flowName, state: state, sequence: sequence,
      initial: sequence, stepCount: 0, fence: 0, owner: number(2).map { Int($0) }, claims: 0,
      wake: nil, event: nil, cancelled: number(3), reason: state == .error ? nil : reason,
      outcome: state == .error ? outcome(reason ?? "") : nil, parent: nil,
      began: row.integer(at: 5),
      updated: updated, ended: state.hasEnded ? updated : nil)
  }

  /// The error of a run as stores have it.
  private static func outcome(_ description: String) -> String {
    var json = JSONWriter()
    json.object { json in
      json.member("type", "FlowFailure")
      json.member("description", description)
    }
    return json.text
  }

  // MARK: Requests

  package func cancel(_ id: RunID, because reason: String?) async throws {
    guard let key = FlowRunReader.Key(id), try await run(id) != nil else {
      throw RunStoreError.noSuchRun(id)
    }
    // The process that runs it sees the request, and ends it.
    let isRunning = file.isRunning(key.number)
    try await Self.perform(on: writer) { connection in
      try connection.execute(
        """
        UPDATE flow_run SET cancelled = coalesce(cancelled, ?3), reason = coalesce(reason, ?4),
          state = iif(?5 AND process IS NOT NULL, NULL, 'cancelled'),
          updated = iif(?5 AND process IS NOT NULL, updated, ?3)
        WHERE flow = ?1 AND number = ?2 AND state IS NULL
        """,
        key.values + [
          .integer(now),
          reason.map { .text($0) } ?? .null, .integer(isRunning ? 1 : 0),
        ])
    }
  }

  package func add(_ record: RecordedAction, on id: RunID) async throws -> Int64? {
    try await Self.perform(on: writer) { connection in
      try connection.transaction(.immediate) { try connection.add(record, on: id) }
    }
  }

  package func endAction(_ number: Int64, problem: String?) async throws {
    try await Self.perform(on: writer) { [now] in
      try $0.endAction(number, problem: problem, now: now)
    }
  }

  package func actions(on id: RunID, last count: Int) async throws -> [RecordedAction] {
    try await Self.perform(on: reader) { try $0.actions(on: id, last: count) }
  }

  private var refusal: RunStoreError {
    RunStoreError(
      .wrongState,
      "\(file.path) has runs of a flow file, which only `coop flow run` begins and continues")
  }

  package func insert(_ run: NewRun) async throws -> (run: StoredRun, isNew: Bool) { throw refusal }
  package func claim(flows: [String], limit: Int, isIdle: Bool) async throws -> [RunClaim] {
    throw refusal
  }

  package func claim(_ id: RunID) async throws -> ClaimAnswer { throw refusal }
  package func longestPause(of flows: [String], isIdle: Bool) async throws -> Duration {
    throw refusal
  }

  package func append(
    _ step: StoredStep, dropping dropped: Range<Int>, hasKeys: Bool, by claim: ClaimToken
  ) async throws { throw refusal }

  package func store(key step: StoredStep, by claim: ClaimToken) async throws { throw refusal }
  package func removeKeys(by claim: ClaimToken) async throws { throw refusal }

  package func park(by claim: ClaimToken, until wake: Int64?, event: String?) async throws {
    throw refusal
  }

  package func end(
    by claim: ClaimToken, _ outcome: String?, as state: RunState, sequence: String?
  ) async throws { throw refusal }

  package func release(by claim: ClaimToken, asFailed hasFailed: Bool) async throws {
    throw refusal
  }

  package func markStuck(by claim: ClaimToken, because reason: String) async throws {
    throw refusal
  }

  package func retry(_ id: RunID, from step: Int?) async throws { throw refusal }
  package func send(
    _ payload: String, as event: String, to id: RunID, replacing replaces: Bool
  ) async throws -> Bool { throw refusal }

  /// The numbers of runs must not be used twice, and `keep` decides which runs are kept.
  package func forget(olderThan age: Int64) async throws -> Int { throw forgetting }
  package func forget(_ id: RunID) async throws { throw forgetting }

  private var forgetting: RunStoreError {
    RunStoreError(
      .wrongState,
      "\(file.path) has runs of a flow file, of which `keep` of the file says how long they are kept"
    )
  }
}
