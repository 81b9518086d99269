import SQLiteSupport
import SystemSupport

extension FlowJournal {
  /// Stores the ends of the steps of a run, in place of those of the run before.
  ///
  /// - Precondition: The successes of the run are stored.
  func store(_ ends: [FlowEnd], ofRun number: Int) async throws {
    let now = EventTime.wallClockNow
    try await worker.run { [flow] connection in
      try connection.transaction(.immediate) {
        try connection.execute("DELETE FROM flow_end WHERE flow = ?1", [.text(flow)])
        try connection.execute(
          "INSERT OR IGNORE INTO flow_stored VALUES (?1, ?2)",
          [.text(flow), .integer(Int64(number))])
        for end in ends {
          try connection.execute(
            "INSERT OR REPLACE INTO flow_end VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            [
              .text(flow), .text(end.unit), .integer(Int64(number)), .text(end.state.rawValue),
              end.reason.map { .text($0) } ?? .null, .integer(now),
            ])
        }
      }
    }
  }

  /// Returns the ends of the steps and the failed children of a run, by name.
  func ends(ofRun number: Int) async throws -> [String: FlowEnd] {
    try await worker.run { [flow] connection in
      let ends = try connection.fetchAll(
        "SELECT step, state, reason FROM flow_end WHERE flow = ?1 AND run = ?2",
        [.text(flow), .integer(Int64(number))]
      ) { row in
        FlowEnd(
          unit: row.text(at: 0) ?? "",
          state: FlowEnd.State(rawValue: row.text(at: 1) ?? "") ?? .cancelled,
          reason: row.text(at: 2))
      }
      return Dictionary(ends.map { ($0.unit, $0) }, uniquingKeysWith: { $1 })
    }
  }
}
