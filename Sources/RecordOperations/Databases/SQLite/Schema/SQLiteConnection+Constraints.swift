internal import SQLiteSupport

extension SQLiteConnection {
  /// Adapts the constraints of a table that was created here to those of a remote table: a UNIQUE constraint is an index,
  /// which is created or dropped. NOT NULL and DEFAULT are clauses of a new table; those that the remote table does not
  /// have any more are removed. Must be called in a transaction.
  ///
  /// - Parameter mirror: The name of the mirror, for the names of its indexes.
  /// - Returns: Whether the table has these UNIQUE constraints now, and no other clauses; otherwise local records have the
  ///   same values, or an object of another program prevents it.
  /// - Throws: A ``SQLiteError``.
  func adapt(
    _ type: String, to constraints: TableConstraints, of mirror: String
  ) throws -> Bool {
    guard let table = try table(type), table.isOwn else { return false }
    do {
      return try savepoint {
        try relax(table, to: constraints)
        return try index(table, constraints.unique, of: mirror)
      }
    } catch {
      // Such as a view of another program that has the column.
      _ = try failure(error, of: RecordID(type, ""))
      return false
    }
  }

  // MARK: Columns

  /// Removes clauses that the remote table does not have.
  private func relax(_ table: SQLiteTable, to constraints: TableConstraints) throws {
    let columns = try fetchAll(
      "SELECT name, \"notnull\", dflt_value FROM pragma_table_info(?1) WHERE pk = 0",
      [.text(table.name)]
    ) { row in
      (
        name: row.text(at: 0) ?? "",
        clauses: ColumnClauses(isRequired: row.integer(at: 1) != 0, defaultText: row.text(at: 2))
      )
    }
    for (name, present) in columns where present != ColumnClauses() {
      let remote = try constraints.clauses(of: name)
      var clauses = present
      if !remote.isRequired { clauses.isRequired = false }
      if remote.defaultText != present.defaultText { clauses.defaultText = nil }
      if clauses == present { continue }
      // A column that is added cannot be required without a default.
      if clauses.defaultText == nil { clauses.isRequired = false }
      try replace(name, of: table, clauses)
    }
  }

  /// Replaces a column by one with the same values and other clauses, because SQLite cannot change them.
  private func replace(_ name: String, of table: SQLiteTable, _ clauses: ColumnClauses) throws {
    guard let column = table.column(named: name), let sample = column.sample else { return }
    let (target, old, new) = (table.sql.table, column.quoted, "_mirror_\(name)")
    let indexes = try indexes(of: table, named: "").filter { index in
      try fetchOne(
        "SELECT 1 FROM pragma_index_xinfo(?1) WHERE name = ?2", [.text(index.name), .text(name)]
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

  // MARK: UNIQUE

  /// - Returns: Whether all are there.
  private func index(
    _ table: SQLiteTable, _ unique: [[String]], of mirror: String
  ) throws -> Bool {
    let prefix = "_mirror_\(mirror)_\(table.name)_"
    var needed: [String: [String]] = [:]
    // The column of a reference to a type that is not mirrored is created with the first reference.
    for key in unique where key.allSatisfy({ table.column(named: $0) != nil }) {
      let columns = try key.map { try SQLiteName.quoted($0) }.joined(separator: ", ")
      let name = try SQLiteName.quoted(prefix + key.joined(separator: "_"))
      needed["CREATE UNIQUE INDEX \(name) ON \(table.sql.table) (\(columns))"] = key
    }
    var areComplete = true
    for index in try indexes(of: table, named: prefix)
    where needed.removeValue(forKey: index.sql) == nil {
      try execute("DROP INDEX \(SQLiteName.quoted(index.name))")
    }
    for (sql, key) in needed.sorted(by: { $0.key < $1.key }) {
      guard try recordsWithSame(key, in: table) == nil else {
        areComplete = false
        continue
      }
      try execute(sql)
    }
    return areComplete
  }
}
