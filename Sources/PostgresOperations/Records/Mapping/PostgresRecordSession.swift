internal import RecordOperations

/// A request of a database on one connection.
struct PostgresRecordSession {
  typealias Statement = (PostgresStatement, [PostgresValue])
  typealias TypeName = PostgresRecordSchema.TypeName
  typealias Tables = PostgresRecordSchema.Tables

  /// The tables have changed since they were read. The request must be repeated from its beginning.
  struct OutdatedSchema: Error {
    /// The error of a statement that does not fit the tables.
    let cause: PostgresError
  }

  let connection: PostgresConnection
  let schema: PostgresRecordSchema

  /// Executes statements that depend on the definitions of tables, with one wait for the server
  /// unless these have changed.
  ///
  /// The versions of the tables are read after the statements, which keep a lock on their tables. So
  /// the definitions are those that the statements have used.
  ///
  /// - Parameter statements: Returns the statements for the current tables of the types.
  /// - Returns: The tables, and the rows of each statement.
  /// - Throws: A ``PostgresError``; ``OutdatedSchema``; the error of `statements` for the current
  ///   tables.
  func rows(
    of types: [String], _ statements: (Tables) throws -> [Statement]
  ) throws -> (tables: Tables, rows: [PostgresRows]) {
    let names = Array(Set(types.map { TypeName($0) }))
    if names.isEmpty { return ([:], try connection.rows(statements([:]))) }
    var tables = try schema.cached(names) ?? load(names)
    while true {
      let own: [Statement]
      do { own = try statements(tables) } catch {
        // Only an error for the current tables counts.
        let current = try connection.rows([versions(names)])
        if isCurrent(tables, current[0]) { throw error }
        tables = try load(names)
        continue
      }
      let (rows, refusal) = try connection.rowsUntilRefusal(own + [versions(names)])
      if let refusal {
        if refusal.isSchemaMismatch {
          schema.forget(names)
          throw OutdatedSchema(cause: refusal)
        }
        throw refusal
      }
      if let last = rows.last, isCurrent(tables, last) { return (tables, Array(rows.dropLast())) }
      tables = try load(names)
    }
  }

  func versions(_ names: [TypeName]) -> Statement {
    (PostgresSchemaStatements.versions, [.text(schema.name), .texts(names.map(\.text))])
  }

  private func isCurrent(_ tables: Tables, _ rows: PostgresRows) -> Bool {
    var versions: [TypeName: String] = [:]
    for row in 0..<rows.count {
      versions[TypeName(rows.text(row, 0) ?? "")] = rows.text(row, 1) ?? ""
    }
    return tables.allSatisfy { versions[$0.key] == $0.value?.version }
  }

  /// Reads the definitions of tables, and caches them.
  ///
  /// - Throws: A ``PostgresError``.
  func load(_ names: [TypeName]) throws -> Tables {
    let values: [PostgresValue] = [.text(schema.name), .texts(names.map(\.text))]
    let rows = try connection.rows([
      (PostgresSchemaStatements.tables, values), (PostgresSchemaStatements.columns, values),
      (PostgresSchemaStatements.keys, values),
    ])
    var tables: Tables = [:]
    for name in names { tables[name] = .some(nil) }
    let reader = PostgresTableReader(schema, columns: rows[1], keys: rows[2])
    for row in 0..<rows[0].count {
      let table = reader.table(rows[0], row)
      tables[TypeName(table.name)] = table
    }
    schema.keep(tables)
    return tables
  }

  /// Returns the table of a type; nil if there is none.
  ///
  /// - Throws: A ``PostgresError``.
  func table(_ type: String) throws -> PostgresTable? {
    let name = TypeName(type)
    return try (schema.cached([name]) ?? load([name]))[name] ?? nil
  }
}
