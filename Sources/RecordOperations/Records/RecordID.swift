internal import SystemSupport

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// The ID of a record: its type, its zone, and a name that is unique among the records of this type
/// and zone.
///
/// A zone is a part of a database: see ``RecordZone``.
///
/// ```swift
/// import RecordOperations
///
/// let id = RecordID("Book", "9780141439600")
/// let new = RecordID("Book")  // with a unique name
/// ```
///
/// The name of a record is chosen by the creator of the record, not by the database. If the reply
/// to a save is lost, the record can be saved again under the same name without creating a
/// duplicate.
public struct RecordID: Hashable, Codable, Sendable {
  /// The type of the record: in a database of tables, the table.
  public let type: String
  /// The name of the record: in a database of tables, the key of its row, as a text.
  public let name: String
  /// The zone of the record.
  public let zone: RecordZone

  /// Creates an ID with a name.
  ///
  /// - Parameters:
  ///   - type: The type of the record.
  ///   - name: The name of the record.
  ///   - zone: The zone of the record.
  public init(_ type: String, _ name: String, in zone: RecordZone = .default) {
    self.type = type
    self.name = name
    self.zone = zone
  }

  /// Creates an ID with a new name, which is a random UUID.
  ///
  /// - Parameters:
  ///   - type: The type of the record.
  ///   - zone: The zone of the record.
  public init(_ type: String, in zone: RecordZone = .default) {
    self.init(type, UUID().uuidString.lowercased(), in: zone)
  }
}

// Compared byte by byte: a database distinguishes strings that `String` considers equal.
extension RecordID {
  public static func == (one: RecordID, other: RecordID) -> Bool {
    one.name.hasSameBytes(as: other.name) && one.type.hasSameBytes(as: other.type)
      && one.zone == other.zone
  }

  public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

extension RecordID: CustomStringConvertible {
  /// `TYPE/NAME`, or `ZONE/TYPE/NAME` in a zone other than the default one.
  public var description: String {
    zone == .default ? "\(type)/\(name)" : "\(zone.name)/\(type)/\(name)"
  }
}

/// A part of a database whose changes are reported separately. Not every database has more than
/// one.
///
/// ```swift
/// import RecordOperations
///
/// let shared = RecordZone("shared")
/// let book = DatabaseRecord("Book", "9780141439600", in: shared)
/// ```
public struct RecordZone: Hashable, Codable, Sendable {
  /// The zone that every database has.
  public static let `default` = RecordZone("")

  /// The name of the zone; empty for the default zone.
  public let name: String

  /// Creates a zone with a name.
  public init(_ name: String) { self.name = name }
}

/// The version of a record. Two tags of one record are equal if it was not saved in between.
public struct RecordTag: Hashable, Codable, Sendable, CustomStringConvertible {
  /// The database's text for the version.
  public let description: String

  /// Creates a tag from the database's text for the version.
  public init(_ description: String) { self.description = description }

  /// The tag of a record that was read without one. No record in a database has it.
  static let unknown = RecordTag("")
}
