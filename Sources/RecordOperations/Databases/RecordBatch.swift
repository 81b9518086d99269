/// Changes to records that are made by one request.
///
/// ```swift
/// import RecordOperations
///
/// let database = MemoryRecordDatabase()
/// let batch = RecordBatch([
///   .save(DatabaseRecord("Book", "9780141439600"), .ifUnchanged),
///   .delete(RecordID("Book", "9780141439587"), ifTagged: nil),
/// ])
/// let replies = try await database.modify(batch)
/// ```
public struct RecordBatch: Sendable {
  /// The changes, at most one for each record.
  public var changes: [RecordChange]
  /// Whether either all changes are made or none.
  public var isAtomic: Bool

  /// Creates a batch.
  ///
  /// - Parameters:
  ///   - changes: The changes, at most one for each record.
  ///   - isAtomic: Whether either all changes are made or none.
  public init(_ changes: [RecordChange], isAtomic: Bool = false) {
    self.changes = changes
    self.isAtomic = isAtomic
  }

  /// Returns a number of records as text, for names and errors.
  static func size(_ count: Int) -> String { count == 1 ? "1 record" : "\(count) records" }
}

/// A change to a record: a save or a deletion.
public enum RecordChange: Hashable, Sendable {
  /// Saves a record by a policy.
  case save(DatabaseRecord, SavePolicy)
  /// Deletes a record. With a tag, deletes it only if the record still has that tag.
  case delete(RecordID, ifTagged: RecordTag?)

  /// The ID of the record.
  public var id: RecordID {
    switch self {
    case .save(let record, _): record.id
    case .delete(let id, _): id
    }
  }

  /// The size of the change in bytes that counts toward ``RecordLimits/bytes``.
  var byteCount: Int {
    switch self {
    case .save(let record, _): record.byteCount
    case .delete(let id, _): id.byteCount
    }
  }
}

/// The fields of a record that a save writes, and the condition for the save.
public enum SavePolicy: String, Hashable, Sendable, CaseIterable {
  /// Saves the changed fields if no other writer has saved the record since it was read. A record
  /// without a tag must not exist yet.
  case ifUnchanged
  /// Saves the changed fields, even if another writer has saved the record. A record that does not
  /// exist is created from them.
  case changedKeys
  /// Saves all fields that the record has here, even if another writer has saved it. Other fields
  /// keep their values.
  case allKeys
  /// Saves all fields that the record has here, even if another writer has saved it. Other fields
  /// become null.
  case replace
}

/// The result of a change.
public enum RecordReply: Sendable {
  /// The record was saved. The associated value is its current state, with a new tag.
  case saved(DatabaseRecord)
  /// The record was deleted.
  case deleted
  /// The record was not changed.
  case failed(RecordError)
}

extension DatabaseRecord {
  /// Returns the fields that a save with a policy writes.
  package func fields(by policy: SavePolicy) -> [String: FieldValue] {
    switch policy {
    case .ifUnchanged where tag == nil: fields
    case .ifUnchanged, .changedKeys: fields.filter { originals[$0.key] != nil }
    case .allKeys, .replace: fields
    }
  }

  /// The size of the values, keys and ID of the record in bytes. A number counts 8 bytes, and a
  /// date 24 bytes.
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
