internal import SQLiteSupport

extension SQLiteConnection {
  /// Returns the records with these names that exist.
  ///
  /// - Throws: A ``SQLiteError``; a ``RecordError``.
  func lookup(_ ids: [RecordID], keys: [String]?) throws -> [RecordID: DatabaseRecord] {
    var found: [RecordID: DatabaseRecord] = [:]
    for id in ids where id.zone == .default {
      // A type without a table has no records.
      guard let table = try table(id.type), table.key != .none else { continue }
      if let record = try record(id.name, in: table, keys: keys) { found[id] = record }
    }
    return found
  }

  /// Returns the next page of a query.
  ///
  /// - Parameter requiresTable: Whether a type without a table is an error. If not, it has no
  ///   records.
  /// - Throws: A ``SQLiteError``; a ``RecordError``.
  func page(
    of query: RecordQuery, after cursor: RecordCursor?, atMost count: Int,
    requiringTable requiresTable: Bool
  ) throws -> RecordPage {
    if let reason = query.predicate?.impossibility { throw RecordError(.invalid(reason)) }
    guard count >= 1 else { throw RecordError(.invalid("a page must hold at least 1 record")) }
    if query.zone == .default, let table = try table(query.type) {
      return try page(of: query, in: table, after: cursor, atMost: count)
    }
    guard !requiresTable || query.zone != .default else {
      let names = try tables().joined(separator: ", ")
      throw RecordError(
        .invalid("no such table: \(query.type) (tables: \(names.isEmpty ? "none" : names))"))
    }
    return RecordPage([], cursor: nil)
  }

  /// Returns a page of the records that match a query. Must be called in a transaction.
  ///
  /// - Throws: A ``SQLiteError``; a ``RecordError`` if the query is invalid.
  func page(
    of query: RecordQuery, in table: SQLiteTable, after cursor: RecordCursor?, atMost count: Int
  ) throws -> RecordPage {
    let reader = try SQLiteRowReader(table, keys: query.keys)
    let order = try SQLiteOrder(query.distinctOrder, of: table)
    var conditions = SQLiteConditions(table)
    var parts = [try table.key.isNamed("t")].compactMap(\.self)
    if let predicate = query.predicate { parts.append(try conditions.condition(predicate)) }
    var offset = 0
    if let cursor {
      if table.kind == .view {
        offset = try Self.offset(cursor)
      } else {
        parts.append(try order.isAfter(cursor, in: &conditions))
      }
    }
    try conditions.check(for: self, order)
    let more = order.terms.map(\.expression)
    var sql = "SELECT \(([reader.selection] + more).joined(separator: ", "))"
    sql += " FROM \(table.sql.table) AS t"
    if !parts.isEmpty { sql += " WHERE \(parts.map { "(\($0))" }.joined(separator: " AND "))" }
    if !order.terms.isEmpty { sql += " ORDER BY \(order.sql)" }
    // One more row shows whether this is the last page.
    sql += " LIMIT \(count == .max ? -1 : count + 1) OFFSET \(offset)"
    return try withCachedStatement(sql) { statement in
      try statement.bind(conditions.values)
      return try withStates(of: table) { state in
        var records: [DatabaseRecord] = []
        var last: [FieldValue] = []
        while try statement.step() {
          if records.count == count {
            let isView = table.kind == .view
            let values = isView ? [.integer(Int64(offset + count))] : last
            return RecordPage(records, cursor: RecordCursor(values))
          }
          let name = table.kind == .view ? "\(offset + records.count + 1)" : nil
          records.append(try reader.record(statement, name: name, state: state))
          if records.count == count {
            last = more.indices.map { statement.value(at: reader.width + $0).cursorValue }
          }
        }
        return RecordPage(records, cursor: nil)
      }
    }
  }

  private static func offset(_ cursor: RecordCursor) throws -> Int {
    guard cursor.values.count == 1, case .integer(let offset)? = cursor.values.first, offset >= 0
    else { throw RecordError(.invalid("the cursor belongs to another query")) }
    return Int(offset)
  }
}

extension RecordQuery {
  /// The order without repeated keys, which have no effect.
  package var distinctOrder: [RecordOrder] {
    var seen: Set<String> = []
    return order.filter { seen.insert($0.key).inserted }
  }
}
