internal import SystemSupport

/// New records of a type.
struct NewRecords {
  let type: String
  var records: [DatabaseRecord]

  /// The layouts of the records in these columns, each with the index after its last record.
  func layouts(in columns: [SQLiteColumn]) -> [(layout: FieldLayout, end: Int)] {
    var layouts: [(layout: FieldLayout, end: Int)] = []
    for (index, record) in records.enumerated() {
      if let last = layouts.last, last.layout.applies(to: record) {
        layouts[layouts.count - 1].end = index + 1
      } else {
        layouts.append((FieldLayout(of: record, in: columns), index + 1))
      }
    }
    return layouts
  }

  /// A value of each field that is not null in all records, sorted by their keys.
  var values: [(key: String, value: FieldValue)] {
    var values: [String: FieldValue] = [:]
    for record in records {
      for (key, value) in record.fields where values[key] == nil && value != .null {
        values[key] = value
      }
    }
    return values.sorted { $0.key < $1.key }.map { (key: $0.key, value: $0.value) }
  }
}

/// The columns of the fields of a record. The next record usually has the same fields in the same
/// order, so that its columns need not be looked up.
struct FieldLayout {
  private let keys: [String]
  /// The indices of the columns, in the order of the fields; nil for a field without a column.
  let places: [Int?]
  /// The indices of the columns without a field.
  let others: [Int]

  init(of record: DatabaseRecord, in columns: [SQLiteColumn]) {
    let keys = Array(record.fields.keys)
    let places = keys.map { key in columns.firstIndex { $0.name.hasSameBytes(as: key) } }
    (self.keys, self.places) = (keys, places)
    others = columns.indices.filter { !places.contains($0) }
  }

  func applies(to record: DatabaseRecord) -> Bool {
    record.fields.count == keys.count
      && zip(record.fields.keys, keys).allSatisfy { $0.hasSameBytes(as: $1) }
  }

  /// Whether a table can take all fields as it is.
  func fits(_ table: SQLiteTable, _ columns: [SQLiteColumn]) -> Bool {
    places.allSatisfy { place in
      guard let place else { return false }
      // A column of an own table gets its type from the first value.
      return !table.isOwn || !columns[place].isUntyped
    }
  }
}

extension [DatabaseRecord] {
  /// The records by their types, in the order of the first records.
  var groupedByType: [(type: String, records: [DatabaseRecord])] {
    guard let type = first?.id.type else { return [] }
    if allSatisfy({ $0.id.type.hasSameBytes(as: type) }) { return [(type, self)] }
    var places: [RecordID: Int] = [:]
    var groups: [(type: String, records: [DatabaseRecord])] = []
    for record in self {
      // The names of IDs are compared byte by byte.
      let key = RecordID("", record.id.type)
      if let place = places[key] {
        groups[place].records.append(record)
      } else {
        places[key] = groups.count
        groups.append((record.id.type, [record]))
      }
    }
    return groups
  }
}
