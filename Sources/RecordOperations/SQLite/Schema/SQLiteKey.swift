/// What of a row is the name of its record.
package enum SQLiteKey: Hashable, Sendable {
  /// The text in a column.
  case text(column: String, collation: String)
  /// The whole number in a column, in decimal.
  case integer(column: String, isRowID: Bool)
  /// The number of the row, in decimal, under one of its names that no column has.
  case rowID(String)
  /// The values of columns, as a list in JSON.
  case values(columns: [String])
  /// Nothing: the rows of a view.
  case none

  /// That of the tables that are made for records.
  static let own = SQLiteKey.text(column: ownColumn, collation: "BINARY")
  static let ownColumn = "id"

  /// One of the names of the row's number that no column has; nil if each is taken.
  static func rowIDName(beside columns: [SQLiteColumn]) -> String? {
    let taken = Set(columns.map { SQLiteName.folded($0.name) })
    return ["rowid", "_rowid_", "oid"].first { !taken.contains(SQLiteName.folded($0)) }
  }

  /// Whether a column is the name, and so no field.
  func isName(_ column: String) -> Bool {
    switch self {
    case .text(let own, _), .integer(let own, _): own == column
    case .rowID, .values, .none: false
    }
  }

  /// The columns that it is made of.
  var columns: [String] {
    switch self {
    case .text(let column, _), .integer(let column, _), .rowID(let column): [column]
    case .values(let columns): columns
    case .none: []
    }
  }

  /// Those, in quotes, behind the name of a row and a dot.
  func expressions(of row: String) throws -> [String] {
    try columns.map { "\(row).\(try SQLiteName.quoted($0))" }
  }

  /// What computes the name.
  func name(of row: String) throws -> String {
    let parts = try expressions(of: row)
    switch self {
    case .text: return parts[0]
    case .integer, .rowID: return "CAST(\(parts[0]) AS TEXT)"
    case .values:
      // What SQLite has for JSON may not be used in triggers of a schema that is not trusted.
      let values = parts.map {
        """
        CASE typeof(\($0)) WHEN 'blob' THEN '{"hex":"' || hex(\($0)) || '"}' WHEN 'null' THEN 'null' \
        WHEN 'text' THEN '"' || replace(replace(\($0), '\\', '\\\\'), '"', '\\"') || '"' \
        ELSE CAST(\($0) AS TEXT) END
        """
      }
      return "'[' || " + values.joined(separator: " || ',' || ") + " || ']'"
    case .none: return "NULL"
    }
  }

  /// What holds for the rows that have a name; nil if all have. A column for texts may have none in it.
  func isNamed(_ row: String) throws -> String? {
    switch self {
    case .text: "typeof(\(try expressions(of: row)[0])) = 'text'"
    case .integer(_, isRowID: false): "typeof(\(try expressions(of: row)[0])) = 'integer'"
    case .integer, .rowID, .values, .none: nil
    }
  }

  /// What holds for the row of one name, whose values ``values(of:in:)`` gives.
  func isRow(_ row: String) throws -> String {
    let parts = try expressions(of: row)
    switch self {
    case .text(_, let collation) where collation != "BINARY":
      // By the index first, and then byte by byte.
      return "\(parts[0]) = ?1 AND \(parts[0]) = ?1 COLLATE BINARY"
    case .text, .integer, .rowID: return "\(parts[0]) = ?1"
    case .values:
      return parts.enumerated().map { "\($1) IS ?\($0 + 1)" }.joined(separator: " AND ")
    case .none: return "0"
    }
  }

  /// What a record of that name has in the columns; nil if it can be the name of none.
  func values(of name: String) -> [SQLiteValue]? {
    switch self {
    case .text: return [.text(name)]
    case .integer, .rowID:
      guard let number = Int64(name), "\(number)" == name else { return nil }
      return [.integer(number)]
    case .values(let columns):
      guard let values = SQLiteKeyText.values(of: name), values.count == columns.count else {
        return nil
      }
      return values
    case .none: return nil
    }
  }

  /// What names have to be like, for errors.
  var expectation: String {
    switch self {
    case .text: "text"
    case .integer, .rowID: "a decimal integer"
    case .values(let columns):
      "a JSON list of the values of \(columns.joined(separator: ", ")), such as [1,\"a\"]"
    case .none: "none, because it is a view, which can only be queried"
    }
  }
}
