/// Changes of records that are made by one request.
public struct RecordBatch: Sendable {
  public var changes: [RecordChange]
  /// Whether all of them are made or none.
  public var isAtomic: Bool

  public init(_ changes: [RecordChange], isAtomic: Bool = false) {
    self.changes = changes
    self.isAtomic = isAtomic
  }
}

/// A record that is to be saved or deleted.
public enum RecordChange: Hashable, Sendable {
  case save(DatabaseRecord, SavePolicy)
  /// Deletes a record; where a tag is given, only if the record still has that one.
  case delete(RecordID, ifTagged: RecordTag?)

  public var id: RecordID {
    switch self {
    case .save(let record, _): record.id
    case .delete(let id, _): id
    }
  }

  /// How much it counts by ``RecordLimits/bytes``.
  var byteCount: Int {
    switch self {
    case .save(let record, _): record.byteCount
    case .delete(let id, _): id.byteCount
    }
  }
}

/// What of a record is saved, and under which condition.
public enum SavePolicy: String, Hashable, Sendable, CaseIterable {
  /// The changed fields, if nobody else has saved the record since it was read. A record that has no tag must not be
  /// there yet.
  case ifUnchanged
  /// The changed fields, whoever has saved it since. A record that is not there is made of them.
  case changedKeys
  /// All fields that the record has here, whoever has saved it since. Others stay as they are.
  case allKeys
  /// All fields that the record has here, whoever has saved it since. Others become null.
  case replace
}

/// What became of a change.
public enum RecordReply: Sendable {
  /// It is saved, and like this now: with a new tag.
  case saved(DatabaseRecord)
  case deleted
  case failed(RecordError)
}

extension DatabaseRecord {
  /// The fields that are saved.
  package func fields(by policy: SavePolicy) -> [String: FieldValue] {
    switch policy {
    case .ifUnchanged where tag == nil: fields
    case .ifUnchanged, .changedKeys: fields.filter { originals[$0.key] != nil }
    case .allKeys, .replace: fields
    }
  }

  /// How many bytes its values, its keys and its name have together: a number counts 8, a moment 24.
  public var byteCount: Int {
    fields.reduce(id.byteCount) { $0 + $1.key.utf8.count + $1.value.byteCount }
  }
}

extension RecordID {
  var byteCount: Int { type.utf8.count + name.utf8.count + zone.name.utf8.count }
}

extension FieldValue {
  var byteCount: Int {
    switch self {
    case .null: 0
    case .integer, .double: 8
    case .string(let text): text.utf8.count
    case .bytes(let bytes): bytes.count
    case .date: 24
    case .reference(let reference): reference.id.byteCount
    case .list(let values): values.reduce(0) { $0 + $1.byteCount }
    }
  }
}
