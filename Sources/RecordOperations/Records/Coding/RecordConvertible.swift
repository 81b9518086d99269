#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A type whose values can be stored as records.
///
/// A `Codable` type with an `id` needs no implementation: its `id` is the name of the record, and
/// each other property is a field. A property that has properties of its own, such as a nested struct
/// or a dictionary, is JSON in its field.
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
/// A type without an `id` implements ``recordName``. A type that is not `Codable`, or that needs
/// different fields, implements `init(_:)` and `fill(_:)`.
public protocol RecordConvertible: Sendable {
  /// The type of the record. The default is the name of the Swift type.
  static var recordType: String { get }

  /// The property that is the name of the record and not a field.
  ///
  /// The default is `id` for an `Identifiable` type, and `nil` otherwise.
  static var recordNameKey: String? { get }

  /// The name of the record.
  var recordName: String { get }

  /// Creates a value from a record.
  ///
  /// - Parameter record: A record of the type `recordType`.
  /// - Throws: A ``FieldValueError`` if a field has a value that its property cannot have; any
  ///   error of the type's own decoding.
  init(_ record: DatabaseRecord) throws

  /// Sets the fields of a record to the properties of this value.
  ///
  /// - Parameter record: The record to fill.
  /// - Throws: A ``FieldValueError`` if no field can hold a property; any error of the type's own
  ///   encoding.
  func fill(_ record: inout DatabaseRecord) throws
}

extension RecordConvertible {
  /// The name of the Swift type.
  public static var recordType: String { "\(Self.self)" }
  /// `nil`: every property is a field.
  public static var recordNameKey: String? { nil }

  /// Returns a new record with the properties of this value as fields. The record has no tag.
  ///
  /// - Parameter zone: The zone of the record.
  /// - Throws: A ``FieldValueError`` if no field can hold a property; any error of the type's own
  ///   encoding.
  public func record(in zone: RecordZone = .default) throws -> DatabaseRecord {
    var record = DatabaseRecord(RecordID(Self.recordType, recordName, in: zone))
    try fill(&record)
    return record
  }

  /// Returns a record that was read, updated with the properties of this value.
  ///
  /// Only the fields whose values differ count as changed.
  ///
  /// - Parameter record: The record that was read.
  /// - Throws: A ``FieldValueError`` if no field can hold a property; any error of the type's own
  ///   encoding.
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
  /// `id`.
  public static var recordNameKey: String? { "id" }
}

extension RecordConvertible where Self: Identifiable, ID: LosslessStringConvertible {
  /// The description of the `id`.
  public var recordName: String { id.description }
}

extension RecordConvertible where Self: Identifiable, ID == UUID {
  /// The `id` in lower case.
  ///
  /// A row of another program with the same key in upper case is a different record. To save such a
  /// row, update the record that was read with ``updating(_:)``.
  public var recordName: String { id.uuidString.lowercased() }
}

extension RecordConvertible where Self: Codable {
  /// Decodes a value from the fields and the name of a record.
  ///
  /// - Throws: A ``FieldValueError`` if a field has a value that its property cannot have; a
  ///   `DecodingError` for JSON that does not fit its property; any error of the type's own decoding.
  public init(_ record: DatabaseRecord) throws {
    self = try Self(from: RecordDecoder(record, nameKey: Self.recordNameKey))
  }

  /// Encodes this value as the fields of a record.
  ///
  /// - Throws: A ``FieldValueError`` if no field can hold a property; any error of the type's own
  ///   encoding.
  public func fill(_ record: inout DatabaseRecord) throws {
    for (key, value) in try RecordEncoder.fields(of: self, for: record.id)
    where key != Self.recordNameKey {
      record[key] = value
    }
  }
}
