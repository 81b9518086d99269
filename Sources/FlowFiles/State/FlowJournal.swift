import Foundation
import SQLiteSupport
import SystemSupport

/// The state of a flow in an SQLite file: its runs, their steps, and the last successes of the steps.
struct FlowJournal: Sendable {
  let flow: String
  let worker: SQLiteWorker
  private let path: String
  private let purpose: SQLiteConnection.Purpose
  private let successes = FlowSuccesses()

  init(of flow: String, at path: String, for purpose: SQLiteConnection.Purpose = .writing) {
    self.flow = flow
    self.purpose = purpose
    self.path = path
    worker = SQLiteWorker("flow journal") {
      let connection = try SQLiteConnection.open(
        path, for: purpose,
        SQLiteConfiguration(
          access: purpose == .writing ? .create : .existing, durability: .full, permissions: 0o600))
      // In KiB. The successes are read once, and do not have to stay in memory.
      try connection.execute("PRAGMA cache_size = -1024")
      return connection
    }
  }

  /// Opens the journal, and creates it if it is missing and opened for writing.
  ///
  /// - Returns: Whether it has the tables.
  /// - Throws: An error of the file; a failure if it has runs of another flow.
  @discardableResult
  func open() async throws -> Bool {
    if purpose == .writing, let type = SQLiteFile(path).networkType {
      throw FlowFailure.other(
        "\(path.onOneLine) is on a network file system (\(type)), where locks do not work reliably; "
          + "--state FOLDER puts the state on a local disk")
    }
    return try await worker.run { [flow, path, purpose] connection in
      if try connection.isFormerFlowState {
        if purpose == .reading {
          throw FlowFailure.other(
            "\(path.onOneLine) was written by an earlier version; the next run takes it over")
        }
        try connection.takeOverFormerFlowState()
      }
      let version = try connection.schemaVersion(
        applicationID: FlowStateFile.applicationID, latest: Self.version)
      if version > 0 {
        let other = try connection.fetchOne(
          "SELECT flow FROM flow_run WHERE flow <> ?1", [.text(flow)]
        ) { $0.text(at: 0) ?? "" }
        if let other {
          throw FlowFailure.other(
            "\(path.onOneLine) has the runs of the flow '\(other.onOneLine)'; expected another folder "
              + "for '\(flow)'")
        }
      }
      if purpose == .reading { return version > 0 }
      if version == 0 {
        try connection.transaction(.immediate) { try connection.createFlowTables() }
      }
      return true
    }
  }

  /// Identifies the flow and the open journal in the environment of processes. It is the same if the
  /// folder was moved, or is reached through a link.
  var mark: String {
    get throws {
      let file = try FileStatus(ofFile: path).identity
      return "\(flow)@\(file.device):\(file.number)"
    }
  }

  /// The key of the hashes of secrets. Each state has its own.
  func secretKey() async throws -> String {
    try await worker.run { [purpose] connection in
      let sql = "SELECT key FROM flow_key"
      if purpose == .writing {
        try connection.execute("CREATE TABLE IF NOT EXISTS flow_key (key TEXT NOT NULL) STRICT")
        try connection.execute(
          "INSERT INTO flow_key SELECT hex(randomblob(32)) WHERE NOT EXISTS (\(sql))")
      }
      let exists = try connection.fetchOne(
        "SELECT 1 FROM sqlite_master WHERE name = 'flow_key'"
      ) { _ in true }
      if exists == nil { return "" }
      return try connection.fetchOne(sql) { $0.text(at: 0) ?? "" } ?? ""
    }
  }

  /// Closes the journal, which removes the files that SQLite keeps beside it.
  func close() async {
    await worker.close()
    // If a reader has closed it at the same time, neither connection was the last one, and the files stay.
    if purpose == .reading || FileSystem.isMissing("\(path)-wal") { return }
    let connection = try? SQLiteConnection.open(
      path, for: .writing, SQLiteConfiguration(access: .existing))
    try? connection?.execute("PRAGMA wal_checkpoint(TRUNCATE)")
  }

  static let version: Int64 = 1

  // The state of a run is null until it has ended. Then `process` is the process that works on it, or was
  // killed while it did.
  static let tables = [
    """
    CREATE TABLE IF NOT EXISTS flow_run (flow TEXT NOT NULL, number INTEGER NOT NULL,
      file TEXT NOT NULL, "values" TEXT NOT NULL, selection TEXT, began INTEGER NOT NULL, name TEXT,
      state TEXT, reason TEXT, updated INTEGER NOT NULL, cancelled INTEGER, process INTEGER,
      PRIMARY KEY (flow, number)) STRICT, WITHOUT ROWID
    """,
    """
    CREATE TABLE IF NOT EXISTS flow_success (flow TEXT NOT NULL, step TEXT NOT NULL,
      run INTEGER NOT NULL, definition TEXT NOT NULL, inputs TEXT NOT NULL, outputs TEXT NOT NULL,
      lines TEXT, used TEXT NOT NULL, number INTEGER NOT NULL, made INTEGER NOT NULL,
      ended INTEGER NOT NULL, duration INTEGER NOT NULL, PRIMARY KEY (flow, step, run))
      STRICT, WITHOUT ROWID
    """,
    // When a process has last worked on a run, in milliseconds since 1970.
    """
    CREATE TABLE IF NOT EXISTS flow_life (flow TEXT NOT NULL, run INTEGER NOT NULL,
      time INTEGER NOT NULL, PRIMARY KEY (flow, run)) STRICT, WITHOUT ROWID
    """,
    // The number of the last success of each flow.
    """
    CREATE TABLE IF NOT EXISTS flow_counter (flow TEXT PRIMARY KEY, number INTEGER NOT NULL)
      STRICT, WITHOUT ROWID
    """,
    stepTable, stepIndex, sizeTable,
    """
    CREATE TABLE IF NOT EXISTS flow_process (flow TEXT NOT NULL, step TEXT NOT NULL,
      pid INTEGER NOT NULL, began INTEGER NOT NULL, boot TEXT NOT NULL,
      PRIMARY KEY (flow, pid)) STRICT, WITHOUT ROWID
    """,
  ]
}

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
  /// Whether a process has begun or continued it and has not stored its end.
  var hasProcess = false

  fileprivate static let columns =
    "number, file, \"values\", selection, began, name, state, updated, process"

  fileprivate init(_ row: SQLiteStatement) {
    number = Int(row.integer(at: 0))
    file = row.text(at: 1) ?? ""
    values = row.text(at: 2) ?? ""
    selection = row.text(at: 3)
    began = row.integer(at: 4)
    name = row.text(at: 5)
    state = row.text(at: 6).flatMap(FlowRunState.init(rawValue:))
    updated = row.integer(at: 7)
    hasProcess = row.text(at: 8) != nil
  }

  init(
    number: Int, file: String, values: String, selection: String?, name: String?, began: Int64
  ) {
    (self.number, self.file, self.values) = (number, file, values)
    (self.selection, self.name, self.began) = (selection, name, began)
    updated = FlowStepRecord.now
  }
}

// MARK: JSON

extension FlowJournal {
  static func json(_ texts: [String]) -> String {
    var json = JSONWriter()
    json.array { json in for text in texts { json.string(text) } }
    return json.text
  }

  static func json(_ numbers: Set<Int>) -> String {
    var json = JSONWriter()
    json.array { json in for number in numbers { json.integer(number) } }
    return json.text
  }

  /// Returns the texts of a JSON array; nil if it is none.
  static func texts(inJSON json: String) -> [String]? {
    try? JSONDecoder().decode([String].self, from: Data(json.utf8))
  }
}

// MARK: Runs

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
  func lastActiveRun() async throws -> FlowRunRecord? {
    try await worker.run { [flow] connection in
      try connection.fetchOne(
        """
        SELECT \(FlowRunRecord.columns) FROM flow_run AS this WHERE flow = ?1
        ORDER BY (SELECT began FROM flow_size WHERE flow = ?1 AND run = this.number) DESC,
          number DESC LIMIT 1
        """, [.text(flow)], FlowRunRecord.init)
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
        try connection.execute("DELETE FROM flow_run WHERE flow = ?1 AND number <= ?2", oldest)
        try connection.execute("DELETE FROM flow_life WHERE flow = ?1 AND run <= ?2", oldest)
        // Of each step, the last success stays.
        try connection.execute(
          """
          DELETE FROM flow_success AS old WHERE flow = ?1 AND run <= ?2 AND EXISTS
            (SELECT 1 FROM flow_success WHERE flow = ?1 AND step = old.step AND run > old.run)
          """, oldest)
      }
    }
  }

  /// Stores that no process works on a run, which the lock of the flow shows. Those whose cancellation
  /// was requested have ended.
  func releaseRuns() async throws {
    try await worker.run { [flow] connection in
      try connection.execute(
        """
        UPDATE flow_run SET process = NULL, state = iif(cancelled IS NULL, NULL, 'cancelled')
        WHERE flow = ?1 AND state IS NULL AND (process IS NOT NULL OR cancelled IS NOT NULL)
        """, [.text(flow)])
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

  /// Returns the number of the last success of the flow, and of each step and child, in any run.
  func numbers() async throws -> (last: Int64, units: [ExactText: Int64]) {
    try await worker.run { [flow] connection in
      let last = try connection.fetchOne(
        "SELECT number FROM flow_counter WHERE flow = ?1", [.text(flow)]
      ) { $0.integer(at: 0) }
      let units = try connection.fetchAll(
        "SELECT step, max(number) FROM flow_success WHERE flow = ?1 GROUP BY step", [.text(flow)]
      ) { (ExactText($0.text(at: 0) ?? ""), $0.integer(at: 1)) }
      return (last ?? 0, Dictionary(units, uniquingKeysWith: max))
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
        """
        SELECT max(time) FROM (
          SELECT time FROM flow_life WHERE flow = ?1 AND run = ?2
          UNION ALL SELECT began FROM flow_size WHERE flow = ?1 AND run = ?2
          UNION ALL SELECT max(coalesce(ended, began)) FROM flow_step WHERE flow = ?1 AND run = ?2
          UNION ALL SELECT max(ended) FROM flow_success WHERE flow = ?1 AND run = ?2)
        """, [.text(flow), .integer(Int64(number))]
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
