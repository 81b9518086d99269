/// A zone with its records, deletions and references.
struct CloudZone: Sendable {
  static let defaultName = "_defaultZone"

  /// A deletion, for the changes of the zone.
  struct Deletion: Sendable {
    var type: String
    var sequence: Int
  }

  let name: String
  let owner: String
  /// The position of the creation; a zone that is created again has another one.
  let creation: Int
  private(set) var sequence: Int
  private(set) var records: [String: CloudRecord] = [:]
  private(set) var deletions: [String: Deletion] = [:]
  /// By record name, the names of the records with a reference to it.
  private var sources: [String: Set<String>] = [:]

  init(name: String, owner: String, creation: Int) {
    self.name = name
    self.owner = owner
    self.creation = creation
    sequence = creation
  }

  var isDefault: Bool { name == Self.defaultName }

  var id: CloudValue { ["zoneName": .string(name), "ownerRecordName": .string(owner)] }

  mutating func save(_ record: CloudRecord) {
    unlink(record.name)
    for target in record.fields.values.flatMap(\.references) {
      sources[target.name, default: []].insert(record.name)
    }
    deletions[record.name] = nil
    records[record.name] = record
    sequence = record.sequence
  }

  mutating func delete(_ name: String, at sequence: Int) {
    guard let record = records[name] else { return }
    unlink(name)
    records[name] = nil
    deletions[name] = Deletion(type: record.type, sequence: sequence)
    self.sequence = sequence
  }

  /// The names of the records that refer to a record with an action.
  func sources(of name: String, action: String) -> [String] {
    (sources[name] ?? []).sorted().filter { source in
      records[source]?.fields.values.contains { field in
        field.references.contains { $0.name == name && $0.action == action }
      } ?? false
    }
  }

  /// The records that a deletion of one deletes: the record, then the sources of `DELETE_SELF`.
  ///
  /// - Throws: `VALIDATING_REFERENCE_ERROR` if another record has a `VALIDATE` reference to one.
  func cascade(from name: String) throws -> [String] {
    var names = [name]
    var index = 0
    while index < names.count {
      let next = sources(of: names[index], action: "DELETE_SELF")
      names += next.filter { !names.contains($0) }
      index += 1
    }
    for name in names {
      if let source = sources(of: name, action: "VALIDATE").first(where: { !names.contains($0) }) {
        throw CloudError(
          "VALIDATING_REFERENCE_ERROR", "record '\(source)' has a VALIDATE reference to '\(name)'")
      }
    }
    return names
  }

  private mutating func unlink(_ name: String) {
    for target in records[name]?.fields.values.flatMap(\.references) ?? [] {
      sources[target.name]?.remove(name)
    }
  }
}
