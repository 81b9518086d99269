import SQLiteSupport
import SystemSupport

/// The progress of a step or a child of a run, as the journal stores it.
package struct FlowStepRecord: Sendable, Equatable {
  /// The name of the step or the child.
  package let unit: String
  /// The step of a child; nil for a step.
  package var parent: String?
  /// Nil while it runs.
  package var state: FlowEnd.State?
  package var reason: String?
  /// The number of attempts that have begun; 0 while its condition is checked.
  package var attempts: Int?
  /// The number of children.
  package var children: Int?
  /// The names of the children. Those of an earlier list are removed.
  package var childNames: [String]?
  /// When its first attempt began, in milliseconds since 1970.
  package var began: Int64?
  /// Milliseconds since 1970.
  package var ended: Int64?

  package init(
    unit: String, state: FlowEnd.State? = nil, reason: String? = nil, attempts: Int? = nil,
    began: Int64? = nil, ended: Int64? = nil
  ) {
    (self.unit, self.state, self.reason) = (unit, state, reason)
    (self.attempts, self.began, self.ended) = (attempts, began, ended)
  }

  /// Overwrites the fields that a later record of the same step has. A step that begins again has none
  /// of the old ones.
  mutating func update(with later: FlowStepRecord) {
    if later.began != nil { (children, childNames, ended) = (nil, nil, nil) }
    (state, reason) = (later.state, later.reason)
    attempts = later.attempts ?? attempts
    children = later.children ?? children
    childNames = later.childNames ?? childNames
    began = later.began ?? began
    ended = ended ?? later.ended
  }
}

extension FlowStepRecord {
  static var now: Int64 { EventTime.wallClockNow / 1_000_000 }

  init(_ end: FlowEnd) {
    self.init(
      unit: end.unit, state: end.state, reason: end.reason,
      attempts: end.attempts > 0 ? end.attempts : nil,
      ended: end.state == .done || end.state == .upToDate ? nil : Self.now)
    parent = end.isChild ? end.unit.stepName : nil
  }

  init(_ unit: FlowUnit, attempt: Int) {
    self.init(unit: unit.name, attempts: attempt, began: attempt <= 1 ? Self.now : nil)
    parent = unit.each == nil ? nil : unit.step.name
  }
}

extension FlowJournal {
  static let stepTable = """
    CREATE TABLE IF NOT EXISTS flow_step (flow TEXT NOT NULL, run INTEGER NOT NULL,
      step TEXT NOT NULL, parent TEXT, state TEXT, reason TEXT, attempts INTEGER,
      children INTEGER, began INTEGER, ended INTEGER,
      PRIMARY KEY (flow, run, step)) STRICT, WITHOUT ROWID
    """

  /// The steps without the children, so that counting them does not read the children.
  static let stepIndex = """
    CREATE INDEX IF NOT EXISTS flow_step_state ON flow_step (flow, run, parent, state)
      WHERE parent IS NULL
    """

  /// The number of steps of each run, and when a process has last begun or resumed it.
  static let sizeTable = """
    CREATE TABLE IF NOT EXISTS flow_size (flow TEXT NOT NULL, run INTEGER NOT NULL,
      steps INTEGER NOT NULL, began INTEGER NOT NULL, PRIMARY KEY (flow, run)) STRICT, WITHOUT ROWID
    """

  /// Notes that a process begins or resumes a run. Removes the steps that begin again or are not in
  /// the flow file any more, and those of runs that are not kept.
  ///
  /// - Parameters:
  ///   - names: The steps of the flow file.
  ///   - count: The number of steps that no option excludes.
  ///   - live: The other runs in progress.
  /// - Returns: The runs that are kept.
  func beginSteps(
    ofRun number: Int, named names: [String], count: Int, keeping kept: FlowKeep,
    and live: Set<Int>
  ) async throws -> Set<Int> {
    let names = Self.json(names)
    return try await worker.run { [flow] connection in
      let (run, now) = (Int64(number), FlowStepRecord.now)
      return try connection.transaction(.immediate) {
        try connection.execute(
          "INSERT OR REPLACE INTO flow_size VALUES (?1, ?2, ?3, ?4)",
          [.text(flow), .integer(run), .integer(Int64(count)), .integer(now)])
        let runs = try connection.fetchAll(
          """
          SELECT number FROM flow_run WHERE flow = ?1 AND (number = ?2 OR began > ?3)
          ORDER BY number DESC LIMIT ?4
          """,
          [
            .text(flow), .integer(run), .integer(now - Int64(kept.days) * 86_400_000),
            .integer(Int64(kept.runs)),
          ]
        ) { Int($0.integer(at: 0)) }
        let keptRuns = live.union(runs).union([number])
        let list = Self.json(keptRuns)
        for table in ["flow_size", "flow_step", "flow_left"] {
          try connection.execute(
            "DELETE FROM \(table) WHERE flow = ?1 AND run NOT IN (SELECT value FROM json_each(?2))",
            [.text(flow), .text(list)])
        }
        try connection.execute(
          """
          DELETE FROM flow_step WHERE flow = ?1 AND run = ?2
            AND (state IS NULL OR state NOT IN ('succeeded', 'up to date', 'done')
              OR coalesce(parent, step) NOT IN (SELECT value FROM json_each(?3)))
          """, [.text(flow), .integer(run), .text(names)])
        return keptRuns
      }
    }
  }

  /// Stores the progress of steps. The caller does not wait for it.
  ///
  /// - Parameters:
  ///   - take: Returns the records when it is their turn.
  ///   - onFailure: Receives records that could not be stored.
  func storeLater(
    _ take: @escaping @Sendable () -> [FlowStepRecord], ofRun number: Int,
    onFailure: @escaping @Sendable ([FlowStepRecord]) -> Void
  ) {
    worker.runLaterIfOpen { [flow] connection in
      let records = take()
      if records.isEmpty { return }
      do {
        try connection.transaction(.immediate) { try connection.store(records, flow, number) }
      } catch { onFailure(records) }
    }
  }

  /// Stores the ends of the steps of a run.
  func store(_ ends: [FlowEnd], ofRun number: Int) async throws {
    try await worker.run { [flow] connection in
      try connection.transaction(.immediate) {
        try connection.store(ends.map { FlowStepRecord($0) }, flow, number)
      }
    }
  }

  /// Returns the ends of the steps and the failed children of a run, by name.
  func ends(ofRun number: Int) async throws -> [ExactText: FlowEnd] {
    try await worker.run { [flow] connection in
      let ends = try connection.fetchAll(
        """
        SELECT step, state, reason, attempts, ended - began, parent FROM flow_step
        WHERE flow = ?1 AND run = ?2 AND state IS NOT NULL
          AND (parent IS NULL OR state = 'failed')
        """,
        [.text(flow), .integer(Int64(number))]
      ) { row in
        FlowEnd(
          unit: row.text(at: 0) ?? "",
          state: FlowEnd.State(rawValue: row.text(at: 1) ?? "") ?? .cancelled,
          reason: row.text(at: 2),
          duration: row.text(at: 4) == nil ? nil : .milliseconds(row.integer(at: 4)),
          attempts: Int(row.integer(at: 3)), isChild: row.text(at: 5) != nil)
      }
      return Dictionary(ends.map { (ExactText($0.unit), $0) }, uniquingKeysWith: { $1 })
    }
  }

  /// Returns the steps and the children of a run that have begun and have not ended, by name.
  func begun(ofRun number: Int) async throws -> [ExactText: FlowStepRecord] {
    try await worker.run { [flow] connection in
      let records = try connection.fetchAll(
        """
        SELECT step, parent, attempts, began FROM flow_step
        WHERE flow = ?1 AND run = ?2 AND state IS NULL
        """, [.text(flow), .integer(Int64(number))]
      ) { row in
        func number(_ column: Int) -> Int64? {
          row.text(at: column) == nil ? nil : row.integer(at: column)
        }
        var record = FlowStepRecord(
          unit: row.text(at: 0) ?? "", attempts: number(2).map { Int($0) }, began: number(3))
        record.parent = row.text(at: 1)
        return record
      }
      return Dictionary(records.map { (ExactText($0.unit), $0) }, uniquingKeysWith: { $1 })
    }
  }
}

extension SQLiteConnection {
  fileprivate func store(_ records: [FlowStepRecord], _ flow: String, _ run: Int) throws {
    for record in records {
      try execute(
        """
        INSERT INTO flow_step VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
        ON CONFLICT DO UPDATE SET state = ?5, reason = ?6, attempts = coalesce(?7, attempts),
          children = iif(?9 IS NULL, coalesce(?8, children), ?8), began = coalesce(?9, began),
          ended = iif(?9 IS NULL, coalesce(ended, ?10), ?10)
        """,
        [
          .text(flow), .integer(Int64(run)), .text(record.unit), .optional(record.parent),
          .optional(record.state?.rawValue), .optional(record.reason),
          .optional(record.attempts), .optional(record.children), .optional(record.began),
          .optional(record.ended),
        ])
      if let names = record.childNames {
        try execute(
          """
          DELETE FROM flow_step WHERE flow = ?1 AND run = ?2 AND parent = ?3
            AND step NOT IN (SELECT value FROM json_each(?4))
          """,
          [
            .text(flow), .integer(Int64(run)), .text(record.unit),
            .text(FlowJournal.json(names)),
          ])
      }
    }
  }
}

extension SQLiteValue {
  fileprivate static func optional(_ text: String?) -> SQLiteValue {
    text.map { .text($0) } ?? .null
  }

  fileprivate static func optional(_ number: (some BinaryInteger)?) -> SQLiteValue {
    number.map { .integer(Int64($0)) } ?? .null
  }
}
