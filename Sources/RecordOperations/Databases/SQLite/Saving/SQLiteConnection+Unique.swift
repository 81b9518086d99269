internal import SQLiteSupport

/// A save that a UNIQUE constraint refuses.
struct UniqueViolation: Error {
  let error: SQLiteError
  /// The record that has the value; nil if it is not found, such as for an index on an expression.
  let holder: UniqueHolder?
}

extension SQLiteConnection {
  /// Returns the record that has a unique value which a save needs, because SQLite does not name it.
  ///
  /// - Parameters:
  ///   - values: The values to save.
  ///   - key: The key of the record to save.
  ///   - exists: Whether the table has that record.
  func holder(
    of values: [(column: SQLiteColumn, value: SQLiteValue)], savedAs key: [SQLiteValue],
    exists: Bool, in table: SQLiteTable
  ) throws -> UniqueHolder? {
    let parts = try fetchAll(
      """
      SELECT i.seq, x.name, x.coll FROM pragma_index_list(?1) AS i, pragma_index_xinfo(i.name) AS x \
      WHERE i."unique" = 1 AND i.origin <> 'pk' AND x.key = 1 ORDER BY i.seq, x.seqno
      """, [.text(table.name)]
    ) { (index: $0.integer(at: 0), column: $0.text(at: 1), collation: $0.text(at: 2) ?? "BINARY") }
    let reader = try SQLiteRowReader(table, keys: [])
    for (_, parts) in Dictionary(grouping: parts, by: \.index).sorted(by: { $0.key < $1.key }) {
      let columns = parts.compactMap(\.column)
      // The values of expressions, and the defaults of a new row, are not known here.
      guard columns.count == parts.count,
        exists || columns.allSatisfy({ name in values.contains { $0.column.name == name } })
      else { continue }
      var parameters = key
      let conditions = try parts.map { part in
        let quoted = try SQLiteName.quoted(part.column ?? "")
        var value = "(SELECT t.\(quoted) FROM \(table.sql.table) AS t WHERE \(table.sql.isRow))"
        if let new = values.last(where: { $0.column.name == part.column }) {
          parameters.append(new.value)
          value = "?\(parameters.count)"
        }
        return "t.\(quoted) = \(value) COLLATE \(try SQLiteName.quoted(part.collation))"
      }
      let holder = try fetchOne(
        """
        SELECT \(reader.selection) FROM \(table.sql.table) AS t \
        WHERE \(conditions.joined(separator: " AND ")) AND NOT (\(table.sql.isRow))
        """, parameters
      ) { row in reader.record(row) { _ in .none }.id }
      if let holder { return UniqueHolder(id: holder, columns: columns) }
    }
    return nil
  }

  /// Gives a row another value in one of some columns, which a later save in the same transaction sets. The
  /// record keeps its state, and with it its tag.
  ///
  /// - Parameter number: A number that is different for each row that is set aside.
  /// - Returns: The column; nil, without a change, if the table accepts no other value.
  func setAside(_ id: RecordID, in columns: [String], number: Int) throws -> String? {
    guard let table = try table(id.type), let key = table.key.values(of: id.name) else {
      return nil
    }
    let state = try fetchOne(
      """
      SELECT sequence, modified FROM "_record_states" WHERE type = ?1 AND name = ?2 AND deleted = 0
      """, [.text(id.type), .text(id.name)]
    ) { ($0.integer(at: 0), $0.text(at: 1) ?? "") }
    guard let (sequence, modified) = state else { return nil }
    // A number that is exact in any kind of column, and bytes for a column that takes only those.
    let other = -(1 << 52) - Int64(number)
    for value in [.null, .integer(other), .blob(Array("\(other)".utf8))] as [SQLiteValue] {
      for column in columns {
        do {
          try execute(
            """
            UPDATE \(table.sql.table) AS t SET \(SQLiteName.quoted(column)) = ?\(key.count + 1) \
            WHERE \(table.sql.isRow)
            """, key + [value])
        } catch {
          _ = try failure(error, of: id)
          continue
        }
        try execute(
          """
          UPDATE "_record_states" SET sequence = ?1, modified = ?2 \
          WHERE type = ?3 AND name = ?4 AND deleted = 0
          """, [.integer(sequence), .text(modified), .text(id.type), .text(id.name)])
        return column
      }
    }
    return nil
  }
}

/// The saves of a batch that take unique values from one another.
struct SQLiteExchange: UniqueExchanging {
  let connection: SQLiteConnection
  let changes: [RecordID: RecordChange]
  let save: (RecordChange) throws -> RecordReply

  func attempt(_ id: RecordID) throws -> UniqueAttempt<RecordReply> {
    guard let change = changes[id] else { preconditionFailure("the change must be one of these") }
    do { return .saved(try connection.savepoint { try save(change) }) } catch {
      let holder = (error as? UniqueViolation)?.holder
      return .refused(try connection.failure(error, of: id), holder: holder)
    }
  }

  func setAside(_ holder: UniqueHolder, number: Int) throws -> Bool {
    guard let change = changes[holder.id] else { return false }
    let columns = holder.columns.filter(change.sets)
    return try connection.setAside(holder.id, in: columns, number: number) != nil
  }

  mutating func savepoint<Result>(
    _ body: (inout SQLiteExchange) throws -> Result
  ) throws -> Result {
    try connection.savepoint { try body(&self) }
  }
}

extension RecordChange {
  /// Returns whether this is a save that sets a field.
  package func sets(_ field: String) -> Bool {
    guard case .save(let record, let policy) = self else { return false }
    return policy == .replace || record.fields(by: policy)[field] != nil
  }
}

extension RandomAccessCollection<RecordChange> {
  /// The first saves, up to a deletion, which could change later records.
  package var saves: [RecordID: RecordChange] {
    let saves = prefix { if case .save = $0 { true } else { false } }
    return Dictionary(saves.map { ($0.id, $0) }) { first, _ in first }
  }
}
