import DurableOperations
import Foundation
import SQLiteSupport

/// The journal of a flow: the durable runs of the engine, and in the same file tables with the runs
/// of flows and the last successes of their steps.
struct FlowJournal: Sendable {
  let flow: String
  let store: RunStore
  let worker: SQLiteWorker

  init(of flow: String, in folder: FlowFolder) {
    self.flow = flow
    let path = folder.journal
    store = .sqlite(path, options: RunStoreOptions(retention: .seconds(400 * 86_400)))
    worker = SQLiteWorker("flow journal") {
      let connection = try SQLiteConnection.open(
        path, for: .writing, SQLiteConfiguration(access: .existing, durability: .full))
      // In KiB. The successes are read once, and do not have to stay in memory.
      try connection.execute("PRAGMA cache_size = -1024")
      return connection
    }
  }

  /// Opens the journal, and creates it if it is missing.
  func open() async throws {
    // The engine creates the file.
    _ = try await store.runs(limit: 1)
    try await worker.run { connection in
      for table in Self.tables + Self.commandTables { try connection.execute(table) }
    }
  }

  /// Closes the journal, which removes the files that SQLite keeps beside it.
  func close() async {
    await worker.close()
    await store.close()
  }

  private static let tables = [
    """
    CREATE TABLE IF NOT EXISTS flow_run (flow TEXT NOT NULL, number INTEGER NOT NULL,
      file TEXT NOT NULL, "values" TEXT NOT NULL, selection TEXT, began INTEGER NOT NULL,
      PRIMARY KEY (flow, number)) STRICT, WITHOUT ROWID
    """,
    """
    CREATE TABLE IF NOT EXISTS stamp (flow TEXT NOT NULL, step TEXT NOT NULL, run INTEGER NOT NULL,
      definition TEXT NOT NULL, inputs TEXT NOT NULL, outputs TEXT NOT NULL, lines TEXT,
      ended INTEGER NOT NULL, changed INTEGER NOT NULL, since INTEGER NOT NULL,
      duration INTEGER NOT NULL, PRIMARY KEY (flow, step)) STRICT, WITHOUT ROWID
    """,
    stepTable, stepIndex, sessionTable, sizeTable,
    // The runs of which all successes are in `stamp`.
    """
    CREATE TABLE IF NOT EXISTS flow_stored (flow TEXT NOT NULL, run INTEGER NOT NULL,
      PRIMARY KEY (flow, run)) STRICT, WITHOUT ROWID
    """,
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
  /// The options that select steps; nil for a run of all steps.
  let selection: String?
  /// Milliseconds since 1970.
  let began: Int64

  fileprivate init(_ row: SQLiteStatement) {
    number = Int(row.integer(at: 0))
    file = row.text(at: 1) ?? ""
    values = row.text(at: 2) ?? ""
    selection = row.text(at: 3)
    began = row.integer(at: 4)
  }

  init(number: Int, file: String, values: String, selection: String?, began: Int64) {
    self.number = number
    self.file = file
    self.values = values
    self.selection = selection
    self.began = began
  }
}

// MARK: Runs

extension FlowJournal {
  func id(ofRun number: Int) -> RunID { RunID("\(flow)#\(number)") }

  /// Returns the last run.
  ///
  /// - Parameter all: Whether only runs of all steps count.
  func lastRun(ofAllSteps all: Bool) async throws -> FlowRunRecord? {
    try await worker.run { [flow] connection in
      try connection.fetchOne(
        """
        SELECT number, file, "values", selection, began FROM flow_run
        WHERE flow = ?1 AND (selection IS NULL OR NOT ?2) ORDER BY number DESC LIMIT 1
        """, [.text(flow), .integer(all ? 1 : 0)], FlowRunRecord.init)
    }
  }

  /// Adds a run, and removes the oldest ones if there are more than a thousand.
  func add(_ run: FlowRunRecord) async throws {
    try await worker.run { [flow] connection in
      try connection.transaction(.immediate) {
        try connection.execute(
          "INSERT INTO flow_run VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
          [
            .text(flow), .integer(Int64(run.number)), .text(run.file), .text(run.values),
            run.selection.map { .text($0) } ?? .null, .integer(run.began),
          ])
        let oldest: [SQLiteValue] = [.text(flow), .integer(Int64(run.number - 1_000))]
        try connection.execute("DELETE FROM flow_run WHERE flow = ?1 AND number <= ?2", oldest)
        try connection.execute("DELETE FROM flow_stored WHERE flow = ?1 AND run <= ?2", oldest)
      }
    }
  }
}

// MARK: Stamps

extension FlowJournal {
  /// Returns the last successes by the name of the step or the child.
  ///
  /// - Parameter definitions: Texts to use for equal definitions, by the name of the step, so that
  ///   10,000 of them are not stored twice.
  func stamps(sharing definitions: [String: String]) async throws -> [String: FlowStamp] {
    try await worker.run { [flow] connection in
      var stamps: [String: FlowStamp] = [:]
      stamps.reserveCapacity(definitions.count)
      var last: FlowStamp?
      _ = try connection.fetchAll(
        """
        SELECT step, run, definition, inputs, outputs, lines, ended, changed, since, duration
        FROM stamp WHERE flow = ?1
        """, [.text(flow)]
      ) { row in
        let stamp = FlowStamp(row, sharing: definitions, last)
        stamps[stamp.unit] = stamp
        last = stamp
      }
      return stamps
    }
  }

  /// Stores successes of which the engine has stored the results, so that they outlive the run.
  func store(_ stamps: [FlowStamp]) async throws {
    if stamps.isEmpty { return }
    try await worker.run { [flow] connection in
      try connection.transaction(.immediate) {
        for stamp in stamps {
          try connection.execute(
            """
            INSERT INTO stamp VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
            ON CONFLICT DO UPDATE SET run = ?3, definition = ?4, inputs = ?5, outputs = ?6,
              lines = ?7, ended = ?8, changed = ?9, since = ?10, duration = ?11
            WHERE ended <= ?8
            """,
            [
              .text(flow), .text(stamp.unit), .integer(Int64(stamp.run)),
              .text(stamp.definition), .text(stamp.inputs), .text(stamp.outputs),
              stamp.lines.map { .text($0.joined(separator: "\n")) } ?? .null,
              .integer(stamp.ended), .integer(stamp.changed), .integer(stamp.since),
              .integer(stamp.duration),
            ])
        }
      }
    }
  }

  /// Stores the successes of a run that has not ended, or has failed, unless its process has done
  /// that.
  func storeSuccesses(ofRun number: Int) async throws {
    let isStored = try await worker.run { [flow] connection in
      try connection.fetchOne(
        "SELECT 1 FROM flow_stored WHERE flow = ?1 AND run = ?2",
        [.text(flow), .integer(Int64(number))]
      ) { _ in true }
    }
    if isStored == nil { try await store(journaledStamps(ofRun: number)) }
  }

  /// Notes that the next successes of a run are only where the engine stores them, until the run
  /// ends.
  func successesWillBeAdded(toRun number: Int) async throws {
    try await worker.run { [flow] connection in
      try connection.execute(
        "DELETE FROM flow_stored WHERE flow = ?1 AND run = ?2",
        [.text(flow), .integer(Int64(number))])
    }
  }

  /// Returns the successes that the engine has stored for a run that has not ended.
  func journaledStamps(ofRun number: Int) async throws -> [FlowStamp] {
    guard let run = try await store.run(id(ofRun: number)) else { return [] }
    let decoder = JSONDecoder()
    return run.steps.compactMap { step in
      guard !step.key.isEmpty, step.kind == .result, let value = step.value else { return nil }
      return try? decoder.decode(FlowStamp.self, from: Data(value.utf8))
    }
  }
}

extension FlowStamp {
  /// - Parameters:
  ///   - definitions: Texts to use for an equal definition, by the name of the step.
  ///   - last: A stamp whose inputs are used if they are equal.
  fileprivate init(
    _ row: SQLiteStatement, sharing definitions: [String: String], _ last: FlowStamp?
  ) {
    let unit = row.text(at: 0) ?? ""
    let step = unit.utf8.last == UInt8(ascii: "]") ? unit.stepName : unit
    let definition = row.text(at: 2) ?? ""
    let inputs = row.text(at: 3) ?? ""
    let known = definitions[step]
    self.init(
      unit: unit, run: Int(row.integer(at: 1)),
      definition: known == definition ? known ?? definition : definition,
      inputs: last?.inputs == inputs ? last?.inputs ?? inputs : inputs,
      outputs: row.text(at: 4) ?? "",
      lines: row.text(at: 5).map { $0.isEmpty ? [] : $0.components(separatedBy: "\n") },
      ended: row.integer(at: 6), changed: row.integer(at: 7), since: row.integer(at: 8),
      duration: row.integer(at: 9))
  }
}
