internal import SQLiteSupport
internal import SystemSupport

/// The part of a row that is the name of its record.
package enum SQLiteKey: Hashable, Sendable {
  /// The text of a column.
  case text(column: String, collation: String)
  /// The integer of a column, in decimal.
  case integer(column: String, isRowID: Bool)
  /// The row ID, in decimal, under one of its aliases that is not a column.
  case rowID(String)
  /// The values of columns, as a JSON list.
  case values(columns: [String])
  /// No name: the rows of a view, or of a table without a key.
  case none

  /// The key of tables that are created here.
  static let own = SQLiteKey.text(column: ownColumn, collation: "BINARY")
  static let ownColumn = "id"

  /// Returns an alias of the row ID that is not a column; nil if all are columns.
  static func rowIDName(beside columns: [SQLiteColumn]) -> String? {
    let taken = Set(columns.map { SQLiteName.folded($0.name) })
    return ["rowid", "_rowid_", "oid"].first { !taken.contains(SQLiteName.folded($0)) }
  }

  /// Returns whether a column is the name, and therefore not a field.
  func isName(_ column: String) -> Bool {
    switch self {
    case .text(let own, _), .integer(let own, _): own == column
    case .rowID, .values, .none: false
    }
  }

  /// The columns of the key.
  var columns: [String] {
    switch self {
    case .text(let column, _), .integer(let column, _), .rowID(let column): [column]
    case .values(let columns): columns
    case .none: []
    }
  }

  /// Returns the quoted columns, qualified by the alias of a row.
  func expressions(of row: String) throws -> [String] {
    try columns.map { "\(row).\(try SQLiteName.quoted($0))" }
  }

  /// Returns an expression for the name.
  func name(of row: String) throws -> String {
    let parts = try expressions(of: row)
    switch self {
    case .text: return parts[0]
    case .integer, .rowID: return "CAST(\(parts[0]) AS TEXT)"
    case .values:
      // The JSON functions of SQLite may not be allowed in triggers of an untrusted schema.
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

  /// Returns a condition for the rows that have a name; nil if all have. A text column may also
  /// hold null or bytes.
  func isNamed(_ row: String) throws -> String? {
    switch self {
    case .text: "typeof(\(try expressions(of: row)[0])) = 'text'"
    case .integer(_, isRowID: false): "typeof(\(try expressions(of: row)[0])) = 'integer'"
    case .integer, .rowID, .values, .none: nil
    }
  }

  /// Returns a condition for the row with a name, whose parameters are ``values(of:)``.
  func isRow(_ row: String) throws -> String {
    let parts = try expressions(of: row)
    switch self {
    case .text(_, let collation) where collation != "BINARY":
      // The first comparison uses the index; the second one compares byte by byte.
      return "\(parts[0]) = ?1 AND \(parts[0]) = ?1 COLLATE BINARY"
    case .text, .integer, .rowID: return "\(parts[0]) = ?1"
    case .values:
      return parts.enumerated().map { "\($1) IS ?\($0 + 1)" }.joined(separator: " AND ")
    case .none: return "0"
    }
  }

  /// Returns the values of the columns for a record name; nil if no record can have it.
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

  /// A description of valid names, for errors.
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

/// Record names that are JSON lists of values: `[1,"a",{"hex":"00FF"}]`.
private enum SQLiteKeyText {
  /// Returns the values of a name; nil if it is not such a list.
  static func values(of name: String) -> [SQLiteValue]? {
    guard case .list(let parts)? = JSONValue(parsing: name) else { return nil }
    var values: [SQLiteValue] = []
    for part in parts {
      switch part {
      case .null: values.append(.null)
      case .integer(let number): values.append(.integer(number))
      case .double(let number): values.append(.real(number))
      case .string(let text): values.append(.text(text))
      case .object(let members):
        guard case .string(let digits)? = members["hex"], members.count == 1,
          let bytes = Self.bytes(hexadecimal: digits)
        else { return nil }
        values.append(.blob(bytes))
      case .boolean, .list: return nil
      }
    }
    return values
  }

  private static func bytes(hexadecimal text: String) -> [UInt8]? {
    let digits = Array(text.utf8)
    guard digits.count.isMultiple(of: 2) else { return nil }
    var bytes: [UInt8] = []
    for index in stride(from: 0, to: digits.count, by: 2) {
      let pair = String(decoding: digits[index..<index + 2], as: UTF8.self)
      guard let byte = UInt8(pair, radix: 16), pair.first != "+" else { return nil }
      bytes.append(byte)
    }
    return bytes
  }
}
