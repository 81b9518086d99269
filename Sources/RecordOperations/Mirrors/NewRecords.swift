internal import SystemSupport

/// New records of a type.
struct NewRecords {
  let type: String
  var records: [DatabaseRecord]

  /// Whether a table has all columns for the records.
  func fit(in table: SQLiteTable) -> Bool {
    guard table.isTracked else { return false }
    let columns = table.fields.filter { !table.isOwn || !$0.isUntyped }
    var layout = FieldLayout()
    for record in records where !layout.applies(to: record) {
      layout = FieldLayout(of: record, in: columns)
      if layout.places.contains(nil) { return false }
    }
    return true
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
  private var keys: [String]?
  /// The indices of the columns, in the order of the fields; nil for a field without a column.
  private(set) var places: [Int?] = []
  /// The indices of the columns without a field.
  private(set) var others: [Int] = []

  /// Creates a layout that applies to no record.
  init() {}

  init(of record: DatabaseRecord, in columns: [SQLiteColumn]) {
    let keys = Array(record.fields.keys)
    self.keys = keys
    places = keys.map { key in columns.firstIndex { $0.name.hasSameBytes(as: key) } }
    others = columns.indices.filter { !places.contains($0) }
  }

  func applies(to record: DatabaseRecord) -> Bool {
    guard let keys else { return false }
    return record.fields.count == keys.count
      && zip(record.fields.keys, keys).allSatisfy { $0.hasSameBytes(as: $1) }
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
