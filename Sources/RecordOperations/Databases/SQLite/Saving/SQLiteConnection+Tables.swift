internal import SQLiteSupport
internal import SystemSupport

extension SQLiteConnection {
  /// Returns the table to save a record in, and creates missing columns for its fields, in the
  /// order of the fields. Must be called in a transaction.
  ///
  /// - Parameter constraints: Those of a new table.
  /// - Throws: A ``SQLiteError``; a ``RecordError`` if a name is invalid, or the table cannot be
  ///   written.
  func table(
    toSave fields: [(key: String, value: FieldValue)], as type: String,
    constraints: TableConstraints = .none
  ) throws -> SQLiteTable {
    var table = try trackedTable(type, creating: fields, constraints)
    let missing = fields.filter { [table] key, value in
      guard let column = table.column(named: key) else { return true }
      // A column of a table that was created here has no type until it has a value.
      return table.isOwn && column.isUntyped && value != .null
    }
    if missing.isEmpty { return table }
    // Another program's table gets no new columns.
    if !table.isOwn, let (key, _) = missing.first { throw table.missing(key) }
    for (key, value) in missing {
      try addColumn(key, for: value, of: table)
      table = try self.table(type) ?? table
    }
    return table
  }

  /// Returns a table whose records are to change, and tracks their states.
  ///
  /// - Parameters:
  ///   - fields: The fields whose columns a new table gets; nil to create none.
  ///   - constraints: Those of a new table.
  /// - Throws: A ``SQLiteError``; a ``RecordError`` if the name is invalid, there is no such table,
  ///   or it cannot be written.
  func trackedTable(
    _ type: String, creating fields: [(key: String, value: FieldValue)]?,
    _ constraints: TableConstraints = .none
  ) throws -> SQLiteTable {
    try check(type)
    var table = try table(type)
    if table == nil, let fields { table = try createTable(type, for: fields, constraints) }
    guard let table else { throw RecordError(.unknownRecord) }
    if table.isTracked { return table }
    try track(table)
    return try self.table(type) ?? table
  }

  private func check(_ type: String) throws {
    // A cached name has been checked before.
    if schema.tables[type] != nil { return }
    let folded = SQLiteName.folded(type)
    for prefix in ["sqlite_", "_record"] where folded.starts(with: prefix.utf8) {
      throw RecordError(
        .invalid("the type name \(type) is reserved: it begins with \(prefix)"))
    }
    if type.isEmpty { throw RecordError(.invalid("a type name must not be empty")) }
  }

  /// Creates a table with row IDs. They cost an index for the names. Without them, larger rows
  /// would be moved again and again to keep all in the order of their names, which arrive in random
  /// order.
  ///
  /// Columns with foreign keys are omitted if their tables do not exist: they may have to be created first, or
  /// one may be this table.
  private func createTable(
    _ type: String, for fields: [(key: String, value: FieldValue)] = [],
    _ constraints: TableConstraints = .none
  ) throws -> SQLiteTable? {
    let own = SQLiteKey.ownColumn
    let key = "\(try SQLiteName.quoted(own)) TEXT PRIMARY KEY NOT NULL"
    var columns = fields.contains { $0.key == own } ? [] : [key]
    var names = [SQLiteName.folded(own): own]
    for (name, value) in fields {
      if name == own {
        columns.append(key)
        continue
      }
      if case .reference(let reference) = value, reference.onDelete != .keep,
        try table(reference.id.type) == nil
      {
        continue
      }
      if let other = names.updateValue(name, forKey: SQLiteName.folded(name)) {
        throw sameColumn(other, name, of: type)
      }
      let definition = try definition(of: name, for: value, in: type)
      columns.append(try definition + constraints.clauses(of: name).text)
    }
    try checkColumnCount(columns.count, of: type)
    try execute("CREATE TABLE \(SQLiteName.quoted(type)) (\(columns.joined(separator: ", ")))")
    schema.changed()
    guard let table = try table(type) else { return nil }
    try track(table)
    try execute("INSERT OR IGNORE INTO \"_record_types\" VALUES (?1)", [.text(type)])
    return try self.table(type)
  }

  private func addColumn(
    _ key: String, for value: FieldValue, of table: SQLiteTable
  ) throws {
    let folded = SQLiteName.folded(key)
    let target = try SQLiteName.quoted(table.name)
    if let column = table.columns.first(where: { SQLiteName.folded($0.name) == folded }) {
      guard column.name.hasSameBytes(as: key) else {
        throw sameColumn(column.name, key, of: table.name)
      }
      // Another program may have stored values in it, which stay as they are.
      let isEmpty =
        try fetchOne("SELECT 1 FROM \(target) WHERE \(column.quoted) IS NOT NULL") { _ in false }
        ?? true
      guard isEmpty else { return }
      try execute("ALTER TABLE \(target) DROP COLUMN \(SQLiteName.quoted(key))")
    } else {
      try checkColumnCount(table.columns.count + 1, of: table.name)
    }
    try execute(
      "ALTER TABLE \(target) ADD COLUMN \(definition(of: key, for: value, in: table.name))")
    schema.changed()
  }

  private func checkColumnCount(_ count: Int, of table: String) throws {
    if count <= columnLimit { return }
    throw RecordError(
      .invalid(
        """
        \(table) would have too many columns: \(count) (SQLite allows at most \(columnLimit)). \
        Divide them among several tables
        """
      ))
  }

  private func sameColumn(_ column: String, _ key: String, of table: String) -> RecordError {
    RecordError(
      .invalid(
        "\(key) differs from the column \(column) of \(table) only in case, which SQLite ignores"))
  }

  /// Returns the name of a column and its declaration.
  ///
  /// - Throws: A ``SQLiteError``; a ``RecordError`` if a name is invalid.
  func definition(
    of key: String, for value: FieldValue, in table: String
  ) throws -> String {
    if key.isEmpty { throw RecordError(.invalid("a field of \(table) has an empty name")) }
    return "\(try SQLiteName.quoted(key)) \(try value.declaration { try keyColumn(of: $0) })"
  }

  /// Returns the declared type and the quoted name of the key of a referenced table, which is
  /// created if it does not exist.
  private func keyColumn(of type: String) throws -> (type: String, name: String) {
    try check(type)
    let parent = try table(type) ?? createTable(type)
    switch parent?.key {
    case .text(let column, _)?: return ("TEXT", try SQLiteName.quoted(column))
    case .integer(let column, _)?: return ("INTEGER", try SQLiteName.quoted(column))
    case .rowID?, .values?, .none?, nil:
      throw RecordError(.invalid("\(type) has no key column that a reference can use"))
    }
  }
}
