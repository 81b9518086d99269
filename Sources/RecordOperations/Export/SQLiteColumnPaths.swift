internal import SQLiteSupport

/// SQL expressions for key paths of columns: `title`, `author.name`, `author.country.code`.
///
/// Every key but the last is a reference, which a subquery resolves for each row. So no row is left
/// out or repeated, whatever its references are.
struct SQLiteColumnPaths {
  /// A column, or an expression of columns.
  ///
  /// A class because it is used for every cell of the file: a structure would be copied each time.
  final class Cell: Sendable {
    let path: String
    let expression: String
    let meaning: SQLiteMeaning
    /// Whether the column holds bytes: all of its values are base64 in the file.
    let isOfBytes: Bool

    init(path: String, expression: String, meaning: SQLiteMeaning, isOfBytes: Bool) {
      self.path = path
      self.expression = expression
      self.meaning = meaning
      self.isOfBytes = isOfBytes
    }
  }

  let connection: SQLiteConnection
  private var aliases = 0

  init(_ connection: SQLiteConnection) { self.connection = connection }

  /// Returns the cell of a path for the rows of a table with the alias `t`. Must be called in a
  /// transaction.
  ///
  /// - Throws: A ``SQLiteError``; a ``RecordError`` that names the key which does not exist.
  mutating func cell(_ path: String, of table: SQLiteTable) throws -> Cell {
    try cell(Substring(path), of: table, "t", path)
  }

  /// - Parameters:
  ///   - keys: The rest of the path.
  ///   - row: The alias of the table in the statement.
  ///   - path: The whole path, for errors.
  private mutating func cell(
    _ keys: Substring, of table: SQLiteTable, _ row: String, _ path: String
  ) throws -> Cell {
    // The name of a column may contain dots.
    if let column = table.column(named: String(keys)) {
      return Cell(
        path: path, expression: "\(row).\(column.quoted)", meaning: column.meaning,
        isOfBytes: column.affinity == .blob && !column.storesAnyValue)
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
        (SELECT \(cell.expression) FROM \(parent.sql.table) AS \(next) \
        WHERE \(condition) LIMIT 1)
        """, meaning: cell.meaning, isOfBytes: cell.isOfBytes)
  }

  /// Returns the table that the foreign key of a column references, and the referenced column.
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

  /// Returns the cell of a path across `.keep` references. They may refer to any tables, which are
  /// looked up.
  private mutating func cell(
    _ keys: Substring, acrossKept reference: String, _ column: SQLiteColumn, _ table: SQLiteTable,
    _ path: String
  ) throws -> Cell {
    let own = SQLiteOperand.referenceParts(column.quoted).type
    let types = try connection.fetchAll(
      """
      SELECT DISTINCT \(own) AS type FROM \(table.sql.table) \
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
          (SELECT \(cell.expression) FROM \(parent.sql.table) AS \(next) \
          WHERE \(try parent.key.isRow(next, named: name)) LIMIT 1)
          """
      } catch let error as RecordError {
        // If they refer to several tables, one with the column is enough.
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
  /// Returns a condition for the row whose name is the value of an expression.
  fileprivate func isRow(_ row: String, named name: String) throws -> String {
    let parts = try expressions(of: row)
    switch self {
    case .text: return "\(parts[0]) = \(name) COLLATE BINARY"
    case .integer, .rowID:
      // The first comparison uses the index; the second one compares the exact name.
      return "\(parts[0]) = CAST(\(name) AS INTEGER) AND CAST(\(parts[0]) AS TEXT) = \(name)"
    case .values, .none: return "\(try self.name(of: row)) = \(name)"
    }
  }
}
