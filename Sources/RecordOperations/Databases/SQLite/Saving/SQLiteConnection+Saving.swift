internal import SQLiteSupport

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Changes of single records, in a transaction.
extension SQLiteConnection {
  /// Applies a change.
  ///
  /// - Throws: A ``SQLiteError``; a ``UniqueViolation``; a ``RecordError`` with the reason why the change fails.
  func apply(_ change: RecordChange) throws -> RecordReply {
    guard change.id.zone == .default else {
      throw RecordError(
        .unsupported("no zone \(change.id.zone.name): SQLite has only the default zone"))
    }
    switch change {
    case .save(let record, let policy): return .saved(try save(record, policy))
    case .delete(let id, let tag):
      try delete(id, ifTagged: tag)
      return .deleted
    }
  }

  private func save(_ record: DatabaseRecord, _ policy: SavePolicy) throws -> DatabaseRecord {
    // Only if it was read before its table had tags.
    if policy == .ifUnchanged, let table = try table(record.id.type), !table.isOwn,
      let tagged = try record.tagged(reading: {
        try self.record(record.id.name, in: table, keys: $0)
      })
    {
      return try save(tagged, policy)
    }
    let fields = record.fields(by: policy)
    let sorted = fields.sorted { $0.key < $1.key }
    let table = try table(toSave: sorted, as: record.id.type)
    let name = record.id.name
    guard let key = table.key.values(of: name) else {
      throw RecordError(
        .invalid(
          """
          \(name.debugDescription) is not a record name of \(table.name): \
          expected \(table.key.expectation)
          """
        ))
    }
    let state = try state(of: key, in: table)
    if policy == .ifUnchanged {
      try record.checkUnchanged(exists: state.exists, tag: state.tag) {
        try conflict(record.id.name, in: table)
      }
    }
    var values: [(column: SQLiteColumn, value: SQLiteValue)] = []
    for (field, value) in sorted {
      let column = try table.column(field)
      let stored = try column.stored(value, of: table.name, isOwn: table.isOwn)
      try check(stored, of: column, isIn: key, of: table)
      values.append((column, stored))
    }
    do {
      if state.exists {
        if policy == .replace { values += try nulls(of: table, except: values.map(\.column.name)) }
        try update(table, key, values)
      } else {
        try insert(table, key, values)
      }
    } catch let error as SQLiteError where error.isForeignKeyViolation {
      throw try violation(bySaving: values) ?? error
    } catch let error as SQLiteError where error.isUniqueViolation {
      throw UniqueViolation(
        error: error,
        holder: try holder(of: values, savedAs: key, exists: state.exists, in: table))
    }
    if let edited = record.edited {
      // The time of a later edit of another field stays.
      let time = max(edited, state.modified ?? edited)
      try execute(
        """
        UPDATE "_record_states" SET modified = min(?1, \(SQLiteTracking.now)) \
        WHERE type = ?2 AND name = ?3 AND deleted = 0
        """, [.text(time.text), .text(table.name), .text(name)])
    }
    return try saved(record, values, policy, key, in: table)
  }

  /// With several key columns, these are fields, too. Their values must match the name.
  private func check(
    _ value: SQLiteValue, of column: SQLiteColumn, isIn key: [SQLiteValue], of table: SQLiteTable
  ) throws {
    guard case .values(let columns) = table.key, let index = columns.firstIndex(of: column.name)
    else { return }
    guard key[index] == value else {
      throw RecordError(
        .invalid(
          """
          the field \(column.name) of \(table.name) is part of the record name, which has another \
          value for it
          """
        ))
    }
  }

  private func nulls(
    of table: SQLiteTable, except names: [String]
  ) throws -> [(column: SQLiteColumn, value: SQLiteValue)] {
    let kept = Set(names).union(table.key.columns)
    return table.fields.filter { $0.isWritable && !kept.contains($0.name) }.map { ($0, .null) }
  }

  private func insert(
    _ table: SQLiteTable, _ key: [SQLiteValue],
    _ values: [(column: SQLiteColumn, value: SQLiteValue)]
  ) throws {
    let others = values.filter { !table.key.columns.contains($0.column.name) }
    let columns = try (table.key.columns + others.map(\.column.name)).map(SQLiteName.quoted)
    let places = (1...columns.count).map { "?\($0)" }
    try execute(
      """
      INSERT INTO \(table.sql.table) (\(columns.joined(separator: ", "))) \
      VALUES (\(places.joined(separator: ", ")))
      """, key + others.map(\.value))
  }

  private func update(
    _ table: SQLiteTable, _ key: [SQLiteValue],
    _ values: [(column: SQLiteColumn, value: SQLiteValue)]
  ) throws {
    var settings = values.enumerated().map {
      "\($0.element.column.quoted) = ?\(key.count + $0.offset + 1)"
    }
    if settings.isEmpty, let column = table.key.columns.first {
      // A save always gives the record a new tag, even if it changes nothing.
      settings = ["\(try SQLiteName.quoted(column)) = \(try SQLiteName.quoted(column))"]
    }
    try execute(
      """
      UPDATE \(table.sql.table) AS t SET \(settings.joined(separator: ", ")) \
      WHERE \(table.sql.isRow)
      """, key + values.map(\.value))
  }

  /// Returns the record for the reply, as far as its current fields are known.
  private func saved(
    _ record: DatabaseRecord, _ values: [(column: SQLiteColumn, value: SQLiteValue)],
    _ policy: SavePolicy, _ key: [SQLiteValue], in table: SQLiteTable
  ) throws -> DatabaseRecord {
    let state = try state(of: key, in: table)
    guard let tag = state.tag else {
      throw RecordError(.invalid("a trigger of \(table.name) prevented the save"))
    }
    let stored = Dictionary(
      values.map { ($0.column.name, $0.column.fieldValue($0.value)) }, uniquingKeysWith: { $1 })
    return try record.saved(stored, by: policy, tag: tag, modified: state.modified) {
      try self.record(record.id.name, in: table, keys: $0)
    }
  }

  private func delete(_ id: RecordID, ifTagged tag: RecordTag?) throws {
    let table = try trackedTable(id.type, creating: nil)
    guard let key = table.key.values(of: id.name) else { throw RecordError(.unknownRecord) }
    let state = try state(of: key, in: table)
    guard state.exists else { throw RecordError(.unknownRecord) }
    if let tag, tag != state.tag { throw try conflict(id.name, in: table) }
    do {
      try execute(
        "DELETE FROM \(table.sql.table) AS t WHERE \(table.sql.isRow)", key)
    } catch let error as SQLiteError where error.isForeignKeyViolation {
      throw try violation(byDeleting: id.name, of: table) ?? error
    }
  }

  private func conflict(_ name: String, in table: SQLiteTable) throws -> RecordError {
    guard let now = try record(name, in: table) else { return RecordError(.unknownRecord) }
    return RecordError(.conflict(now))
  }
}
