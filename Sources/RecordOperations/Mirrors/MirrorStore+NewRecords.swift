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
      for record in records {
        try statement.bind(record.id.type, at: 1)
        try statement.bind(record.id.name, at: 2)
        try statement.bind(tables.mirror, at: 3)
        defer { statement.reset() }
        if try statement.step() {
          rest.append(record)
          continue
        }
        let record = try asStored(record)
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
    guard try !connection.hasTriggers(table.name) else {
      throw RecordError(.invalid("\(type) has triggers of another program"))
    }
    // The defaults of a table of another program are not values of the records.
    let others =
      table.isOwn
      ? []
      : table.fields.filter { column in
        column.isWritable && !group.shape.keys.contains(column.name)
      }
    guard others.allSatisfy({ !$0.isRequired }) else {
      throw RecordError(.invalid("\(type) requires more values"))
    }
    let columns = try group.shape.keys.map { try table.column($0) } + others
    let names = try table.key.columns.map(SQLiteName.quoted) + columns.map(\.quoted)
    let sequence = try tables.lastSequence()
    try connection.insert(
      group.records.count, into: table.sql.table, names
    ) { statement, index, place in
      let record = group.records[index]
      guard let key = table.key.values(of: record.id.name) else {
        throw RecordError(.invalid("\(record.id.name) is not a name of \(type)"))
      }
      for (offset, value) in key.enumerated() { try statement.bind(value, at: place + offset) }
      for (offset, column) in columns.enumerated() {
        let value = try column.stored(record[column.name], of: type, isOwn: table.isOwn)
        try statement.bind(value, at: place + key.count + offset)
      }
    }
    // Each row got the next local tag, from the trigger of the table.
    try tables.insert(group.records, after: sequence)
    for (index, record) in group.records.enumerated() {
      let tag = RecordTag("\(sequence + Int64(index) + 1)")
      report(.saved(DatabaseRecord(record.id, fields: record.fields, tag: tag)))
    }
    // A table with a conflict clause may have dropped a row.
    guard try tables.lastSequence() == sequence + Int64(group.records.count) else {
      throw RecordError(.invalid("\(type) did not take each record"))
    }
    guard !connection.hasDeferredViolations else {
      throw RecordError(.invalid("a record of \(type) refers to one that does not exist"))
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

extension SQLiteConnection {
  /// Returns whether a table has triggers that do not track its changes.
  func hasTriggers(_ table: String) throws -> Bool {
    try fetchOne(
      """
      SELECT 1 FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = ?1 COLLATE NOCASE \
      AND name NOT LIKE '\\_record%' ESCAPE '\\'
      """, [.text(table)]
    ) { _ in true } ?? false
  }

  /// Inserts rows, many in a statement: SQLite copies the pages that a statement changes, to be able
  /// to roll it back.
  ///
  /// - Parameters:
  ///   - count: The number of rows.
  ///   - table: The quoted name of the table.
  ///   - columns: The quoted names of the columns.
  ///   - bind: Binds the values of a row, given its index and its first parameter.
  /// - Throws: A ``SQLiteError``; the error of `bind`.
  func insert(
    _ count: Int, into table: String, _ columns: [String],
    _ bind: (_ statement: SQLiteStatement, _ index: Int, _ place: Int) throws -> Void
  ) throws {
    let most = max(1, 500 / columns.count)
    let row = "(\(columns.map { _ in "?" }.joined(separator: ", ")))"
    var index = 0
    while index < count {
      // Only two different statements, because they are cached.
      let rows = count - index >= most ? most : 1
      let values = Array(repeating: row, count: rows).joined(separator: ", ")
      try withCachedStatement(
        "INSERT INTO \(table) (\(columns.joined(separator: ", "))) VALUES \(values)"
      ) { statement in
        repeat {
          for offset in 0..<rows {
            try bind(statement, index + offset, offset * columns.count + 1)
          }
          try statement.run()
          index += rows
        } while count - index >= rows && (rows > 1 || index < count)
      }
    }
  }
}
