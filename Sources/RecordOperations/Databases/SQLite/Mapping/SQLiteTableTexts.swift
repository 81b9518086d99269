internal import SQLiteSupport

/// SQL fragments for a table whose rows have the alias `t`.
struct SQLiteTableTexts: Sendable {
  /// The quoted name of the table.
  let table: String
  /// An expression for the name of a row.
  let name: String
  /// A condition for the row with a name. The values of the name are the first parameters.
  let isRow: String
  /// A query for the state of the row with a name: whether it exists, its sequence, and when it was
  /// modified.
  let state: String

  /// - Throws: A ``RecordError`` if a name contains a NUL.
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
