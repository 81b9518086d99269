internal import SQLiteSupport

extension SQLiteConnection {
  /// Inserts rows, many in a statement. Call it in a savepoint and roll back if it throws, because
  /// the rows before a conflict remain. Conflict clauses of the table have no effect.
  ///
  /// - Parameters:
  ///   - count: The number of rows.
  ///   - table: The quoted name of the table.
  ///   - constants: The quoted names of the columns with the same value in each row, and the values.
  ///   - columns: The quoted names of the other columns.
  ///   - bind: Binds the other values of a row, given its index and its first parameter.
  /// - Throws: A ``SQLiteError``, also if a row has a conflict; the error of `bind`.
  func insert(
    _ count: Int, into table: String,
    constants: KeyValuePairs<String, SQLiteValue> = [:],
    _ columns: [String],
    _ bind: (_ statement: SQLiteStatement, _ index: Int, _ place: Int) throws -> Void
  ) throws {
    // Preparing a statement takes time in proportion to its rows.
    let most = max(1, 100 / columns.count)
    let names = (constants.map(\.key) + columns).joined(separator: ", ")
    // The first parameters are the same in each row.
    let shared = constants.indices.map { "?\($0 + 1)" }
    let row = "(\((shared + columns.map { _ in "?" }).joined(separator: ", ")))"
    var index = 0
    while index < count {
      // Only two different statements, because they are cached.
      let rows = count - index >= most ? most : 1
      let values = Array(repeating: row, count: rows).joined(separator: ", ")
      // A statement that fails without `OR FAIL` copies each page before it changes it.
      try withCachedStatement(
        "INSERT OR FAIL INTO \(table) (\(names)) VALUES \(values)"
      ) { statement in
        try statement.bind(constants.map(\.value))
        repeat {
          for row in 0..<rows {
            try bind(statement, index + row, constants.count + row * columns.count + 1)
          }
          try statement.run()
          index += rows
        } while count - index >= rows && (rows > 1 || index < count)
      }
    }
  }
}
