import SQLiteSupport
import SystemSupport

/// A command that was given to the workers of a store, as the journal lists it. It is listed before
/// the store has its run, and until the step or the child has ended.
struct FlowSentCommand: Hashable, Sendable {
  /// Identifies the command in the journal. No number is used twice.
  let number: Int
  /// The name of the step or the child.
  let unit: String
  /// The number of the run of the flow.
  let run: Int
  /// The store, without a password.
  let place: String
  /// The definition of the step.
  let definition: String
  /// The number of the last success of the unit; 0 for none.
  let succeeded: Int64
  /// The highest number of a success of the flow when it was given to the workers.
  let began: Int64
  /// Whether the log of the unit has its output.
  var isLogged = false

  /// The name of its run in the store.
  ///
  /// - Parameter journal: The identity of the journal.
  func id(flow: String, journal: String) -> String {
    // The number makes a name unique whose end is cut off.
    let name = "\(flow)@\(journal)#\(run)/\(FlowFolder.fileName(unit))"
    return "\(String(decoding: name.utf8.prefix(170), as: UTF8.self))/\(number)"
  }
}

extension FlowJournal {
  static let commandTables = [
    """
    CREATE TABLE IF NOT EXISTS flow_command (number INTEGER PRIMARY KEY AUTOINCREMENT,
      flow TEXT NOT NULL, step TEXT NOT NULL, run INTEGER NOT NULL, place TEXT NOT NULL,
      definition TEXT NOT NULL, succeeded INTEGER NOT NULL, began INTEGER NOT NULL,
      logged INTEGER NOT NULL DEFAULT 0) STRICT
    """,
    "CREATE TABLE IF NOT EXISTS flow_identity (id TEXT NOT NULL) STRICT",
    // A journal that replaces a deleted one at the same path is another journal.
    """
    INSERT INTO flow_identity SELECT lower(hex(randomblob(8)))
    WHERE NOT EXISTS (SELECT 1 FROM flow_identity)
    """,
  ]

  /// A text that no other journal has.
  func identity() async throws -> String {
    try await worker.run { connection in
      try connection.fetchOne("SELECT id FROM flow_identity", []) { $0.text(at: 0) ?? "" } ?? ""
    }
  }

  /// The commands that were given to workers, in this order.
  func sentCommands() async throws -> [FlowSentCommand] {
    try await worker.run { [flow] connection in
      try connection.fetchAll(
        """
        SELECT number, step, run, place, definition, succeeded, began, logged FROM flow_command
        WHERE flow = ?1 ORDER BY number
        """, [.text(flow)]
      ) { row in
        FlowSentCommand(
          number: Int(row.integer(at: 0)), unit: row.text(at: 1) ?? "",
          run: Int(row.integer(at: 2)), place: row.text(at: 3) ?? "",
          definition: row.text(at: 4) ?? "", succeeded: row.integer(at: 5),
          began: row.integer(at: 6), isLogged: row.integer(at: 7) != 0)
      }
    }
  }

  /// Adds a command.
  func addCommand(
    of unit: String, run: Int, at place: String, definition: String, succeeded: Int64
  ) async throws -> FlowSentCommand {
    let row = try await worker.run { [flow] connection in
      try connection.fetchOne(
        """
        INSERT INTO flow_command (flow, step, run, place, definition, succeeded, began)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6,
          coalesce((SELECT number FROM flow_counter WHERE flow = ?1), 0))
        RETURNING number, began
        """,
        [
          .text(flow), .text(unit), .integer(Int64(run)), .text(place), .text(definition),
          .integer(succeeded),
        ]
      ) { (Int($0.integer(at: 0)), $0.integer(at: 1)) }
    }
    return FlowSentCommand(
      number: row?.0 ?? 0, unit: unit, run: run, place: place, definition: definition,
      succeeded: succeeded, began: row?.1 ?? 0)
  }

  /// Notes that the log has the output of a command. The caller does not wait for it.
  func noteLoggedLater(_ number: Int) {
    worker.runLaterIfOpen { connection in
      // The output is in the log twice if this fails and the flow is killed.
      try? connection.execute(
        "UPDATE flow_command SET logged = 1 WHERE number = ?1", [.integer(Int64(number))])
    }
  }

  func removeCommands(_ numbers: [Int]) async throws {
    try await worker.run { try $0.removeCommands(numbers) }
  }

  /// Removes commands. The caller does not wait for it.
  func removeCommandsLater(_ numbers: [Int]) {
    // The next process compares them with the last success if this fails.
    worker.runLaterIfOpen { try? $0.removeCommands(numbers) }
  }
}

extension SQLiteConnection {
  fileprivate func removeCommands(_ numbers: [Int]) throws {
    try transaction(.immediate) {
      for number in numbers {
        try execute("DELETE FROM flow_command WHERE number = ?1", [.integer(Int64(number))])
      }
    }
  }
}
