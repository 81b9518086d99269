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
    // The search stops at 10,000 records that would be deleted, too, to limit its time.
    var deleted: Set<RecordID> = [RecordID(parent.name, name)]
    var unvisited = [RecordID(parent.name, name)]
    while let next = unvisited.popLast(), deleted.count < 10_000 {
      for child in children {
        for column in child.columns {
          guard case .foreignKey(next.type, let rule) = column.meaning, rule != .nullify else {
            continue
          }
          for found in try rows(of: child, at: column, referencing: next.name)
          where !deleted.contains(found) {
            if rule == .deny { return RecordError(.referenceViolated(found)) }
            deleted.insert(found)
            unvisited.append(found)
          }
        }
      }
    }
    return nil
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
