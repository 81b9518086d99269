internal import SQLiteSupport

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension SQLiteConnection {
  /// Changes a table to what a schema needs. Must be called in a transaction.
  ///
  /// - Throws: A ``SQLiteError``; a ``RecordError`` if the table cannot be changed in this way.
  func adopt(_ schema: RecordSchema) throws {
    for (former, current) in schema.renamed {
      try rename(former, to: current, of: schema.type)
    }
    for name in schema.removed { try remove(name, of: schema.type) }
    let table = try table(
      toSave: schema.fields.map { ($0.name, $0.takes.sample) }, as: schema.type)
    for (name, field) in schema.fields {
      guard let column = table.column(named: name), !field.fits(column) else { continue }
      throw RecordError(
        .invalid(
          """
          the column \(name) of \(table.name) is \(column.declaredType); its schema has \(field.text). Give the field \
          another name, or store its values again under that one
          """))
    }
    try index(schema, table)
  }

  // MARK: Columns

  /// Returns the table if it has a column that is to change.
  private func table(_ type: String, changing name: String) throws -> SQLiteTable? {
    guard let table = try table(type), let column = table.column(named: name) else { return nil }
    guard table.isOwn, table.kind == .table, !table.key.isName(column.name) else {
      throw RecordError(
        .invalid("\(type) was not created here, so its column \(name) is not changed here"))
    }
    let isMirrored =
      try hasTable(SQLiteTracking.mirrorBases)
      && fetchOne(
        "SELECT 1 FROM \"\(SQLiteTracking.mirrorBases)\" WHERE type = ?1 LIMIT 1",
        [.text(table.name)]
      ) { _ in true } ?? false
    if isMirrored {
      throw RecordError(
        .invalid(
          """
          \(type) is mirrored, so its field \(name) is not renamed or removed here. Rename or drop the column in the \
          remote database, whose values the mirror then fetches; leave \(name) out of the schema, or adopt it after \
          removeMirror()
          """))
    }
    return table
  }

  private func rename(_ former: String, to current: String, of type: String) throws {
    guard let table = try table(type, changing: former) else { return }
    let (target, old, new) = (
      try SQLiteName.quoted(type), try SQLiteName.quoted(former), try SQLiteName.quoted(current)
    )
    if table.column(named: current) == nil {
      try execute("ALTER TABLE \(target) RENAME COLUMN \(old) TO \(new)")
      schema.changed()
      // The triggers record that the records have changed.
      return try execute("UPDATE \(target) SET \(new) = \(new) WHERE \(new) IS NOT NULL")
    }
    let name = try table.key.name(of: "t")
    let differing = try fetchOne(
      """
      SELECT \(name) FROM \(target) AS t WHERE \(old) IS NOT NULL AND \(new) IS NOT NULL AND \(old) IS NOT \(new)
      """
    ) { $0.text(at: 0) ?? "" }
    if let differing {
      throw RecordError(
        .invalid(
          """
          \(type)/\(differing) has different values in \(former) and \(current), so \(former) cannot be renamed to \
          \(current); set one of them to null
          """))
    }
    try execute("UPDATE \(target) SET \(new) = \(old) WHERE \(old) IS NOT NULL AND \(new) IS NULL")
    try remove(former, of: type)
  }

  private func remove(_ name: String, of type: String) throws {
    guard let table = try table(type, changing: name) else { return }
    let (target, column) = (try SQLiteName.quoted(type), try SQLiteName.quoted(name))
    for index in try indexes(of: table, named: Self.indexPrefix) where index.sql.contains(column) {
      try execute("DROP INDEX \(SQLiteName.quoted(index.name))")
    }
    // The triggers record that the records have changed.
    try execute("UPDATE \(target) SET \(column) = NULL WHERE \(column) IS NOT NULL")
    try execute("ALTER TABLE \(target) DROP COLUMN \(column)")
    schema.changed()
  }

  // MARK: Indexes

  private func index(_ schema: RecordSchema, _ table: SQLiteTable) throws {
    var needed: [String: [String]] = [:]
    for (keys, kind) in [(schema.indexes, "INDEX"), (schema.unique, "UNIQUE INDEX")] {
      for key in keys {
        let columns = try key.map { try SQLiteName.quoted($0) }.joined(separator: ", ")
        let word = kind == "INDEX" ? "index" : "unique"
        let name = try SQLiteName.quoted(
          "\(Self.indexPrefix)\(word)_\(table.name)_\(key.joined(separator: "_"))")
        needed["CREATE \(kind) \(name) ON \(try SQLiteName.quoted(table.name)) (\(columns))"] = key
      }
    }
    for index in try indexes(of: table, named: Self.indexPrefix)
    where needed.removeValue(forKey: index.sql) == nil {
      try execute("DROP INDEX \(SQLiteName.quoted(index.name))")
    }
    for (sql, key) in needed.sorted(by: { $0.key < $1.key }) {
      if sql.hasPrefix("CREATE UNIQUE") { try checkUnique(key, of: table) }
      try execute(sql)
    }
  }

  private func checkUnique(_ key: [String], of table: SQLiteTable) throws {
    guard let (first, second) = try recordsWithSame(key, in: table) else { return }
    throw RecordError(
      .invalid(
        """
        \(table.name)/\(first) and \(table.name)/\(second) have the same \(key.joined(separator: ", ")), which the \
        schema of \(table.name) has as unique
        """))
  }

  /// Returns the names of two records that have the same values in some columns; nil if there are none.
  func recordsWithSame(_ key: [String], in table: SQLiteTable) throws -> (String, String)? {
    let columns = try key.map { "t.\(try SQLiteName.quoted($0))" }
    let name = try table.key.name(of: "t")
    return try fetchOne(
      """
      SELECT min(\(name)), max(\(name)) FROM \(SQLiteName.quoted(table.name)) AS t \
      WHERE \(columns.map { "\($0) IS NOT NULL" }.joined(separator: " AND ")) \
      GROUP BY \(columns.joined(separator: ", ")) HAVING count(*) > 1 LIMIT 1
      """
    ) { ($0.text(at: 0) ?? "", $0.text(at: 1) ?? "") }
  }

  private static let indexPrefix = "_record_"

  /// The indexes of a table whose names have a prefix.
  func indexes(
    of table: SQLiteTable, named prefix: String
  ) throws -> [(name: String, sql: String)] {
    try fetchAll(
      """
      SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND tbl_name = ?1 AND sql IS NOT NULL \
      AND substr(name, 1, length(?2)) = ?2
      """,
      [.text(table.name), .text(prefix)]
    ) { ($0.text(at: 0) ?? "", $0.text(at: 1) ?? "") }
  }
}

extension RecordSchema.Field {
  /// A value for which a column is created.
  fileprivate var sample: FieldValue {
    switch self {
    case .integer: .integer(0)
    case .double: .double(0)
    case .string: .string("")
    case .bytes: .bytes([])
    case .date: .date(Date(timeIntervalSince1970: 0))
    case .list: .list([])
    case .reference(let type, let rule):
      .reference(RecordReference(RecordID(type, ""), onDelete: rule))
    }
  }

  fileprivate func fits(_ column: SQLiteColumn) -> Bool {
    switch (self, column.meaning) {
    case (.date, .date), (.list, .list), (.reference(_, .keep), .keptReference): true
    case (.reference(let type, let rule), .foreignKey(let parent, let present)):
      type == parent && rule == present
    case (.integer, .plain) where column.storesAnyValue,
      (.double, .plain) where column.storesAnyValue:
      true
    case (.integer, .plain): column.affinity == .integer || column.affinity == .numeric
    case (.double, .plain): column.affinity == .real || column.affinity == .numeric
    case (.string, .plain): column.affinity == .text || column.storesAnyValue
    case (.bytes, .plain): column.affinity == .blob
    default: false
    }
  }

  fileprivate var text: String {
    switch self {
    case .reference(_, .keep): "references with the rule keep"
    case .reference(let type, let rule): "references to \(type) with the rule \(rule)"
    default: "\(self)"
    }
  }
}
