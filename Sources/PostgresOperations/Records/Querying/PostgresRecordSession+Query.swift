internal import RecordOperations

extension PostgresRecordSession {
  /// Returns the records with these names that exist.
  ///
  /// - Throws: A ``PostgresError``; a ``RecordError``; ``OutdatedSchema``.
  func lookup(_ ids: [RecordID], keys: [String]?) throws -> [RecordID: DatabaseRecord] {
    // A type without a table has no records.
    let possible = ids.filter {
      $0.zone == .default && (try? PostgresRecordSchema.check(type: $0.type)) != nil
    }
    var groups: [(reader: PostgresRowReader, ids: [RecordID])] = []
    let rows = try rows(of: possible.map(\.type)) { tables in
      groups = []
      var statements: [Statement] = []
      for (type, ids) in Dictionary(grouping: possible, by: { TypeName($0.type) }) {
        guard let table = tables[type] ?? nil, !table.key.isNone else { continue }
        let reader = PostgresRowReader(table, try table.readColumns(keys))
        let named = ids.compactMap { id in table.key.values(of: id.name).map { (id, $0) } }
        if named.isEmpty { continue }
        groups.append((reader, named.map(\.0)))
        statements.append(selection(of: named.map(\.1), by: reader))
      }
      return statements
    }.rows
    var found: [RecordID: DatabaseRecord] = [:]
    for ((reader, ids), rows) in zip(groups, rows) {
      for row in 0..<rows.count {
        let id = ids[Int(rows.integer(row, 0) ?? 1) - 1]
        found[id] = reader.record(id.name, rows, row, from: 1)
      }
    }
    return found
  }

  /// Returns a statement for the rows with some keys: the number of the key, the columns, the state.
  func selection(of keys: [[String]], by reader: PostgresRowReader) -> Statement {
    let table = reader.table
    let sql = """
      SELECT v.i\(reader.selection), \(table.state) FROM \(Self.keys(of: table)) \
      JOIN \(table.quoted) AS t ON \(Self.isKey(of: table))
      """
    return (PostgresStatement("read \(table.name)", sql), Self.arrays(keys, of: table))
  }

  /// The keys of the first parameters as a table `v` with the columns `k0`, … and the number `i`.
  static func keys(of table: PostgresTable, others: [String] = []) -> String {
    let names = table.key.columns.indices.map { "k\($0)" } + others
    let places = names.indices.map { "$\($0 + 1)::text[]" }.joined(separator: ", ")
    return "unnest(\(places)) WITH ORDINALITY AS v(\(names.joined(separator: ", ")), i)"
  }

  /// A condition that a row `t` has the key of the row `v`.
  static func isKey(of table: PostgresTable) -> String {
    table.key.columns.enumerated().map { "t.\($1.quoted) = v.k\($0)::\($1.castType)" }
      .joined(separator: " AND ")
  }

  /// Returns an array for each key column.
  static func arrays(_ keys: [[String]], of table: PostgresTable) -> [PostgresValue] {
    table.key.columns.indices.map { index in .texts(keys.map { $0[index] }) }
  }

  /// Returns the next page of a query.
  ///
  /// - Throws: A ``PostgresError``; a ``RecordError``; ``OutdatedSchema``.
  func page(
    of query: RecordQuery, after cursor: RecordCursor?, atMost count: Int
  ) throws -> RecordPage {
    if let reason = query.predicate?.impossibility { throw RecordError(.invalid(reason)) }
    guard count >= 1 else { throw RecordError(.invalid("a page must hold at least 1 record")) }
    guard query.zone == .default, (try? PostgresRecordSchema.check(type: query.type)) != nil else {
      return RecordPage([], cursor: nil)
    }
    var page: PostgresPage?
    let rows = try rows(of: [query.type]) { tables in
      page = nil
      guard let table = tables[TypeName(query.type)] ?? nil else { return [] }
      let new = try PostgresPage(of: query, in: table, after: cursor, atMost: count)
      page = new
      return [(new.statement, new.values)]
    }.rows
    guard let page else { return RecordPage([], cursor: nil) }
    return page.result(rows[0])
  }
}

/// A page of a query.
private struct PostgresPage {
  let statement: PostgresStatement
  let values: [PostgresValue]
  private let reader: PostgresRowReader
  private let count: Int
  /// The number of terms of the order, after the columns and the state of each row.
  private let termCount: Int
  /// The number of rows before the page, of a table without names.
  private var offset = 0

  init(
    of query: RecordQuery, in table: PostgresTable, after cursor: RecordCursor?, atMost count: Int
  ) throws {
    reader = PostgresRowReader(table, try table.readColumns(query.keys))
    let order = try PostgresOrder(query.distinctOrder, of: table)
    var conditions = PostgresConditions(table)
    var parts: [String] = []
    if let predicate = query.predicate { parts.append(try conditions.condition(predicate)) }
    if let cursor {
      if table.key.isNone {
        guard cursor.values.count == 1, case .integer(let start)? = cursor.values.first, start >= 0
        else { throw PostgresOrder.foreignCursor }
        offset = Int(start)
      } else {
        parts.append(try order.isAfter(cursor, in: &conditions))
      }
    }
    try conditions.check()
    let terms = order.terms.enumerated().map { ", (\($1.expression))::text AS o\($0)" }.joined()
    // The state is read only for the rows of the page.
    let columns = (0..<reader.width).map { ", q.c\($0)" }.joined()
    var sql = "SELECT q.name\(columns), \(table.state(ofName: "q.name"))"
    sql += order.terms.indices.map { ", q.o\($0)" }.joined()
    sql += " FROM (SELECT \(table.key.name(of: "t")) AS name\(reader.namedSelection)\(terms)"
    sql += " FROM \(table.quoted) AS t"
    if !parts.isEmpty { sql += " WHERE \(parts.map { "(\($0))" }.joined(separator: " AND "))" }
    if !order.terms.isEmpty { sql += " ORDER BY \(order.sql)" }
    // One more row shows whether this is the last page.
    if count < .max { sql += " LIMIT \(count + 1)" }
    sql += " OFFSET \(offset)) AS q"
    statement = PostgresStatement("query \(table.name)", sql, isReused: query.predicate == nil)
    values = conditions.values
    termCount = order.terms.count
    self.count = count
  }

  func result(_ rows: PostgresRows) -> RecordPage {
    let table = reader.table
    var records: [DatabaseRecord] = []
    for row in 0..<min(rows.count, count) {
      let name =
        table.key.isNone
        ? "\(offset + row + 1)" : table.key.decoded(rows.text(row, 0) ?? "")
      records.append(reader.record(name, rows, row, from: 1))
    }
    guard rows.count > count else { return RecordPage(records, cursor: nil) }
    if table.key.isNone {
      return RecordPage(records, cursor: RecordCursor([.integer(Int64(offset + count))]))
    }
    let start = reader.width + 2
    let last = (start..<start + termCount).map { place -> FieldValue in
      rows.text(count - 1, place).map { .string($0) } ?? .null
    }
    return RecordPage(records, cursor: RecordCursor(last))
  }
}
