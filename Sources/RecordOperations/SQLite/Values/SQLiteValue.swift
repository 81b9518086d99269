/// A value that SQLite stores or binds.
package enum SQLiteValue: Hashable, Sendable {
  case null
  case integer(Int64)
  case real(Double)
  case text(String)
  /// Text whose bytes are not UTF-8.
  case illFormedText([UInt8])
  case blob([UInt8])

  /// The storage classes of values, with the codes of `sqlite3_column_type`.
  package enum StorageClass: Int32, Sendable {
    case integer = 1
    case real = 2
    case text = 3
    case blob = 4
    case null = 5
  }

  /// The value in a cursor, the inverse of ``init(cursorValue:)``.
  var cursorValue: FieldValue {
    switch self {
    case .null: .null
    case .integer(let number): .integer(number)
    case .real(let number): .double(number)
    case .text(let text): .string(text)
    case .illFormedText(let bytes): .list([.bytes(bytes)])
    case .blob(let bytes): .bytes(bytes)
    }
  }

  /// Creates a value from its form in a cursor; nil if a cursor cannot contain it.
  init?(cursorValue: FieldValue) {
    switch cursorValue {
    case .null: self = .null
    case .integer(let number): self = .integer(number)
    case .double(let number): self = .real(number)
    case .string(let text): self = .text(text)
    case .bytes(let bytes): self = .blob(bytes)
    case .list(let values):
      guard values.count == 1, case .bytes(let bytes)? = values.first else { return nil }
      self = .illFormedText(bytes)
    case .date, .reference: return nil
    }
  }
}
