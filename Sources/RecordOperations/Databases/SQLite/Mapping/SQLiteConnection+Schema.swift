internal import SQLiteSupport
internal import SystemSupport

extension SQLiteConnection {
  /// Returns the sorted names of the tables and views, without the internal ones of SQLite and of
  /// this module.
  ///
  /// - Throws: A ``SQLiteError``.
  package func tables() throws -> [String] {
    try entries().filter { $0.kind != .shadow }.map(\.name)
  }

  /// Returns a table or a view.
  ///
  /// - Returns: Nil if there is none with this name.
  /// - Throws: A ``SQLiteError``; a ``RecordError`` if there is one whose name differs only in
  ///   case, which SQLite ignores.
  package func table(_ name: String) throws -> SQLiteTable? {
    let entries = try entries()
    if let table = schema.tables[name], table.name.hasSameBytes(as: name) { return table }
    let folded = SQLiteName.folded(name)
    guard let entry = entries.first(where: { SQLiteName.folded($0.name) == folded }) else {
      return nil
    }
    guard entry.name.hasSameBytes(as: name) else {
      throw RecordError(
        .invalid("\(name) differs from the table \(entry.name) only in case, which SQLite ignores"))
    }
    let table = try read(entry)
    schema.tables[name] = table
    return table
  }

  /// Clears the cached schema if it has changed. The result is valid for the current transaction.
  func refreshSchema() throws {
    let schema = schema
    if schema.isCurrent { return }
    let version = try fetchOne("PRAGMA schema_version") { $0.integer(at: 0) } ?? 0
    schema.use(version, isInTransaction: isInTransaction)
  }

  private func entries() throws -> [SQLiteSchemaCache.Entry] {
    try refreshSchema()
    if let entries = schema.entries { return entries }
    let entries = try fetchAll(
      """
      SELECT name, type, wr FROM pragma_table_list
      WHERE schema = 'main' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' \
      AND name NOT LIKE '\\_record%' ESCAPE '\\' ORDER BY name
      """
    ) { row in
      SQLiteSchemaCache.Entry(
        name: row.text(at: 0) ?? "",
        kind: SQLiteTable.Kind(rawValue: row.text(at: 1) ?? "") ?? .table,
        hasRowID: row.integer(at: 2) == 0)
    }
    schema.entries = entries
    return entries
  }

  private func read(_ entry: SQLiteSchemaCache.Entry) throws -> SQLiteTable {
    let foreignKeys = try foreignKeys(of: entry.name)
    var columns: [SQLiteColumn] = []
    let rows = try fetchAll(
      "SELECT name, type, \"notnull\", pk, hidden FROM pragma_table_xinfo(?1) ORDER BY cid",
      [.text(entry.name)]
    ) { row in
      (
        name: row.text(at: 0) ?? "", type: row.text(at: 1) ?? "",
        isRequired: row.integer(at: 2) != 0,
        keyPosition: Int(row.integer(at: 3)), hidden: row.integer(at: 4)
      )
    }
    for row in rows {
      columns.append(
        SQLiteColumn(
          name: row.name, quoted: try SQLiteName.quoted(row.name), declaredType: row.type,
          affinity: SQLiteAffinity(declaredType: row.type),
          collation: entry.kind == .table
            ? collation(ofColumn: row.name, in: entry.name) : "BINARY",
          isRequired: row.isRequired, keyPosition: row.keyPosition, isHidden: row.hidden == 1,
          isGenerated: row.hidden > 1,
          meaning: try meaning(of: row.name, row.type, foreignKeys)))
    }
    return try SQLiteTable(
      name: entry.name, kind: entry.kind, hasRowID: entry.hasRowID && entry.kind != .view,
      columns: columns, foreignKeys: foreignKeys, key: key(of: entry, columns),
      isOwn: try isOwn(entry.name), isTracked: try isTracked(entry.name),
      hasOtherTriggers: try hasOtherTriggers(entry.name))
  }

  private func foreignKeys(of table: String) throws -> [SQLiteForeignKey] {
    var keys: [Int64: (columns: [String], parent: String, parentColumns: [String], rule: String)] =
      [:]
    let rows = try fetchAll(
      "SELECT id, \"from\", \"table\", \"to\", on_delete FROM pragma_foreign_key_list(?1) ORDER BY id, seq",
      [.text(table)]
    ) { row in
      (
        row.integer(at: 0), row.text(at: 1) ?? "", row.text(at: 2) ?? "", row.text(at: 3),
        row.text(at: 4) ?? ""
      )
    }
    for (id, column, parent, parentColumn, rule) in rows {
      var key = keys[id] ?? ([], parent, [], rule)
      key.columns.append(column)
      if let parentColumn { key.parentColumns.append(parentColumn) }
      keys[id] = key
    }
    return keys.sorted { $0.key < $1.key }.map {
      SQLiteForeignKey(
        columns: $0.value.columns, parent: $0.value.parent,
        parentColumns: $0.value.parentColumns, onDelete: $0.value.rule)
    }
  }

  private func meaning(
    of column: String, _ type: String, _ foreignKeys: [SQLiteForeignKey]
  ) throws -> SQLiteMeaning {
    let folded = SQLiteName.folded(column)
    for key in foreignKeys
    where key.columns.count == 1 && key.columns.map(SQLiteName.folded) == [folded] {
      let parents = try entries().filter {
        SQLiteName.folded($0.name) == SQLiteName.folded(key.parent)
      }
      // A reference to a table that does not exist yet can only use its record names.
      guard let parent = parents.first else { return .foreignKey(type: key.parent, key.rule) }
      guard let parentKey = try nameColumn(of: parent.name) else { return .plain }
      guard
        key.parentColumns.isEmpty
          || key.parentColumns.map(SQLiteName.folded) == [SQLiteName.folded(parentKey)]
      else { return .plain }
      return .foreignKey(type: parent.name, key.rule)
    }
    return switch type.uppercased() {
    case "TEXT DATE": .date
    case "TEXT LIST": .list
    case "TEXT REFERENCE": .keptReference
    default: .plain
    }
  }

  /// Returns the only key column of a table, which contains its record names; nil if there is none.
  private func nameColumn(of table: String) throws -> String? {
    let keys = try fetchAll(
      "SELECT name, type FROM pragma_table_xinfo(?1) WHERE pk > 0", [.text(table)]
    ) { ($0.text(at: 0) ?? "", SQLiteAffinity(declaredType: $0.text(at: 1) ?? "")) }
    guard keys.count == 1, let key = keys.first, [.text, .integer].contains(key.1) else {
      return nil
    }
    return key.0
  }

  private func key(
    of entry: SQLiteSchemaCache.Entry, _ columns: [SQLiteColumn]
  ) -> SQLiteKey {
    guard entry.kind != .view else { return .none }
    let keys = columns.filter { $0.keyPosition > 0 }.sorted { $0.keyPosition < $1.keyPosition }
    if keys.count == 1, let key = keys.first {
      if key.affinity == .text { return .text(column: key.name, collation: key.collation) }
      if key.affinity == .integer {
        // INT PRIMARY KEY is not a row ID, and may hold text.
        let isRowID = entry.hasRowID && key.declaredType.uppercased() == "INTEGER"
        return .integer(column: key.name, isRowID: isRowID)
      }
    }
    if keys.count <= 1, entry.hasRowID, let free = SQLiteKey.rowIDName(beside: columns) {
      return .rowID(free)
    }
    return keys.isEmpty ? .none : .values(columns: keys.map(\.name))
  }

  private func isOwn(_ table: String) throws -> Bool {
    guard try hasTrackingTables() else { return false }
    return try fetchOne(
      "SELECT 1 FROM \"_record_types\" WHERE type = ?1", [.text(table)], { _ in true }) ?? false
  }

  private func isTracked(_ table: String) throws -> Bool {
    let count = try fetchOne(
      "SELECT count(*) FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = ?1 AND name IN (?2, ?3, ?4, ?5)",
      [.text(table)] + SQLiteTracking.triggerNames(for: table).map { .text($0) }
    ) { $0.integer(at: 0) }
    return count == 4
  }

  private func hasOtherTriggers(_ table: String) throws -> Bool {
    try fetchOne(
      """
      SELECT 1 FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = ?1 COLLATE NOCASE \
      AND name NOT IN (?2, ?3, ?4, ?5)
      """, [.text(table)] + SQLiteTracking.triggerNames(for: table).map { .text($0) }
    ) { _ in true } ?? false
  }

  /// Returns whether the file has the tables for the states of records.
  package func hasTrackingTables() throws -> Bool { try hasTable("_record_states") }

  /// Returns whether the file has a table, perhaps one that does not hold records.
  func hasTable(_ name: String) throws -> Bool {
    try fetchOne(
      "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1", [.text(name)],
      { _ in true }
    ) ?? false
  }
}
