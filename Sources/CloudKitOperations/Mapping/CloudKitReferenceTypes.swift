internal import RecordOperations

/// The types of the records that references refer to, which CloudKit does not store.
struct CloudKitReferenceTypes {
  /// By the type and the field: `Book.author`.
  private let fields: [String: String]
  /// By IDs without a type.
  private let known: [RecordID: String]

  init(_ fields: [String: String], known: [RecordID: String]) {
    self.fields = fields
    self.known = known
  }

  /// The records, without their types, that references of a record refer to and that are not known.
  func unknown(in record: DatabaseRecord) -> Set<RecordID> {
    var unknown: Set<RecordID> = []
    for key in record.keys where fields["\(record.id.type).\(key)"] == nil {
      for reference in Self.references(in: record[key]) where known[reference.id] == nil {
        unknown.insert(reference.id)
      }
    }
    return unknown
  }

  /// Returns a record whose references have their types. A reference to a record that does not
  /// exist keeps an empty type if its field is not listed.
  func completed(_ record: DatabaseRecord) -> DatabaseRecord {
    guard record.keys.contains(where: { !Self.references(in: record[$0]).isEmpty }) else {
      return record
    }
    var fields: [String: FieldValue] = [:]
    for key in record.keys { fields[key] = completed(record[key], key, of: record.id) }
    return DatabaseRecord(record.id, fields: fields, tag: record.tag, modified: record.modified)
  }

  private func completed(_ value: FieldValue, _ key: String, of record: RecordID) -> FieldValue {
    switch value {
    case .reference(let reference):
      let type = fields["\(record.type).\(key)"] ?? known[reference.id] ?? ""
      return .reference(
        RecordReference(
          RecordID(type, reference.id.name, in: reference.id.zone), onDelete: reference.onDelete))
    case .list(let elements): return .list(elements.map { completed($0, key, of: record) })
    case .null, .integer, .double, .string, .bytes, .date: return value
    }
  }

  static func references(in value: FieldValue) -> [RecordReference] {
    switch value {
    case .reference(let reference): [reference]
    case .list(let elements): elements.flatMap { references(in: $0) }
    case .null, .integer, .double, .string, .bytes, .date: []
    }
  }
}
