internal import SQLiteSupport

/// Records that are new here: most of a first round.
extension MirrorStore {
  /// Stores the records that the local file does not have, many at a time.
  ///
  /// - Parameter isFirst: Whether no record is expected here, as in the first round. Then this is
  ///   looked up only if a record cannot be inserted.
  /// - Returns: The other records, which are integrated one by one: those that are known here, and
  ///   those that the file does not accept as they are.
  mutating func insertNew(
    _ records: [DatabaseRecord], isFirst: Bool
  ) throws -> [DatabaseRecord] {
    var rest: [DatabaseRecord] = []
    var groups = try records.groupedByType.map { type, records in
      let table = try connection.table(type)
      let isExpected = isFirst && table?.isOwn ?? true
      var group = NewRecords(type: type, records: isExpected ? records : [])
      if !isExpected { try divide(records, unknown: &group.records, known: &rest) }
      guard let table, !table.storesRecordsAsTheyAre else { return group }
      // Rows without such a value get the default of the column, one by one.
      let required = table.isOwn ? [] : table.fields.filter { $0.isWritable && $0.isRequired }
      group.records = group.records.compactMap { record in
        let stored = record.stored(in: table)
        if required.allSatisfy({ stored[$0.name] != .null }) { return stored }
        rest.append(record)
        return nil
      }
      return group
    }
    groups.removeAll(where: \.records.isEmpty)
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
    let refused = groups.flatMap(\.records)
    return rest + (isFirst ? try insertNew(refused, isFirst: false) : refused)
  }

  /// Divides records into those that are known here, even if only as deleted, and the others.
  private func divide(
    _ records: [DatabaseRecord], unknown: inout [DatabaseRecord], known: inout [DatabaseRecord]
  ) throws {
    try connection.withCachedStatement(Self.isKnown) { statement in
      for record in records {
        try statement.bind(record.id.type, at: 1)
        try statement.bind(record.id.name, at: 2)
        try statement.bind(tables.mirror, at: 3)
        if try statement.step() { known.append(record) } else { unknown.append(record) }
        statement.reset()
      }
    }
  }

  private static let isKnown = """
    SELECT 1 FROM "_record_mirror_bases" WHERE type = ?1 AND name = ?2 AND mirror = ?3 UNION ALL \
    SELECT 1 FROM "_record_states" WHERE type = ?1 AND name = ?2
    """

  /// Creates the columns of a remote table, also those that have no values, and gives the local table its constraints,
  /// unless that belongs to another program.
  mutating func createColumns(of remote: TableDescription, in type: String) throws {
    if let table = try connection.table(type), !table.isOwn { return }
    let samples = remote.samples.filter { _, value in
      // A table of another type is created with its first reference.
      guard case .reference(let reference) = value, reference.onDelete != .keep else { return true }
      return mirrored.contains(reference.id.type)
    }
    do {
      try savepoint { store in
        _ = try store.connection.table(
          toSave: samples, as: type, constraints: remote.constraints)
      }
    } catch is RecordError {
      // For example two names that differ only in case. Each record says so.
    }
    try connection.adopt(remote.constraints, in: type, of: tables.mirror)
  }

  /// Returns the table for new records. Creates missing columns for their fields.
  private func prepare(
    for group: NewRecords
  ) throws -> (SQLiteTable, [SQLiteColumn], [(layout: FieldLayout, end: Int)]) {
    // All columns, because the defaults of a table are not values of the records.
    if let table = try connection.table(group.type), table.isTracked {
      let columns = table.fields.filter(\.isWritable)
      let layouts = group.layouts(in: columns)
      if layouts.allSatisfy({ $0.layout.fits(table, columns) }) { return (table, columns, layouts) }
    }
    let table = try connection.table(toSave: group.values, as: group.type)
    let columns = table.fields.filter(\.isWritable)
    return (table, columns, group.layouts(in: columns))
  }

  /// - Throws: A ``SQLiteError`` or a ``RecordError`` if the file does not accept one of them.
  private mutating func insert(_ group: NewRecords) throws {
    let type = group.type
    let (table, columns, layouts) = try prepare(for: group)
    if case .values = table.key { throw RecordError(.invalid("the name consists of fields")) }
    guard !table.hasOtherTriggers else {
      throw RecordError(.invalid("\(type) has triggers of another program"))
    }
    let names = try table.key.columns.map(SQLiteName.quoted) + columns.map(\.quoted)
    let sequence = try tables.lastSequence()
    var run = 0
    func insertRows() throws {
      try connection.insert(
        group.records.count, into: table.sql.table, names
      ) { statement, index, place in
        let record = group.records[index]
        guard let key = table.key.values(of: record.id.name) else {
          throw RecordError(.invalid("\(record.id.name) is not a name of \(type)"))
        }
        for (offset, value) in key.enumerated() { try statement.bind(value, at: place + offset) }
        let first = place + key.count
        while layouts[run].end <= index { run += 1 }
        let layout = layouts[run].layout
        for offset in layout.others { try statement.bindNull(at: first + offset) }
        for ((key, value), offset) in zip(record.fields, layout.places) {
          guard let offset else {
            if case .null = value { continue }
            // The field has the name of the key column, for example. The save names it.
            throw table.missing(key)
          }
          let stored = try columns[offset].stored(value, of: type, isOwn: table.isOwn)
          try statement.bind(stored, at: first + offset)
        }
      }
    }
    if table.isOwn {
      // Without the trigger, which would search for an older state of each record.
      try connection.withoutTriggers(insertRows)
      try connection.insertStates(of: group.records.map(\.id.name), type)
    } else {
      try insertRows()
    }
    // Each row got the next local tag.
    try tables.insert(group.records, of: type, after: sequence)
    reportInserted(group.records, after: sequence)
    // Otherwise the tags would belong to other records.
    guard try tables.lastSequence() == sequence + Int64(group.records.count) else {
      throw RecordError(.invalid("\(type) did not take each record"))
    }
    guard !connection.hasDeferredViolations else {
      throw RecordError(.invalid("a record of \(type) refers to one that does not exist"))
    }
  }
}
