/// What statements say for the columns that paths of keys lead to: `title`, `author.name`, `author.country.code`.
///
/// A key that is followed by others is a reference, and what it leads to is looked up for each row: a row is never left
/// out or there twice, wherever its references lead.
struct SQLitePaths {
  /// A column, or what was computed of some.
  struct Cell {
    let path: String
    let expression: String
    let meaning: SQLiteMeaning
    /// Whether it is of a column of bytes, all of whose values a file has in base64.
    let isOfBytes: Bool
  }

  let connection: SQLiteConnection
  private var aliases = 0

  init(_ connection: SQLiteConnection) { self.connection = connection }

  /// The cell that a path leads to in the rows of a table, which are called `t`. It is called within a transaction.
  ///
  /// - Throws: A ``SQLiteError``; a ``RecordError`` that says where the path leads nowhere.
  mutating func cell(_ path: String, of table: SQLiteTable) throws -> Cell {
    try cell(Substring(path), of: table, "t", path)
  }

  /// - Parameters:
  ///   - keys: What is left of the path.
  ///   - row: What a row of the table is called in the statement.
  ///   - path: The whole path, for errors.
  private mutating func cell(
    _ keys: Substring, of table: SQLiteTable, _ row: String, _ path: String
  ) throws -> Cell {
    // A column may have dots in its name.
    if let column = table.column(named: String(keys)) {
      return Cell(
        path: path, expression: "\(row).\(column.quoted)", meaning: column.meaning,
        isOfBytes: column.affinity == .blob && !column.takesAll)
    }
    for (index, scalar) in zip(keys.unicodeScalars.indices, keys.unicodeScalars)
    where scalar == "." {
      guard let column = table.column(named: String(keys[..<index])) else { continue }
      let rest = keys[keys.unicodeScalars.index(after: index)...]
      return try cell(rest, across: column, of: table, row, path)
    }
    throw table.missing(
      String(keys), keys.utf8.count == path.utf8.count ? "" : " (in the column \(path))")
  }

  private mutating func cell(
    _ keys: Substring, across column: SQLiteColumn, of table: SQLiteTable, _ row: String,
    _ path: String
  ) throws -> Cell {
    let reference = "\(row).\(column.quoted)"
    if column.meaning == .keptReference {
      return try cell(keys, acrossKept: reference, column, table, path)
    }
    guard let (parent, key) = try parent(of: column, in: table) else {
      throw RecordError(
        .invalid("the column \(column.name) of \(table.name) is not a reference (in \(path))"))
    }
    let next = nextAlias()
    let cell = try cell(keys, of: parent, next, path)
    let condition = "\(next).\(try SQLiteName.quoted(key)) = \(reference)"
    return Cell(
      path: path,
      expression: """
        (SELECT \(cell.expression) FROM \(parent.texts.table) AS \(next) \
        WHERE \(condition) LIMIT 1)
        """, meaning: cell.meaning, isOfBytes: cell.isOfBytes)
  }

  /// The table that a foreign key of one column leads to, and by which of its columns.
  private func parent(
    of column: SQLiteColumn, in table: SQLiteTable
  ) throws -> (table: SQLiteTable, key: String)? {
    for foreignKey in table.foreignKeys
    where foreignKey.columns.map(SQLiteName.folded) == [SQLiteName.folded(column.name)] {
      let folded = SQLiteName.folded(foreignKey.parent)
      guard let name = try connection.tables().first(where: { SQLiteName.folded($0) == folded }),
        let parent = try connection.table(name)
      else { return nil }
      let keys = parent.columns.filter { $0.keyPosition > 0 }.map(\.name)
      guard let key = (foreignKey.parentColumns + keys).first else { return nil }
      return (parent, key)
    }
    return nil
  }

  /// References that are kept may lead to any table: to which they do is looked up.
  private mutating func cell(
    _ keys: Substring, acrossKept reference: String, _ column: SQLiteColumn, _ table: SQLiteTable,
    _ path: String
  ) throws -> Cell {
    let own = SQLiteOperand.referenceParts(column.quoted).type
    let types = try connection.rows(
      """
      SELECT DISTINCT \(own) AS type FROM \(table.texts.table) \
      WHERE typeof(\(column.quoted)) = 'text' ORDER BY type
      """
    ) { String(validating: $0.bytes(at: 0), as: UTF8.self) }
    let parts = SQLiteOperand.referenceParts(reference)
    let name = "CAST(\(parts.name) AS TEXT)"
    var cases = ""
    var found: [Cell] = []
    var problem: (any Error)?
    for type in types.compactMap(\.self) {
      guard let parent = try connection.table(type) else { continue }
      let next = nextAlias()
      do {
        let cell = try cell(keys, of: parent, next, path)
        found.append(cell)
        cases += """
           WHEN \(parts.type) = CAST(\(try SQLiteName.literal(type)) AS BLOB) THEN \
          (SELECT \(cell.expression) FROM \(parent.texts.table) AS \(next) \
          WHERE \(try parent.key.isRow(next, named: name)) LIMIT 1)
          """
      } catch let error as RecordError {
        // Where they lead to several tables, one that has the column is enough.
        problem = problem ?? error
      }
    }
    guard let first = found.first else {
      if let problem { throw problem }
      return Cell(path: path, expression: "NULL", meaning: .plain, isOfBytes: false)
    }
    let isOfOneMeaning = found.allSatisfy { $0.meaning == first.meaning }
    return Cell(
      path: path, expression: "CASE\(cases) END", meaning: isOfOneMeaning ? first.meaning : .plain,
      isOfBytes: found.allSatisfy(\.isOfBytes))
  }

  private mutating func nextAlias() -> String {
    aliases += 1
    return "r\(aliases)"
  }
}

extension SQLiteKey {
  /// What holds for the row whose name is what an expression computes.
  fileprivate func isRow(_ row: String, named name: String) throws -> String {
    let parts = try expressions(of: row)
    switch self {
    case .text: return "\(parts[0]) = \(name) COLLATE BINARY"
    case .integer, .rowID:
      // By the index first, and then as the name is written.
      return "\(parts[0]) = CAST(\(name) AS INTEGER) AND CAST(\(parts[0]) AS TEXT) = \(name)"
    case .values, .none: return "\(try self.name(of: row)) = \(name)"
    }
  }
}
