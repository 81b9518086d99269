internal import SQLiteSupport

extension SQLiteConnection {
  /// Returns an error with the reference whose record does not exist, because SQLite does not name
  /// it.
  func violation(
    bySaving values: [(column: SQLiteColumn, value: SQLiteValue)]
  ) throws -> RecordError? {
    for (column, value) in values {
      guard case .reference(let reference) = column.fieldValue(value) else { continue }
      let parent = try? table(reference.id.type)
      if try parent.flatMap({ try record(reference.id.name, in: $0, keys: []) }) == nil {
        return RecordError(.referenceViolated(reference.id))
      }
    }
    return nil
  }

  /// Returns an error with the record that prevents a deletion: its reference is to the deleted
  /// record, or to a record that would be deleted with it.
  func violation(byDeleting name: String, of parent: SQLiteTable) throws -> RecordError? {
    let children = try tables().compactMap { try table($0) }
    return try RecordError.violation(byDeleting: RecordID(parent.name, name)) { next in
      try children.flatMap { child in
        try child.columns.flatMap { column in
          guard case .foreignKey(next.type, let rule) = column.meaning, rule != .nullify else {
            return [] as [(from: RecordID, rule: RecordReference.DeleteRule)]
          }
          return try rows(of: child, at: column, referencing: next.name).map { ($0, rule) }
        }
      }
    }
  }

  /// Returns the records whose foreign key refers to a record.
  func rows(
    of table: SQLiteTable, at column: SQLiteColumn, referencing name: String
  ) throws -> [RecordID] {
    let reader = try SQLiteRowReader(table, keys: [])
    return try fetchAll(
      "SELECT \(reader.selection) FROM \(table.sql.table) AS t WHERE t.\(column.quoted) = ?1",
      [.text(name)]
    ) { row in reader.record(row) { _ in .none }.id }
  }
}
