/// A table or a view of a file.
package final class SQLiteTable: Sendable {
  package enum Kind: String, Sendable { case table, view, virtual, shadow }

  package let name: String
  package let kind: Kind
  /// Whether its rows have numbers.
  package let hasRowID: Bool
  package let columns: [SQLiteColumn]
  package let foreignKeys: [SQLiteForeignKey]
  /// What its records are called by.
  package let key: SQLiteKey
  /// Whether it was made for records, and not by somebody else.
  package let isOwn: Bool
  /// Whether the states of its rows are kept.
  package let isTracked: Bool
  /// What statements say for it.
  let texts: SQLiteTableTexts

  private let columnsByName: [String: SQLiteColumn]

  /// - Throws: A ``RecordError`` if a name cannot be one.
  init(
    name: String, kind: Kind, hasRowID: Bool, columns: [SQLiteColumn],
    foreignKeys: [SQLiteForeignKey], key: SQLiteKey, isOwn: Bool, isTracked: Bool
  ) throws {
    self.name = name
    self.kind = kind
    self.hasRowID = hasRowID
    self.columns = columns
    self.foreignKeys = foreignKeys
    self.key = key
    self.isOwn = isOwn
    self.isTracked = isTracked
    columnsByName = Dictionary(columns.map { ($0.name, $0) }) { first, _ in first }
    texts = try SQLiteTableTexts(name: name, key: key, isTracked: isTracked)
  }

  /// A column by its name, byte by byte; nil if there is none.
  func column(named name: String) -> SQLiteColumn? {
    if let column = columnsByName[name], column.name.utf8.elementsEqual(name.utf8) { return column }
    return columns.first { $0.name.utf8.elementsEqual(name.utf8) }
  }

  /// What of a row is in the fields of its record: the name has the rest.
  package var fields: [SQLiteColumn] { columns.filter { !$0.isHidden && !key.isName($0.name) } }

  /// A column that is compared or sorted by: one for a field, or for the name of the record.
  ///
  /// - Throws: A ``RecordError`` that names those that there are.
  func queriedColumn(_ key: String) throws -> SQLiteColumn {
    if let column = column(named: key), !column.isHidden { return column }
    throw missing(key)
  }

  /// What is said of a column that is not there.
  func missing(_ key: String, _ place: String = "") -> RecordError {
    let names = columns.filter { !$0.isHidden }.map(\.name).joined(separator: ", ")
    return RecordError(
      .invalid("\(name) has no column \(key.shown)\(place); columns: \(names)"))
  }

  /// The column for a field.
  ///
  /// - Throws: A ``RecordError`` that names those that there are.
  func column(_ key: String) throws -> SQLiteColumn {
    if let column = column(named: key) {
      guard !self.key.isName(column.name) else {
        throw RecordError(
          .invalid("the column \(key) of \(name) is the name of the record, not a field of it")
        )
      }
      return column
    }
    let names = fields.map(\.name).joined(separator: ", ")
    throw RecordError(.invalid("\(name) has no column \(key); columns: \(names)"))
  }
}

/// Columns of a table whose values are keys of another.
package struct SQLiteForeignKey: Sendable {
  package let columns: [String]
  package let parent: String
  /// The columns of the other table; empty if it is its primary key.
  package let parentColumns: [String]
  /// What becomes of a row when the one that it leads to is deleted, as SQLite calls it.
  package let onDelete: String

  /// A default is about as good as null: the row stays, and does not lead there any more.
  var rule: RecordReference.DeleteRule {
    switch onDelete {
    case "CASCADE": .cascade
    case "SET NULL", "SET DEFAULT": .nullify
    default: .deny
    }
  }
}
