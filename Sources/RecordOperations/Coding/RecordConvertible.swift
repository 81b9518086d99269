#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// What can be kept as a record.
///
/// A `Codable` type with an `id` has nothing to add: its `id` is the name of the record, and each of its other
/// properties a field.
///
/// ```swift
/// import RecordOperations
///
/// struct Edition: Codable, Identifiable, RecordConvertible {
///   let id: String
///   var title: String
///   var pages: Int
///   var lent: Date?
/// }
///
/// let record = try Edition(id: "9780141439600", title: "Persuasion", pages: 249).record()
/// let edition = try Edition(record)
/// ```
///
/// A type without an `id` says what its record is called, ``recordName``. One that is not `Codable`, or whose fields are
/// to be others, makes them by itself.
public protocol RecordConvertible: Sendable {
  /// What kind of record it is: the name of the type if nothing else is said.
  static var recordType: String { get }

  /// The property whose value is the name of the record, and no field: `id` in a type that is `Identifiable`.
  static var recordNameKey: String? { get }

  /// What its record is called.
  var recordName: String { get }

  /// - Throws: A ``FieldValueError`` if a field has a value that the type cannot have.
  init(_ record: DatabaseRecord) throws

  /// Sets the fields of its record.
  ///
  /// - Throws: A ``FieldValueError`` if a property is no value of a field.
  func fill(_ record: inout DatabaseRecord) throws
}

extension RecordConvertible {
  public static var recordType: String { "\(Self.self)" }
  public static var recordNameKey: String? { nil }

  /// It as a record that has never been saved.
  ///
  /// - Throws: A ``FieldValueError`` if a property is no value of a field.
  public func record(in zone: RecordZone = .default) throws -> DatabaseRecord {
    var record = DatabaseRecord(RecordID(Self.recordType, recordName, in: zone))
    try fill(&record)
    return record
  }

  /// A record that was read, with the fields as they are here. Those alone count as changed that are different.
  ///
  /// - Throws: A ``FieldValueError`` if a property is no value of a field.
  public func updating(_ record: DatabaseRecord) throws -> DatabaseRecord {
    var filled = DatabaseRecord(record.id)
    try fill(&filled)
    var record = record
    for key in filled.keys where !record.has(key) || record[key] != filled[key] {
      record[key] = filled[key]
    }
    return record
  }
}

extension RecordConvertible where Self: Identifiable {
  public static var recordNameKey: String? { "id" }
}

extension RecordConvertible where Self: Identifiable, ID: LosslessStringConvertible {
  public var recordName: String { id.description }
}

extension RecordConvertible where Self: Identifiable, ID == UUID {
  /// In lower case. A row of another program whose key is the same in upper case is another record: save what was read
  /// of it with ``updating(_:)``.
  public var recordName: String { id.uuidString.lowercased() }
}

extension RecordConvertible where Self: Codable {
  public init(_ record: DatabaseRecord) throws {
    self = try Self(from: RecordDecoder(record, nameKey: Self.recordNameKey))
  }

  public func fill(_ record: inout DatabaseRecord) throws {
    for (key, value) in try RecordEncoder.fields(of: self, for: record.id)
    where key != Self.recordNameKey {
      record[key] = value
    }
  }
}
