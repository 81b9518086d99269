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
}
