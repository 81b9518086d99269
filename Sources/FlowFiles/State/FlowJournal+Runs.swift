import Foundation
import SQLiteSupport
import SystemSupport

/// A run of a flow, as the journal lists it.
struct FlowRunRecord: Sendable {
  let number: Int
  /// The absolute path of the flow file.
  let file: String
  /// The values as JSON.
  let values: String
  /// See ``FlowSelection/text``.
  let selection: String?
  /// The name that `--run` gave it.
  let name: String?
  /// Milliseconds since 1970.
  let began: Int64
  /// How it has ended; nil if it has not.
  var state: FlowRunState?
  /// When it ended, was interrupted, or was begun or continued last, in milliseconds since 1970.
  var updated: Int64
  /// The process that has begun or continued it and has not stored its end.
  var process: Int32?
  /// Why it has failed or was cancelled.
  private(set) var reason: String?

  fileprivate static let columns =
    "number, file, \"values\", selection, began, name, state, updated, process, reason"

  fileprivate init(_ row: SQLiteStatement) {
    number = Int(row.integer(at: 0))
    file = row.text(at: 1) ?? ""
    values = row.text(at: 2) ?? ""
    selection = row.text(at: 3)
    began = row.integer(at: 4)
    name = row.text(at: 5)
    state = row.text(at: 6).flatMap(FlowRunState.init(rawValue:))
    updated = row.integer(at: 7)
    process = row.text(at: 8) == nil ? nil : Int32(truncatingIfNeeded: row.integer(at: 8))
    reason = row.text(at: 9)
  }

  /// The state as it is now.
  ///
  /// - Parameter isLocked: Whether a process has the lock of the run.
  func state(isLocked: Bool) -> FlowRunState {
    state ?? (isLocked && process != nil ? .running : .interrupted)
  }

  init(
    number: Int, file: String, values: String, selection: String?, name: String?, began: Int64
  ) {
    (self.number, self.file, self.values) = (number, file, values)
    (self.selection, self.name, self.began) = (selection, name, began)
    updated = FlowStepRecord.now
  }
}
extension FlowJournal {
  /// Returns the last run.
  func lastRun() async throws -> FlowRunRecord? {
    try await worker.run { [flow] connection in
      try connection.fetchOne(
        """
        SELECT \(FlowRunRecord.columns) FROM flow_run WHERE flow = ?1
        ORDER BY number DESC LIMIT 1
        """, [.text(flow)], FlowRunRecord.init)
    }
  }

  /// Returns the run that a process has begun or continued last.
  ///
  /// - Parameter name: The name of the run; nil for any one.
  func lastActiveRun(named name: String?) async throws -> FlowRunRecord? {
    try await worker.run { [flow] connection in
      try connection.fetchOne(
        """
        SELECT \(FlowRunRecord.columns) FROM flow_run AS this
        WHERE flow = ?1 AND (?2 IS NULL OR name = ?2)
        ORDER BY (SELECT began FROM flow_size WHERE flow = ?1 AND run = this.number) DESC,
          number DESC LIMIT 1
        """, [.text(flow), name.map { .text($0) } ?? .null], FlowRunRecord.init)
    }
  }

  /// Returns all runs in the order of their numbers, each with the time until which it was worked on: its
  /// end, or the last sign of a process.
  func allRuns() async throws -> [(run: FlowRunRecord, last: Int64)] {
    try await worker.run { [flow] connection in
      try connection.fetchAll(
        // The end of a run that was cancelled or replaced is stored later than its last work.
        """
        SELECT \(FlowRunRecord.columns), iif(state IN ('succeeded', 'failed'), updated,
          coalesce(\(Self.signOfLife(ofRun: "this.number")), updated))
        FROM flow_run AS this WHERE flow = ?1 ORDER BY number
        """, [.text(flow)]
      ) { (FlowRunRecord($0), $0.integer(at: 10)) }
    }
  }

  /// When a process has last worked on a run, as far as its steps show it, in SQL.
  private static func signOfLife(ofRun run: String) -> String {
    """
    (SELECT max(time) FROM (
      SELECT time FROM flow_life WHERE flow = ?1 AND run = \(run)
      UNION ALL SELECT began FROM flow_size WHERE flow = ?1 AND run = \(run)
      UNION ALL SELECT max(coalesce(ended, began)) FROM flow_step WHERE flow = ?1 AND run = \(run)))
    """
  }

  /// Returns the numbers of the runs with a name.
  func runs(named name: String) async throws -> Set<Int> {
    try await worker.run { [flow] connection in
      Set(
        try connection.fetchAll(
          "SELECT number FROM flow_run WHERE flow = ?1 AND name = ?2", [.text(flow), .text(name)]
        ) { Int($0.integer(at: 0)) })
    }
  }

  /// Returns the last run with a name; without one, the last run with these values and this selection.
  func lastRun(
    named name: String?, values: String, selection: String?
  ) async throws -> FlowRunRecord? {
    try await worker.run { [flow] connection in
      try connection.fetchOne(
        """
        SELECT \(FlowRunRecord.columns) FROM flow_run
        WHERE flow = ?1 AND iif(?2 IS NULL, "values" = ?3 AND selection IS ?4, name = ?2)
        ORDER BY number DESC LIMIT 1
        """,
        [
          .text(flow), name.map { .text($0) } ?? .null, .text(values),
          selection.map { .text($0) } ?? .null,
        ], FlowRunRecord.init)
    }
  }

  /// Returns the numbers of the later runs of some steps that have the values of a run.
  func parts(of run: FlowRunRecord) async throws -> Set<Int> {
    try await worker.run { [flow] connection in
      Set(
        try connection.fetchAll(
          """
          SELECT number FROM flow_run
          WHERE flow = ?1 AND number > ?2 AND "values" = ?3 AND selection LIKE '--%'
          """, [.text(flow), .integer(Int64(run.number)), .text(run.values)]
        ) { Int($0.integer(at: 0)) })
    }
  }

  /// Stores that this process begins or continues a run, and removes the oldest ones if there are more
  /// than a thousand.
  ///
  /// - Parameter replaced: A run that ends with it as a cancelled one.
  func begin(_ run: FlowRunRecord, replacing replaced: Int?) async throws {
    try await worker.run { [flow] connection in
      try connection.transaction(.immediate) {
        let key: [SQLiteValue] = [.text(flow), .integer(Int64(run.number))]
        let isCancelled = try connection.fetchOne(
          "SELECT 1 FROM flow_run WHERE flow = ?1 AND number = ?2 AND state = 'cancelled'", key
        ) { _ in true }
        if isCancelled == true {
          throw FlowFailure.other(
            "run \(run.number) was cancelled before it was continued; the same command begins a new run"
          )
        }
        // These steps begin again, so a reader that follows their logs must not find their earlier ends.
        try connection.execute(
          """
          DELETE FROM flow_step WHERE flow = ?1 AND run = ?2
            AND (state IS NULL OR state NOT IN ('succeeded', 'up to date', 'done'))
          """, key)
        try connection.execute(
          """
          INSERT OR REPLACE INTO flow_run
            (flow, number, file, "values", selection, began, name, updated, process)
          VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
          """,
          [
            .text(flow), .integer(Int64(run.number)), .text(run.file), .text(run.values),
            run.selection.map { .text($0) } ?? .null, .integer(run.began),
            run.name.map { .text($0) } ?? .null, .integer(FlowStepRecord.now),
            .integer(Int64(ProcessInfo.processInfo.processIdentifier)),
          ])
        if let replaced {
          try connection.execute(
            """
            UPDATE flow_run SET state = 'cancelled', process = NULL, updated = ?3, reason = ?4
            WHERE flow = ?1 AND number = ?2
            """,
            [
              .text(flow), .integer(Int64(replaced)), .integer(FlowStepRecord.now),
              .text("run \(run.number) replaces it"),
            ])
        }
        let oldest: [SQLiteValue] = [.text(flow), .integer(Int64(run.number - 1_000))]
        try connection.execute(
          "DELETE FROM flow_run WHERE flow = ?1 AND number <= ?2 AND process IS NULL", oldest)
        try connection.execute("DELETE FROM flow_life WHERE flow = ?1 AND run <= ?2", oldest)
        try connection.execute("DELETE FROM flow_left WHERE flow = ?1 AND run <= ?2", oldest)
        // Of each step, the last success stays. Of steps with outputs, those of the last hundred runs with other values
        // stay, too; of others, those of the last thousand runs, because they count for their run only.
        try connection.execute(
          """
          DELETE FROM flow_success AS old
          WHERE flow = ?1 AND (run <= ?2 OR run <= ?3 AND outputs <> '' AND EXISTS
              (SELECT 1 FROM flow_run WHERE flow = ?1 AND number = old.run AND state = 'succeeded'))
            AND EXISTS
              (SELECT 1 FROM flow_success WHERE flow = ?1 AND step = old.step AND run > old.run)
          """, oldest + [.integer(Int64(run.number - 100))])
      }
    }
  }

  /// Stores the end of runs whose cancellation was requested, and which no process works on.
  ///
  /// - Parameter live: The runs that a process works on.
  /// - Returns: Whether the process of another run has ended without storing it.
  func endCancelledRuns(except live: Set<Int>) async throws -> Bool {
    let live = Self.json(live)
    return try await worker.run { [flow] connection in
      let others = "flow = ?1 AND number NOT IN (SELECT value FROM json_each(?2))"
      func exists(_ condition: String) throws -> Bool {
        try connection.fetchOne(
          "SELECT 1 FROM flow_run WHERE \(others) AND \(condition)", [.text(flow), .text(live)]
        ) { _ in true } ?? false
      }
      let isCancelled = "state IS NULL AND cancelled IS NOT NULL"
      if try exists(isCancelled) {
        try connection.execute(
          "UPDATE flow_run SET state = 'cancelled' WHERE \(others) AND \(isCancelled)",
          [.text(flow), .text(live)])
      }
      return try exists("process IS NOT NULL")
    }
  }

  /// Stores that nothing of the processes of runs is left.
  ///
  /// - Parameter live: The runs that a process works on.
  func releaseRuns(except live: Set<Int>) async throws {
    let values: [SQLiteValue] = [.text(flow), .text(Self.json(live))]
    try await worker.run { connection in
      try connection.transaction(.immediate) {
        try connection.execute(
          """
          DELETE FROM flow_process
          WHERE flow = ?1 AND run NOT IN (SELECT value FROM json_each(?2))
          """, values)
        try connection.execute(
          """
          UPDATE flow_run SET process = NULL
          WHERE flow = ?1 AND number NOT IN (SELECT value FROM json_each(?2))
          """, values)
      }
    }
  }

  /// Stores how a run has ended.
  ///
  /// - Parameter result: A run that was interrupted has not ended: it can be continued.
  func end(run number: Int, _ result: FlowResult) async throws {
    let state = result.state == .interrupted ? nil : result.state.rawValue
    let reason = result.state == .failed ? result.reason : nil
    try await worker.run { [flow] connection in
      try connection.execute(
        """
        UPDATE flow_run SET process = NULL, updated = ?4, reason = coalesce(?5, reason),
          -- A request that has come too late for this process counts for the next one.
          state = iif(?3 IS NULL AND cancelled IS NOT NULL, 'cancelled', ?3)
        WHERE flow = ?1 AND number = ?2
        """,
        [
          .text(flow), .integer(Int64(number)), state.map { .text($0) } ?? .null,
          .integer(FlowStepRecord.now), reason.map { .text($0) } ?? .null,
        ])
    }
  }

  /// Waits until another process asks for the end of a run.
  ///
  /// - Throws: `CancellationError`.
  func waitForCancellation(ofRun number: Int) async throws {
    var last: Int64?
    while true {
      try await Task.sleep(for: .milliseconds(500))
      // It changes with each change of another connection.
      guard let version = try? await worker.run({ try $0.dataVersion }), version != last else {
        continue
      }
      let isCancelled = try? await worker.run { [flow] connection in
        try connection.fetchOne(
          "SELECT 1 FROM flow_run WHERE flow = ?1 AND number = ?2 AND cancelled IS NOT NULL",
          [.text(flow), .integer(Int64(number))]
        ) { _ in true } ?? false
      }
      if isCancelled == true { return }
      // After an error, it is read again.
      if isCancelled != nil { last = version }
    }
  }

  /// Removes the successes of a step or a child in some runs, and in all runs with the values of one.
  func forget(_ unit: String, in runs: Set<Int>, withValuesOf sample: Int?) async throws {
    let numbers = Self.json(runs)
    try await worker.run { [flow] connection in
      try connection.execute(
        """
        DELETE FROM flow_success WHERE flow = ?1 AND step = ?2 AND run IN (
          SELECT value FROM json_each(?3) UNION ALL SELECT number FROM flow_run
          WHERE flow = ?1 AND "values" =
            (SELECT "values" FROM flow_run WHERE flow = ?1 AND number = ?4))
        """,
        [
          .text(flow), .text(unit), .text(numbers), sample.map { .integer(Int64($0)) } ?? .null,
        ])
    }
  }

  /// Returns the number of the last success of the flow.
  func lastNumber() async throws -> Int64 {
    try await worker.run { [flow] connection in
      try connection.fetchOne(
        "SELECT number FROM flow_counter WHERE flow = ?1", [.text(flow)]
      ) { $0.integer(at: 0) } ?? 0
    }
  }

  /// Notes that a process works on a run. The caller does not wait for it.
  func noteSignOfLife(ofRun number: Int) {
    let now = FlowStepRecord.now
    worker.runLaterIfOpen { [flow] connection in
      // The next note, or the end of a step, is another sign.
      try? connection.execute(
        "INSERT OR REPLACE INTO flow_life VALUES (?1, ?2, ?3)",
        [.text(flow), .integer(Int64(number)), .integer(now)])
    }
  }

  /// Returns when a process has last worked on a run that has not ended, in milliseconds since 1970; nil
  /// if there is no sign of it.
  func lastSignOfLife(ofRun number: Int) async throws -> Int64? {
    try await worker.run { [flow] connection in
      try connection.fetchOne(
        "SELECT \(Self.signOfLife(ofRun: "?2"))", [.text(flow), .integer(Int64(number))]
      ) { $0.text(at: 0) == nil ? nil : $0.integer(at: 0) } ?? nil
    }
  }

  /// Stores a success, with its number, before it returns.
  ///
  /// - Parameter replacesOthers: Whether successes of other runs say nothing any more, because the step
  ///   has outputs, and they are as this one left them.
  /// - Returns: The success with its number.
  func add(_ record: FlowRecord, replacesOthers: Bool) async throws -> FlowRecord {
    try await successes.add(record, replacesOthers: replacesOthers, of: flow, by: worker)
  }
}
