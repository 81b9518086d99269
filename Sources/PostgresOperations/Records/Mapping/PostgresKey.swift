internal import RecordOperations
internal import SystemSupport

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// The part of a row that is the name of its record.
enum PostgresKey: Sendable {
  /// The value of a column: text, or an integer in decimal.
  case column(PostgresColumn)
  /// The values of columns, as a JSON list.
  case values([PostgresColumn])
  /// No name: the rows of a view, or of a table without a primary key that can be a name.
  case none

  /// The name of the key column in tables that are created here.
  static let ownColumn = "id"

  /// - Parameter columns: The columns of the primary key.
  init(_ columns: [PostgresColumn]) {
    let isUsable = columns.allSatisfy { column in
      switch column.kind {
      case .integer, .text, .uuid, .foreignKey: true
      case .boolean, .double, .real, .enumeration, .bytes, .date, .list, .keptReference, .null,
        .other:
        false
      }
    }
    if columns.isEmpty || !isUsable {
      self = .none
    } else {
      self = columns.count == 1 ? .column(columns[0]) : .values(columns)
    }
  }

  var columns: [PostgresColumn] {
    switch self {
    case .column(let column): [column]
    case .values(let columns): columns
    case .none: []
    }
  }

  var isNone: Bool { columns.isEmpty }

  /// Returns whether a column is the name, and therefore not a field.
  func isName(_ column: String) -> Bool {
    if case .column(let own) = self { own.name == column } else { false }
  }

  /// Returns an expression for the name of a row, as the states of records contain it.
  func name(of row: String) -> String {
    switch self {
    case .column(let column): return "\(row).\(column.quoted)::text"
    case .values(let columns):
      let parts = columns.map { column in
        Self.isInteger(column)
          ? "\(row).\(column.quoted)::text" : "to_json(\(row).\(column.quoted)::text)::text"
      }
      return "'[' || " + parts.joined(separator: " || ',' || ") + " || ']'"
    case .none: return "NULL::text"
    }
  }

  /// Returns the name of a record from the result of ``name(of:)``.
  func decoded(_ name: String) -> String {
    if case .column(let column) = self { column.decoded(name) } else { name }
  }

  /// Returns the texts of the columns for the name of a record; nil if no record can have it.
  func values(of name: String) -> [String]? {
    switch self {
    case .column(let column): return Self.stored(name, column).map { [$0] }
    case .values(let columns):
      guard case .list(let parts)? = JSONValue(parsing: name), parts.count == columns.count else {
        return nil
      }
      var texts: [String] = []
      var json = JSONWriter(escaping: .sqlite)
      json.array { json in
        for (part, column) in zip(parts, columns) {
          switch part {
          case .integer(let number) where Self.isInteger(column):
            json.integer(number)
            texts.append("\(number)")
          case .string(let text) where !Self.isInteger(column):
            json.string(text)
            if let stored = Self.stored(text, column) { texts.append(stored) }
          default: break
          }
        }
      }
      // A name has only one form, because the states of records contain it.
      return texts.count == columns.count && json.text.hasSameBytes(as: name) ? texts : nil
    case .none: return nil
    }
  }

  private static func isInteger(_ column: PostgresColumn) -> Bool {
    switch column.kind {
    case .integer, .foreignKey(_, _, isInteger: true): true
    default: false
    }
  }

  private static func stored(_ text: String, _ column: PostgresColumn) -> String? {
    if isInteger(column) {
      guard let number = Int64(text), "\(number)" == text else { return nil }
      if case .integer(let bits) = column.kind, !number.fits(in: bits) {
        return nil
      }
      return text
    }
    if column.kind == .uuid, UUID(uuidString: text)?.uuidString.lowercased() != text { return nil }
    let stored = column.encoded(text)
    return stored.utf8.contains(0) ? nil : stored
  }

  /// A description of valid names, for errors.
  var expectation: String {
    switch self {
    case .column(let column):
      Self.isInteger(column)
        ? "a decimal integer (\(column.declaredType))"
        : column.kind == .uuid ? "a UUID in lower case" : "text without a NUL (U+0000)"
    case .values(let columns):
      "a JSON list of the values of \(columns.map(\.name).joined(separator: ", ")), without spaces, "
        + "such as [1,\"a\"]"
    case .none: "none, because it has no primary key that can be the name of a record"
    }
  }
}
