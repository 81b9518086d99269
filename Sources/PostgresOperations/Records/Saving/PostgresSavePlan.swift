internal import RecordOperations
internal import SystemSupport

/// Decides for each change of a batch what to do, from the stored records.
struct PostgresSavePlan {
  let tables: PostgresRecordSchema.Tables
  /// The stored records of the changes.
  let existing: [RecordID: DatabaseRecord]
  private(set) var missing = PostgresMissingParts()

  init(_ tables: PostgresRecordSchema.Tables, _ existing: [RecordID: DatabaseRecord]) {
    self.tables = tables
    self.existing = existing
  }

  /// Checks what needs no table.
  ///
  /// - Throws: A ``RecordError`` if no table can have the record of a change.
  static func check(_ change: RecordChange) throws {
    guard change.id.zone == .default else {
      throw RecordError(
        .unsupported("no zone \(change.id.zone.name): PostgreSQL has only the default zone"))
    }
    try PostgresRecordSchema.check(type: change.id.type)
    guard case .save(let record, let policy) = change else { return }
    for (key, value) in record.fields(by: policy) {
      try PostgresRecordSchema.check(key, "a field of \(record.id.type)")
      if ["tableoid", "xmin", "cmin", "xmax", "cmax", "ctid"].contains(key) {
        throw RecordError(
          .invalid("the field name \(key) of \(record.id.type) is reserved by PostgreSQL"))
      }
      if let problem = value.problem {
        throw RecordError(.invalid("the field \(key) of \(record.id.type) \(problem)"))
      }
      if case .reference(let reference) = value, reference.onDelete != .keep {
        try PostgresRecordSchema.check(type: reference.id.type)
      }
    }
  }

  /// Returns the step for a change. It adds missing parts instead of deciding, if there are any.
  mutating func step(_ change: RecordChange) -> PostgresStep {
    do {
      try Self.check(change)
      let table = tables[PostgresRecordSchema.TypeName(change.id.type)] ?? nil
      switch change {
      case .save(let record, let policy): return try save(record, policy, table)
      case .delete(let id, let tag): return try delete(id, tag, table)
      }
    } catch {
      var failure = error as? RecordError ?? RecordError(.other(error))
      failure.record = change.id
      return .failed(failure)
    }
  }

  private mutating func save(
    _ original: DatabaseRecord, _ policy: SavePolicy, _ table: PostgresTable?
  ) throws -> PostgresStep {
    let stored = existing[original.id]
    var record = original
    // Only if it was read before its table had tags.
    if policy == .ifUnchanged, table?.isOwn == false,
      let tagged = original.tagged(reading: { stored?.with($0) })
    {
      record = tagged
    }
    if let table {
      try table.checkIsWritable()
      if !table.isTracked { missing.track(table.name) }
    }
    if let table, stored != nil, !table.isLockable { throw table.refused("update") }
    // The stored record is not known.
    if let table, original.tag != nil, !table.isReadable { throw table.refused("read") }
    if policy == .ifUnchanged {
      try record.checkUnchanged(exists: stored != nil, tag: stored?.tag) {
        RecordError(stored.map { .conflict($0) } ?? .unknownRecord)
      }
    }
    let fields = record.fields(by: policy).sorted { $0.key < $1.key }
    guard let table else {
      missing.add(fields, of: record.id.type)
      return .blocked
    }
    guard let key = table.key.values(of: record.id.name) else {
      throw RecordError(
        .invalid(
          "\(record.id.name.debugDescription) is not a record name of \(table.name): expected "
            + table.key.expectation))
    }
    let new = fields.filter { name, value in
      guard let column = table.column(named: name) else { return true }
      // A column gets its type with its first value.
      return table.isOwn && column.kind == .null && value != .null
    }
    if table.isOwn, !new.isEmpty {
      missing.add(new, of: table.name)
      return .blocked
    }
    return .save(
      try save(record, policy, table, key, fields, stored, tag: policy == .ifUnchanged))
  }

  private func save(
    _ record: DatabaseRecord, _ policy: SavePolicy, _ table: PostgresTable, _ key: [String],
    _ fields: [(key: String, value: FieldValue)], _ stored: DatabaseRecord?, tag needsTag: Bool
  ) throws -> PostgresSave {
    var columns: [PostgresColumn] = []
    var values: [String?] = []
    for (name, value) in fields {
      let column = try table.field(name)
      let text = try column.stored(value, of: table.name)
      if let index = table.key.columns.firstIndex(where: { $0 === column }) {
        // With several key columns, these are fields, too. Their values must match the name.
        guard let text, text.hasSameBytes(as: key[index]) else {
          throw RecordError(
            .invalid(
              "the field \(name) of \(table.name) is part of the record name, which has another "
                + "value for it"))
        }
        continue
      }
      columns.append(column)
      values.append(text)
    }
    if stored != nil, policy == .replace {
      for column in table.fields where column.isWritable {
        let isKept =
          columns.contains { $0 === column } || table.key.columns.contains { $0 === column }
        if !isKept {
          columns.append(column)
          values.append(nil)
        }
      }
    }
    return PostgresSave(
      record: record, policy: policy, table: table, key: key, isInsertion: stored == nil,
      columns: columns, values: values, tag: needsTag ? record.tag : nil, existing: stored)
  }

  private mutating func delete(
    _ id: RecordID, _ tag: RecordTag?, _ table: PostgresTable?
  ) throws -> PostgresStep {
    guard let table else { throw RecordError(.unknownRecord) }
    try table.checkIsWritable()
    if !table.isReadable { throw table.refused("read") }
    // Without a lock, a change that another transaction has not committed yet would be deleted, too.
    if !table.isLockable { throw table.refused("update") }
    if !table.isTracked { missing.track(table.name) }
    guard let key = table.key.values(of: id.name), let stored = existing[id] else {
      throw RecordError(.unknownRecord)
    }
    if let tag, tag != stored.tag { throw RecordError(.conflict(stored)) }
    return .delete(table, key: key, tag: tag)
  }
}

extension PostgresTable {
  fileprivate func refused(_ action: String) -> RecordError {
    RecordError(.notPermitted("permission denied: this role may not \(action) rows of \(name)"))
  }
}
