internal import SQLiteSupport

/// Records that are new here: most of a first round.
extension MirrorStore {
  /// Stores the records that the local file does not have, many at a time.
  ///
  /// - Returns: The other records, which are integrated one by one: those that are known here, and
  ///   those that the file does not accept as they are.
  mutating func insertNew(_ records: [DatabaseRecord]) throws -> [DatabaseRecord] {
    var rest: [DatabaseRecord] = []
    var groups: [NewRecords] = []
    var places: [NewRecords.Shape: Int] = [:]
    try connection.withCachedStatement(Self.isKnown) { statement in
      // In the order of their names, so that the pages of indexes are written once.
      for record in records.sorted(by: { $0.id.precedes($1.id) }) {
        try statement.bind(record.id.type, at: 1)
        try statement.bind(record.id.name, at: 2)
        try statement.bind(tables.mirror, at: 3)
        defer { statement.reset() }
        if try statement.step() {
          rest.append(record)
          continue
        }
        let shape = NewRecords.Shape(record)
        if let place = places[shape] {
          groups[place].records.append(record)
        } else {
          places[shape] = groups.count
          groups.append(NewRecords(shape: shape, records: [record]))
        }
      }
    }
    // A record may refer to records of a later group.
    while true {
      let count = groups.count
      groups = try groups.filter { group in
        do {
          try savepoint { store in try store.insert(group) }
          return false
        } catch {
          _ = try connection.failure(error, of: group.records[0].id)
          return true
        }
      }
      if groups.isEmpty || groups.count == count { break }
    }
    return rest + groups.flatMap(\.records)
  }

  private static let isKnown = """
    SELECT 1 FROM "_record_mirror_bases" WHERE type = ?1 AND name = ?2 AND mirror = ?3 UNION ALL \
    SELECT 1 FROM "_record_states" WHERE type = ?1 AND name = ?2 AND deleted = 0
    """

  /// - Throws: A ``SQLiteError`` or a ``RecordError`` if the file does not accept one of them.
  private mutating func insert(_ group: NewRecords) throws {
    let type = group.shape.type
    let first = group.records[0]
    let table = try connection.table(
      toSave: group.shape.keys.map { ($0, first[$0]) }, as: type)
    if case .values = table.key { throw RecordError(.invalid("the name consists of fields")) }
    let columns = try group.shape.keys.map { try table.column($0) }
    let names = try table.key.columns.map(SQLiteName.quoted) + columns.map(\.quoted)
    let insertion = """
      INSERT INTO \(table.sql.table) (\(names.joined(separator: ", "))) \
      VALUES (\(names.map { _ in "?" }.joined(separator: ", ")))
      """
    var sequence = try tables.lastSequence()
    try connection.withCachedStatement(insertion) { row in
      try connection.withCachedStatement(MirrorTables.insertion) { base in
        for record in group.records {
          // Each row gets the next local tag, from the trigger of the table.
          guard let key = table.key.values(of: record.id.name) else {
            throw RecordError(.invalid("\(record.id.name) is not a name of \(type)"))
          }
          try row.bind(key)
          for (index, column) in columns.enumerated() {
            let value = record[column.name].adapted(to: column)
            try row.bind(
              column.stored(value, of: type, isOwn: table.isOwn), at: key.count + index + 1)
          }
          try row.run()
          sequence += 1
          try tables.insert(record, sequence, with: base)
          report(
            .saved(
              DatabaseRecord(record.id, fields: record.fields, tag: RecordTag("\(sequence)"))))
        }
      }
    }
    // A trigger of the file may have dropped a row, or changed other records.
    guard try tables.lastSequence() == sequence else {
      throw RecordError(.invalid("a trigger of \(type) has changed other records"))
    }
  }
}

/// New records with the same fields.
private struct NewRecords {
  struct Shape: Hashable {
    let type: String
    /// The fields that are not null, sorted.
    let keys: [String]

    init(_ record: DatabaseRecord) {
      type = record.id.type
      keys = record.keys.filter { record[$0] != .null }
    }
  }

  let shape: Shape
  var records: [DatabaseRecord]
}

extension FieldValue {
  /// The value with the delete rule of its column: the databases may have different rules.
  func adapted(to column: SQLiteColumn) -> FieldValue {
    guard case .reference(let reference) = self else { return self }
    switch column.meaning {
    case .foreignKey(let type, let rule) where type == reference.id.type:
      return .reference(RecordReference(reference.id, onDelete: rule))
    case .keptReference: return .reference(RecordReference(reference.id))
    case .foreignKey, .date, .list, .plain: return self
    }
  }
}
