#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A record of a database, as it was read or is to be saved.
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
/// It remembers which of its keys have been set since it was read, and what there was, so that a save can send those
/// alone and be merged with what others have saved in between.
public struct DatabaseRecord: Identifiable, Hashable, Sendable {
  public let id: RecordID
  /// Which state of the record it is; nil if it has never been saved. It comes from the database, and says nothing
  /// to others.
  public let tag: RecordTag?
  /// When it was saved; nil if it never was, or where the database does not know.
  public let modified: Date?

  package private(set) var fields: [String: FieldValue]
  /// What there was for the keys that have been set since it was read or made.
  private(set) var originals: [String: FieldValue] = [:]

  /// A new one.
  ///
  /// - Parameters:
  ///   - type: What kind of thing it is.
  ///   - name: What it is called; a random UUID if it is left out.
  ///   - zone: In which part of the database it is.
  public init(_ type: String, _ name: String? = nil, in zone: RecordZone = .default) {
    self.init(name.map { RecordID(type, $0, in: zone) } ?? RecordID(type, in: zone))
  }

  /// A new one.
  public init(_ id: RecordID) { self.init(id, fields: [:], tag: nil, modified: nil) }

  /// One that a database has.
  ///
  /// - Parameters:
  ///   - id: Which one.
  ///   - fields: What is in it, of the keys that were asked for.
  ///   - tag: Which state of it that is.
  ///   - modified: When it was saved.
  public init(
    _ id: RecordID, fields: [String: FieldValue], tag: RecordTag?, modified: Date? = nil
  ) {
    self.id = id
    self.fields = fields.mapValues(\.toTheMillisecond)
    self.tag = tag
    self.modified = modified
  }

  /// The keys that have been set since it was read or made.
  public var changedKeys: Set<String> { Set(originals.keys) }

  /// The keys that it has values for, null or not, in their order.
  public var keys: [String] { fields.keys.sorted() }

  /// Whether it has a value for a key, null or not. It has none for those that were not asked for.
  public func has(_ key: String) -> Bool { fields[key] != nil }

  /// It as it was read; nil if it does not look as if it had been: nothing is known of what there was.
  var asRead: DatabaseRecord? {
    let read = fields.merging(originals) { $1 }
    let wasRead = read.contains { key, value in value != .null || originals[key] == nil }
    return wasRead ? DatabaseRecord(id, fields: read, tag: tag, modified: modified) : nil
  }

  /// It with the values of another one for the keys that it has none for, unchanged.
  func completed(by other: DatabaseRecord) -> DatabaseRecord {
    var record = self
    record.fields.merge(other.fields) { own, _ in own }
    return record
  }

  /// The value for a key; null if there is none. One that is set is among the changed ones, whether it is
  /// another one or not.
  public subscript(key: String) -> FieldValue {
    get { fields[key] ?? .null }
    set {
      if originals[key] == nil { originals[key] = self[key] }
      fields[key] = newValue.toTheMillisecond
    }
  }
}
