#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A record of a database, as it was read or will be saved.
///
/// ```swift
/// import RecordOperations
///
/// let database = MemoryRecordDatabase()
/// var book = DatabaseRecord("Book")
/// book["title"] = "Persuasion"
/// book["pages"] = 249
/// let saved = try await SaveRecords([book], in: database).run().get()
/// ```
///
/// A record keeps track of the keys that were set since it was read, and of their old values. A
/// save can therefore send only these fields, and merge them with what others have saved since.
public struct DatabaseRecord: Identifiable, Hashable, Sendable {
  /// The ID of the record.
  public let id: RecordID
  /// The version of the record; `nil` if it has never been saved. Only the database that issued it
  /// can interpret it.
  public private(set) var tag: RecordTag?
  /// The time of the last save; `nil` if there was none or the database does not know it.
  public private(set) var modified: Date?

  /// The time of the edit that a save brings from another database, which the database keeps if it can; nil for the
  /// time of the save.
  package var edited: Date?

  package private(set) var fields: [String: FieldValue]
  /// The old values of the keys that were set since the record was read or created.
  private(set) var originals: [String: FieldValue] = [:]

  /// Creates a new record.
  ///
  /// - Parameters:
  ///   - type: The type of the record.
  ///   - name: The name of the record; `nil` for a random UUID.
  ///   - zone: The zone of the record.
  public init(_ type: String, _ name: String? = nil, in zone: RecordZone = .default) {
    self.init(name.map { RecordID(type, $0, in: zone) } ?? RecordID(type, in: zone))
  }

  /// Creates a new record with an ID.
  public init(_ id: RecordID) { self.init(id, fields: [:], tag: nil, modified: nil) }

  /// Creates a record as a database has it.
  ///
  /// - Parameters:
  ///   - id: The ID of the record.
  ///   - fields: The values of the fields that were fetched.
  ///   - tag: The version of the record.
  ///   - modified: The time of its last save.
  public init(
    _ id: RecordID, fields: [String: FieldValue], tag: RecordTag?, modified: Date? = nil
  ) {
    self.id = id
    let isExact = fields.values.allSatisfy(\.isExact)
    self.fields = isExact ? fields : fields.mapValues(\.toTheMillisecond)
    self.tag = tag
    self.modified = modified
  }

  /// The keys that were set since the record was read or created.
  public var changedKeys: Set<String> { Set(originals.keys) }

  /// The keys that have a value, null or not, sorted.
  public var keys: [String] { fields.keys.sorted() }

  /// Whether the record has a value for a key, null or not. It has none for fields that were not
  /// fetched.
  public func has(_ key: String) -> Bool { fields[key] != nil }

  /// The record as it was read; `nil` if it appears not to have been read, so that its old values
  /// are not known.
  var asRead: DatabaseRecord? {
    let read = fields.merging(originals) { $1 }
    let wasRead = read.contains { key, value in value != .null || originals[key] == nil }
    return wasRead ? DatabaseRecord(id, fields: read, tag: tag, modified: modified) : nil
  }

  /// Returns the record as it was read, with another version of it.
  func tagged(_ tag: RecordTag) -> DatabaseRecord {
    var record = self
    record.tag = tag
    record.modified = nil
    record.originals = [:]
    return record
  }

  /// Returns the record with the values of another one for the keys that it has no value for. They
  /// do not count as changed.
  func completed(by other: DatabaseRecord) -> DatabaseRecord {
    var record = self
    record.fields.merge(other.fields) { own, _ in own }
    return record
  }

  /// Returns the record with only these fields; with all of them for `nil`.
  package func with(_ keys: [String]?) -> DatabaseRecord {
    guard let keys else { return self }
    let wanted = Set(keys)
    return DatabaseRecord(
      id, fields: fields.filter { wanted.contains($0.key) }, tag: tag, modified: modified)
  }

  /// The value for a key; null if there is none. A key that is set counts as changed, even if its
  /// value stays the same.
  public subscript(key: String) -> FieldValue {
    get { fields[key] ?? .null }
    set {
      if originals[key] == nil { originals[key] = self[key] }
      fields[key] = newValue.toTheMillisecond
    }
  }
}
