internal import SQLiteSupport

/// The changes that give a table the constraints of a remote table.
private struct ConstraintChanges {
  /// The columns that get other clauses, which SQLite can change only by another column.
  var columns: [(column: SQLiteColumn, clauses: ColumnClauses)] = []
  var droppedIndexes: [String] = []
  /// The statements that create indexes.
  var createdIndexes: [String] = []

  var isEmpty: Bool { columns.isEmpty && droppedIndexes.isEmpty && createdIndexes.isEmpty }
}

// A UNIQUE constraint of a remote table is an index here, which is created and dropped as there. NOT NULL and DEFAULT are
// clauses of a new table; those that the remote table does not have any more are removed.
extension SQLiteConnection {
  /// Whether a table that was created here has the constraints of a remote table, as far as its records permit it.
  ///
  /// - Parameter mirror: The name of the mirror, for the names of its indexes.
  /// - Throws: A ``SQLiteError``.
  func has(
    _ constraints: TableConstraints, in type: String, of mirror: String
  ) throws -> Bool {
    guard let table = try table(type), table.isOwn else { return true }
    return try changes(of: table, to: constraints, of: mirror).isEmpty
  }

  /// Gives a table that was created here the constraints of a remote table. Must be called in a transaction.
  ///
  /// - Parameter mirror: The name of the mirror, for the names of its indexes.
  /// - Throws: A ``SQLiteError``.
  func adopt(
    _ constraints: TableConstraints, in type: String, of mirror: String
  ) throws {
    guard let table = try table(type), table.isOwn else { return }
    let changes = try changes(of: table, to: constraints, of: mirror)
    do {
      try savepoint {
        for name in changes.droppedIndexes { try execute("DROP INDEX \(SQLiteName.quoted(name))") }
        for (column, clauses) in changes.columns { try replace(column, of: table, clauses) }
        for sql in changes.createdIndexes { try execute(sql) }
      }
    } catch {
      // Such as a view of another program that has the column.
      _ = try failure(error, of: RecordID(type, ""))
    }
  }

  private func changes(
    of table: SQLiteTable, to constraints: TableConstraints, of mirror: String
  ) throws -> ConstraintChanges {
    var changes = ConstraintChanges()
    let columns = try fetchAll(
      """
      SELECT name, "notnull", dflt_value FROM pragma_table_info(?1) \
      WHERE pk = 0 AND ("notnull" OR dflt_value IS NOT NULL)
      """, [.text(table.name)]
    ) { row in
      (
        name: row.text(at: 0) ?? "",
        clauses: ColumnClauses(isRequired: row.integer(at: 1) != 0, defaultText: row.text(at: 2))
      )
    }
    for (name, present) in columns {
      let remote = try constraints.clauses(of: name)
      // A column that is added cannot be required without a default.
      var clauses = remote.defaultText == present.defaultText ? present : ColumnClauses()
      if !remote.isRequired { clauses.isRequired = false }
      guard clauses != present, let column = table.column(named: name) else { continue }
      changes.columns.append((column, clauses))
    }

    let prefix = "_mirror_\(mirror)_\(table.name)_"
    var needed: [String: [String]] = [:]
    // The column of a reference to a type that is not mirrored is created with the first reference.
    for key in constraints.unique where key.allSatisfy({ table.column(named: $0) != nil }) {
      let columns = try key.map { try SQLiteName.quoted($0) }.joined(separator: ", ")
      let name = try SQLiteName.quoted(prefix + key.joined(separator: "_"))
      needed["CREATE UNIQUE INDEX \(name) ON \(table.sql.table) (\(columns))"] = key
    }
    for index in try indexes(of: table, named: prefix)
    where needed.removeValue(forKey: index.sql) == nil {
      changes.droppedIndexes.append(index.name)
    }
    // While local records have the same values, there can be no index.
    changes.createdIndexes = try needed.filter { try recordsWithSame($1, in: table) == nil }
      .keys.sorted()
    return changes
  }

  /// Replaces a column by one with the same values and other clauses.
  private func replace(
    _ column: SQLiteColumn, of table: SQLiteTable, _ clauses: ColumnClauses
  ) throws {
    guard let sample = column.sample else { return }
    let (target, old, new) = (table.sql.table, column.quoted, "_mirror_\(column.name)")
    let indexes = try indexes(of: table, named: "").filter { index in
      try fetchOne(
        "SELECT 1 FROM pragma_index_xinfo(?1) WHERE name = ?2",
        [.text(index.name), .text(column.name)]
      ) { _ in true } ?? false
    }
    for index in indexes { try execute("DROP INDEX \(SQLiteName.quoted(index.name))") }
    let definition = try definition(of: new, for: sample, in: table.name)
    try execute("ALTER TABLE \(target) ADD COLUMN \(definition)\(clauses.text)")
    // The records stay as they are.
    let quoted = try SQLiteName.quoted(new)
    try withoutTriggers { try execute("UPDATE \(target) SET \(quoted) = \(old)") }
    try execute("ALTER TABLE \(target) DROP COLUMN \(old)")
    try execute("ALTER TABLE \(target) RENAME COLUMN \(quoted) TO \(old)")
    for index in indexes { try execute(index.sql) }
    schema.changed()
  }
}
