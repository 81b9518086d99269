/// What statements say for one table, in which a row of it is called `t`.
struct SQLiteTableTexts: Sendable {
  /// The table, in quotes.
  let table: String
  /// What computes the name of a row.
  let name: String
  /// What holds for the row of a name; the values of the name come first.
  let isRow: String
  /// What selects the state of the row of a name: whether it is there, its sequence, and when it was modified.
  let state: String

  /// - Throws: A ``RecordError`` if a name cannot be one.
  init(name table: String, key: SQLiteKey, isTracked: Bool) throws {
    self.table = try SQLiteName.quoted(table)
    name = try key.name(of: "t")
    isRow = try key.isRow("t")
    let states =
      isTracked
      ? """
      s.sequence, s.modified FROM \(self.table) AS t LEFT JOIN "_record_states" AS s \
      ON s.type = \(try SQLiteName.literal(table)) AND s.name = \(name) AND s.deleted = 0
      """ : "NULL, NULL FROM \(self.table) AS t"
    state = "SELECT 1, \(states) WHERE \(isRow)"
  }
}
