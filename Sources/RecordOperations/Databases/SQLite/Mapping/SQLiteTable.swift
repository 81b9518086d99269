internal import SQLiteSupport
internal import SystemSupport

/// A table or a view of a file.
package final class SQLiteTable: Sendable {
  package enum Kind: String, Sendable { case table, view, virtual, shadow }

  package let name: String
  package let kind: Kind
  /// Whether its rows have row IDs.
  package let hasRowID: Bool
  package let columns: [SQLiteColumn]
  package let foreignKeys: [SQLiteForeignKey]
  /// The key that contains the names of its records.
  package let key: SQLiteKey
  /// Whether it was created here, and not by another program.
  package let isOwn: Bool
  /// Whether triggers track the states of its rows.
  package let isTracked: Bool
  /// Whether it has triggers that do not track its rows.
  let hasOtherTriggers: Bool
  /// SQL fragments for the table.
  let sql: SQLiteTableSQL

  private let columnsByName: [String: SQLiteColumn]

  /// - Throws: A ``RecordError`` if a name contains a NUL.
  init(
    name: String, kind: Kind, hasRowID: Bool, columns: [SQLiteColumn],
    foreignKeys: [SQLiteForeignKey], key: SQLiteKey, isOwn: Bool, isTracked: Bool,
    hasOtherTriggers: Bool
  ) throws {
    self.name = name
    self.kind = kind
    self.hasRowID = hasRowID
    self.columns = columns
    self.foreignKeys = foreignKeys
    self.key = key
    self.isOwn = isOwn
    self.isTracked = isTracked
    self.hasOtherTriggers = hasOtherTriggers
    columnsByName = Dictionary(columns.map { ($0.name, $0) }) { first, _ in first }
    sql = try SQLiteTableSQL(name: name, key: key, isTracked: isTracked)
  }

  /// Returns the column with a name, compared byte by byte; nil if there is none.
  func column(named name: String) -> SQLiteColumn? {
    if let column = columnsByName[name], column.name.hasSameBytes(as: name) { return column }
    return columns.first { $0.name.hasSameBytes(as: name) }
  }

  /// The columns that are fields of a record, without its name.
  package var fields: [SQLiteColumn] { columns.filter { !$0.isHidden && !key.isName($0.name) } }

  /// Whether it stores each value that its columns take as it is. References may get another delete
  /// rule, and a table of another program may convert values.
  var storesRecordsAsTheyAre: Bool {
    isOwn
      && columns.allSatisfy { column in
        switch column.meaning {
        case .plain, .date, .list: column.isWritable
        case .keptReference, .foreignKey: false
        }
      }
  }

  /// Returns a column for a condition or an order: a field, or the name of the record.
  ///
  /// - Throws: A ``RecordError`` that lists the existing columns.
  func queriedColumn(_ key: String) throws -> SQLiteColumn {
    if let column = column(named: key), !column.isHidden { return column }
    throw missing(key)
  }

  /// Returns the error for a column that does not exist.
  func missing(_ key: String, _ place: String = "") -> RecordError {
    let names = columns.filter { !$0.isHidden }.map(\.name).joined(separator: ", ")
    return RecordError(
      .invalid("\(name) has no column \(key.shortText)\(place); columns: \(names)"))
  }

  /// Returns the column of a field.
  ///
  /// - Throws: A ``RecordError`` that lists the existing columns.
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

/// A foreign key.
package struct SQLiteForeignKey: Sendable {
  package let columns: [String]
  package let parent: String
  /// The referenced columns; empty for the primary key.
  package let parentColumns: [String]
  /// The action when the referenced row is deleted, as SQLite names it.
  package let onDelete: String

  /// The delete rule. A default counts as null: the row stays, but no longer has the reference.
  var rule: RecordReference.DeleteRule {
    switch onDelete {
    case "CASCADE": .cascade
    case "SET NULL", "SET DEFAULT": .nullify
    default: .deny
    }
  }
}

/// SQL fragments for a table whose rows have the alias `t`.
struct SQLiteTableSQL: Sendable {
  /// The quoted name of the table.
  let table: String
  /// An expression for the name of a row.
  let name: String
  /// A condition for the row with a name. The values of the name are the first parameters.
  let isRow: String
  /// A query for the state of the row with a name: whether it exists, its sequence, and when it was
  /// modified.
  let state: String

  /// - Throws: A ``RecordError`` if a name contains a NUL.
  init(name table: String, key: SQLiteKey, isTracked: Bool) throws {
    self.table = try SQLiteName.quoted(table)
    name = try key.name(of: "t")
    isRow = try key.isRow("t")
    let states =
      isTracked
      ? """
      s.sequence, s.modified FROM \(self.table) AS t LEFT JOIN "_record_states" AS s \
      ON s.type = \(try SQLiteName.literal(table)) AND s.name = \(name) AND s.deleted = 0
      """ : "NULL, NULL FROM \(self.table) AS t"
    state = "SELECT 1, \(states) WHERE \(isRow)"
  }
}
