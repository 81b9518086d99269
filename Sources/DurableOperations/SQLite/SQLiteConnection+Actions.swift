package import SQLiteSupport

// The actions of persons on runs.
extension SQLiteConnection {
  /// The number of actions that a file keeps.
  private static let keptActions = 100_000

  /// Stores an action that begins.
  ///
  /// - Returns: Its number.
  /// - Throws: A ``RunStoreError`` if the file has a foreign table with the name.
  package func add(_ record: RecordedAction, on id: RunID) throws -> Int64 {
    try LateTable.actions.create(in: self)
    try execute(
      "INSERT INTO run_action (run, action, detail, actor, began) VALUES (?1, ?2, ?3, ?4, ?5)",
      [
        .text(id.text), .text(record.action), record.detail.map { .text($0) } ?? .null,
        .text(record.actor), .integer(record.began),
      ])
    let number = lastInsertedRowID
    try execute(
      "DELETE FROM run_action WHERE number <= ?1", [.integer(number - Int64(Self.keptActions))])
    return number
  }

  /// Stores the end of an action.
  package func endAction(_ number: Int64, problem: String?, now: Int64) throws {
    try execute(
      "UPDATE run_action SET ended = ?2, problem = ?3 WHERE number = ?1",
      [.integer(number), .integer(now), problem.map { .text($0) } ?? .null])
  }

  /// Returns the last actions on a run, the newest first.
  package func actions(on id: RunID, last count: Int) throws -> [RecordedAction] {
    guard try LateTable.actions.presence(in: self) == .present else { return [] }
    return try fetchAll(
      """
      SELECT action, detail, actor, began, ended, problem FROM run_action WHERE run = ?1
      ORDER BY number DESC LIMIT ?2
      """, [.text(id.text), .integer(Int64(clamping: count))]
    ) { row in
      RecordedAction(
        action: row.text(at: 0) ?? "", detail: row.text(at: 1), actor: row.text(at: 2) ?? "",
        began: row.integer(at: 3), ended: row.isNull(at: 4) ? nil : row.integer(at: 4),
        problem: row.text(at: 5))
    }
  }
}
