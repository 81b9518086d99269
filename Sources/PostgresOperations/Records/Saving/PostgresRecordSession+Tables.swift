internal import RecordOperations
internal import SystemSupport

/// Creates tables and columns, and tracks tables.
extension PostgresRecordSession {
  /// The maximum number of columns of a table.
  private static let columnLimit = 1_600

  /// Excludes other requests that create tables or columns, and locks the tables that will change.
  ///
  /// - Throws: A ``PostgresError``.
  func beginCreation(of parts: PostgresMissingParts) throws {
    _ = try connection.rows(
      PostgresStatement(
        "lock the schema", "SELECT pg_advisory_xact_lock(hashtextextended($1::text, 0))"),
      [.text("record schema \(schema.name)")])
    let names = Array(Set(parts.fields.keys).union(parts.untracked))
    let tables = try load(names).values.compactMap(\.self).filter(\.isPlain)
    if tables.isEmpty { return }
    let list = tables.map(\.quoted).sorted().joined(separator: ", ")
    try execute(["LOCK TABLE \(list) IN ACCESS EXCLUSIVE MODE"])
  }

  /// Creates missing tables and columns, and tracks tables. Must be called after
  /// ``beginCreation(of:)``.
  ///
  /// - Throws: A ``PostgresError``; a ``RecordError`` if a table would have too many columns, or a
  ///   reference cannot use its table.
  func create(_ parts: PostgresMissingParts) throws {
    try createTrackingTables()
    let names = Array(Set(parts.fields.keys).union(parts.untracked))
    var tables = try load(names)
    for name in parts.untracked {
      guard let table = tables[name] ?? nil, !table.isTracked else { continue }
      try execute(
        triggers(of: name.text, table.key, isOwn: table.isOwn)
          + PostgresTracking.initialStates(of: name.text, key: table.key, in: schema))
    }
    let new = parts.fields.sorted { $0.key.text < $1.key.text }
    for (name, fields) in new where tables[name].flatMap(\.self) == nil {
      try createTable(name.text, for: fields)
    }
    tables = try load(names)
    for (name, fields) in new {
      guard let table = tables[name] ?? nil, table.isOwn else { continue }
      try addColumns(fields, to: table)
    }
    // Reads of the new definitions follow, whose versions differ from the cached ones.
    schema.forget(names)
  }

  /// Tracks tables. Must be called in a transaction.
  ///
  /// - Throws: A ``PostgresError``; a ``RecordError`` if a table does not exist or cannot be tracked.
  func track(_ types: [String]) throws {
    var parts = PostgresMissingParts()
    for type in types {
      guard let table = try load([TypeName(type)])[TypeName(type)] ?? nil else {
        throw RecordError(.invalid("no such table: \(type)"))
      }
      try table.checkIsWritable()
      if table.isTracked { continue }
      parts.track(type)
    }
    if parts.isEmpty {
      let database = try database()
      if !types.isEmpty || database.isTracked || database.tables == nil { return }
    }
    try beginCreation(of: parts)
    try create(parts)
  }

  /// Creates the trigger for notifications, unless it exists. Must be called in a transaction.
  ///
  /// - Throws: A ``PostgresError``.
  func createNotifications() throws {
    let exists = PostgresStatement(
      "find the trigger",
      """
      SELECT FROM pg_trigger WHERE tgrelid = to_regclass($1::text) \
      AND tgname = '\(PostgresTracking.notifyingTrigger)'
      """)
    if try connection.rows(exists, [.text(schema.states)]).count > 0 { return }
    try beginCreation(of: PostgresMissingParts())
    try createTrackingTables()
    // Another program may have created it before the lock.
    if try connection.rows(exists, [.text(schema.states)]).count > 0 { return }
    try execute(PostgresTracking.notifications(in: schema))
  }

  private func createTrackingTables() throws {
    let state = try connection.rows(
      PostgresStatement(
        "find the schema",
        "SELECT to_regnamespace($1::text) IS NULL, to_regclass($2::text) IS NULL"),
      [.text(schema.quoted), .text(schema.states)])
    var sql: [String] = []
    if state.boolean(0, 0) == true { sql.append("CREATE SCHEMA \(schema.quoted)") }
    if state.boolean(0, 1) == true { sql += PostgresTracking.tables(in: schema) }
    try execute(sql)
  }

  /// Creates a table. Columns with foreign keys are added later: the referenced tables may have to
  /// be created first, or may be this one.
  private func createTable(
    _ type: String, for fields: [(key: String, value: FieldValue)] = []
  ) throws {
    let own = PostgresKey.ownColumn
    let keyDefinition = "\(PostgresName.quoted(own)) text COLLATE \"C\" PRIMARY KEY"
    var columns: [String] = []
    for (name, value) in fields {
      if name.hasSameBytes(as: own) {
        columns.append(keyDefinition)
      } else if let definition = value.ownColumnType(in: schema) {
        columns.append("\(PostgresName.quoted(name)) \(definition)")
      }
    }
    // An import determines its place.
    if !fields.contains(where: { $0.key.hasSameBytes(as: own) }) {
      columns.insert(keyDefinition, at: 0)
    }
    try checkColumnCount(columns.count, of: type)
    let key = PostgresColumn(
      name: own, declaredType: "text", castType: "text", kind: .text, isEncoded: true,
      isWritable: true)
    try execute(
      ["CREATE TABLE \(schema.qualified(type)) (\(columns.joined(separator: ", ")))"]
        + triggers(of: type, .column(key), isOwn: true))
  }

  private func addColumns(
    _ fields: [(key: String, value: FieldValue)], to table: PostgresTable
  ) throws {
    var sql: [String] = []
    for (name, value) in fields where !table.key.isName(name) {
      let quoted = PostgresName.quoted(name)
      if let column = table.column(named: name) {
        guard column.kind == .null, value != .null else { continue }
        sql.append("ALTER TABLE \(table.quoted) DROP COLUMN \(quoted)")
      }
      let type = try value.ownColumnType(in: schema) ?? foreignKey(value)
      sql.append("ALTER TABLE \(table.quoted) ADD COLUMN \(quoted) \(type)")
    }
    try checkColumnCount(table.columns.count + sql.count, of: table.name)
    try execute(sql)
  }

  /// Returns the definition of a column for a reference, whose table is created if it is missing.
  private func foreignKey(_ value: FieldValue) throws -> String {
    guard case .reference(let reference) = value else { return "text" }
    let type = reference.id.type
    if try load([TypeName(type)]).values.allSatisfy({ $0 == nil }) { try createTable(type) }
    guard let parent = try load([TypeName(type)])[TypeName(type)] ?? nil, parent.isPlain,
      case .column(let key) = parent.key, key.kind != .uuid
    else { throw RecordError(.invalid("\(type) has no key column that a reference can use")) }
    let collation = parent.isOwn ? " COLLATE \"C\"" : ""
    return """
      \(key.castType)\(collation) REFERENCES \(parent.quoted) (\(key.quoted)) \
      ON DELETE \(reference.onDelete.action) DEFERRABLE INITIALLY DEFERRED
      """
  }

  private func triggers(of type: String, _ key: PostgresKey, isOwn: Bool) -> [String] {
    PostgresTracking.triggers(for: type, key: key, isOwn: isOwn, in: schema)
  }

  private func checkColumnCount(_ count: Int, of table: String) throws {
    if count <= Self.columnLimit { return }
    throw RecordError(
      .invalid(
        "\(table) would have too many columns: \(count) (PostgreSQL allows at most "
          + "\(Self.columnLimit)). Divide them among several tables"))
  }

  /// Executes statements that take no parameters.
  private func execute(_ sql: [String]) throws {
    if sql.isEmpty { return }
    _ = try connection.rows(
      sql.map { (PostgresStatement("change the schema", $0, isReused: false), []) })
  }
}

extension FieldValue {
  /// The type of a column in a table that is created here, whose first value this is; nil for a
  /// reference that needs a foreign key.
  fileprivate func ownColumnType(in schema: PostgresRecordSchema) -> String? {
    switch self {
    case .null: schema.qualified(PostgresTracking.nullDomain)
    case .integer: "bigint"
    case .double: "double precision"
    case .string: "text COLLATE \"C\""
    case .bytes: "bytea"
    case .date: "timestamptz(3)"
    case .list: "jsonb"
    case .reference(let reference):
      reference.onDelete == .keep ? schema.qualified(PostgresTracking.referenceDomain) : nil
    }
  }
}

extension RecordReference.DeleteRule {
  /// The action of a foreign key.
  fileprivate var action: String {
    switch self {
    case .nullify: "SET NULL"
    case .cascade: "CASCADE"
    case .keep, .deny: "NO ACTION"
    }
  }
}
