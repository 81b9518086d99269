/// What SQLite keeps in a row, and what is bound to a statement.
package enum SQLiteValue: Hashable, Sendable {
  case null
  case integer(Int64)
  case real(Double)
  case text(String)
  /// A text whose bytes are no UTF-8.
  case illFormedText([UInt8])
  case blob([UInt8])

  /// The classes of values, by what `sqlite3_column_type` gives.
  package enum StorageClass: Int32, Sendable {
    case integer = 1
    case real = 2
    case text = 3
    case blob = 4
    case null = 5
  }

  /// It for a cursor, from which ``init(cursorValue:)`` makes it again.
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

  /// Nil if that is none of a cursor.
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
