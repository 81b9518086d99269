internal import CompositeOperations
package import RecordOperations

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension PostgresRecordDatabase: ServedRecordDatabase {
  package func mirrorProblems() async throws -> [String: String?] {
    try await read { session in
      let tables = try session.allTables().filter(\.isPlain)
      return Dictionary(uniqueKeysWithValues: tables.map { ($0.name, $0.mirrorProblem) })
    }
  }

  package func tables() async throws -> [ServedTable] {
    try await read { session in try session.allTables().map { try session.served($0) } }
  }

  package func columns(of table: String) async throws -> [ServedColumn] {
    try await read { session in
      // The cached definition may be old, and nothing compares it with the current one here.
      if (try? PostgresRecordSchema.check(type: table)) != nil,
        let found = try session.load([PostgresRecordSchema.TypeName(table)]).values.first ?? nil
      {
        return found.servedColumns
      }
      throw try session.missing(table)
    }
  }

  package func withSnapshot<Response: Sendable>(
    of query: RecordQuery, limit: Int?,
    _ body: @escaping @Sendable (ServedRows) throws -> Response
  ) async throws -> Response {
    let size = limits.page
    return try await snapshot { session, check in
      var (cursor, remaining) = (RecordCursor?.none, limit ?? .max)
      var (isFirst, isExhausted) = (true, false)
      return try body(
        ServedRows(
          next: {
            try check()
            if isExhausted || remaining == 0 { return [] }
            do {
              // Rows without names have no order in which a page could follow another one.
              let hasNames = try session.table(query.type)?.key.isNone == false
              let page = try session.page(
                of: query, after: cursor, atMost: hasNames ? min(size, remaining) : remaining)
              isFirst = false
              cursor = page.cursor
              isExhausted = page.cursor == nil
              remaining -= page.records.count
              return page.records
            } catch let error as PostgresRecordSession.OutdatedSchema where !isFirst {
              // The body has rows already, so it must not run again.
              throw error.cause.translated(isAfterCommit: false)
            }
          }, check: check))
    }
  }
}

extension PostgresRecordDatabase: TableDescribing {
  package func descriptions(of types: [String]) async throws -> [String: TableDescription]? {
    try await read { session in
      let names = types.filter { (try? PostgresRecordSchema.check(type: $0)) != nil }
        .map { PostgresRecordSession.TypeName($0) }
      let tables = try session.load(names)
      let parameters: [PostgresValue] = [
        .text(session.schema.name), .texts(names.map(\.text)),
      ]
      let rows = try session.connection.rows([
        (PostgresSchemaStatements.numberedColumns, parameters),
        (PostgresSchemaStatements.columnConstraints, parameters),
        (PostgresSchemaStatements.uniqueIndexes, parameters),
      ])
      let columns = session.numberedColumns(rows[0])
      var found: [String: TableDescription] = [:]
      for name in names {
        // The changes of a table that this role may not read are not reported either.
        guard let table = tables[name] ?? nil, table.isReadable else { continue }
        let untyped = Set(table.fields.filter { $0.kind == .null }.map(\.name))
        let fields = Set(table.fields.map(\.name))
        found[name.text] = TableDescription(
          columns: (columns[name] ?? []).filter { fields.contains($0.name) }.map { column in
            TableDescription.Column(
              name: column.name, type: untyped.contains(column.name) ? "" : column.type,
              number: column.number, isFilled: column.isFilled)
          },
          samples: table.fields.compactMap { column in column.sample.map { (column.name, $0) } },
          constraints: table.constraints(columns: rows[1], uniqueIndexes: rows[2]),
          isTracked: table.isTracked)
      }
      return found
    }
  }
}

extension PostgresRecordSession {
  /// - Parameter rows: The result of ``PostgresSchemaStatements/numberedColumns``.
  fileprivate func numberedColumns(
    _ rows: PostgresRows
  ) -> [TypeName: [TableDescription.Column]] {
    Dictionary(
      grouping: (0..<rows.count).map { row in
        (
          TypeName(rows.text(row, 0) ?? ""),
          TableDescription.Column(
            name: rows.text(row, 1) ?? "", type: rows.text(row, 2) ?? "",
            number: rows.integer(row, 3) ?? 0, isFilled: rows.boolean(row, 4) ?? true)
        )
      }, by: \.0
    ).mapValues { $0.map(\.1) }
  }

  /// Returns the tables and views of the schema, sorted by their names.
  ///
  /// - Throws: A ``PostgresError``.
  fileprivate func allTables() throws -> [PostgresTable] {
    let rows = try connection.rows(
      PostgresStatement(
        "list the tables",
        """
        SELECT c.relname FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
        WHERE n.nspname = $1::name AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
        """), [.text(schema.name)])
    let names = (0..<rows.count).compactMap { rows.text($0, 0) }.filter { name in
      !PostgresRecordSchema.ownTables.contains { $0 == name }
    }
    let tables = try load(names.map { TypeName($0) })
    return tables.values.compactMap(\.self).sorted { $0.name < $1.name }
  }

  /// Returns the error for a missing table, with the names of the others.
  ///
  /// - Throws: A ``PostgresError``.
  func missing(_ table: String) throws -> RecordError {
    let names = try allTables().map(\.name).joined(separator: ", ")
    return RecordError(
      .invalid(
        """
        no such table: \(table) in the schema \(schema.name) \
        (tables: \(names.isEmpty ? "none" : names))
        """))
  }

  /// Describes a table, and counts its rows.
  ///
  /// - Throws: A ``PostgresError`` that does not concern only this table.
  fileprivate func served(_ table: PostgresTable) throws -> ServedTable {
    var rows = "SELECT 1 FROM \(table.quoted)"
    if !table.isPlain { rows += " LIMIT \(ServedTable.countedViewRows + 1)" }
    var (count, problem): (Int64?, String?) = (nil, nil)
    do {
      // A slow view or a locked table does not hide the other tables.
      let limit = PostgresStatement(
        "limit the time", "SELECT set_config('statement_timeout', '5s', true)")
      let statement = PostgresStatement(
        "count \(table.name)", "SELECT count(*) FROM (\(rows)) AS r", isReused: false)
      count = try connection.rows([(limit, []), (statement, [])])[1].integer(0, 0)
    } catch {
      guard error.kind == .refused else { throw error }
      problem =
        error.code == "57014" ? "counting its rows takes more than 5 s" : error.description
    }
    if !table.isPlain, let found = count, found > ServedTable.countedViewRows { count = nil }
    return ServedTable(
      name: table.name, kind: table.isPlain ? "table" : "view", rowCount: count.map { Int($0) },
      columns: table.servedColumns, problem: problem)
  }
}

extension PostgresTable {
  /// Why its rows cannot be mirrored; nil if they can.
  fileprivate var mirrorProblem: String? {
    if key.isNone { return "it has no primary key that can be the name of a record" }
    if !isReadable { return "this role may not read it" }
    return nil
  }

  var definition: ServedDefinition {
    ServedDefinition(name: name, isPlain: isPlain, isOwn: isOwn, columns: servedColumns)
  }

  fileprivate var servedColumns: [ServedColumn] {
    columns.map { column in
      ServedColumn(
        name: column.name, declaredType: column.declaredType,
        isKey: key.columns.contains { $0 === column }, isName: key.isName(column.name),
        isWritable: column.isWritable, meaning: column.servedMeaning)
    }
  }
}

extension PostgresColumn {
  /// A value for which another database can create the column; nil for a column that has never had a value.
  var sample: FieldValue? {
    switch kind {
    case .integer, .boolean: .integer(0)
    case .double, .real: .double(0)
    case .text, .uuid, .enumeration, .other: .string("")
    case .bytes: .bytes([])
    case .date: .date(Date(timeIntervalSince1970: 0))
    case .list: .list([])
    case .keptReference: .reference(RecordReference(RecordID("", "")))
    case .foreignKey(let type, let rule, _):
      .reference(RecordReference(RecordID(type, ""), onDelete: rule))
    case .null: nil
    }
  }

  fileprivate var servedMeaning: ServedColumn.Meaning {
    switch kind {
    case .integer: .integer
    case .boolean: .boolean
    case .double: .double
    case .real: .single
    case .text: .text
    case .uuid: .uuid
    case .enumeration: .enumeration
    case .other: .other
    case .bytes: .bytes
    case .date: .date
    case .list: .list
    case .keptReference: .keptReference
    case .foreignKey(let type, let rule, let isInteger):
      .foreignKey(type: type, rule, isInteger: isInteger)
    case .null: .untyped
    }
  }
}
