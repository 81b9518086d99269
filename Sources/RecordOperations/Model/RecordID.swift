#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Which record it is: by a name that no other record of its type has in its zone.
///
/// ```swift
/// import RecordOperations
///
/// let id = RecordID("Book", "9780141439600")
/// let new = RecordID("Book")  // a name that nobody else has
/// ```
///
/// A name is made where the record is, and not by the database. So a record that may have been saved, and whose
/// answer was lost, is saved again under the same name, and is not there twice.
public struct RecordID: Hashable, Codable, Sendable {
  /// What kind of thing it is: in a database of tables, the table.
  public let type: String
  /// What it is called among those of its type: in a table, the text of its key.
  public let name: String
  /// Which part of the database it is in.
  public let zone: RecordZone

  public init(_ type: String, _ name: String, in zone: RecordZone = .default) {
    self.type = type
    self.name = name
    self.zone = zone
  }

  /// One with a new name: a random UUID.
  public init(_ type: String, in zone: RecordZone = .default) {
    self.init(type, UUID().uuidString.lowercased(), in: zone)
  }
}

// Byte by byte: a database keeps texts apart that are the same to a reader, and to `String`.
extension RecordID {
  public static func == (one: RecordID, other: RecordID) -> Bool {
    one.name.utf8.elementsEqual(other.name.utf8) && one.type.utf8.elementsEqual(other.type.utf8)
      && one.zone == other.zone
  }

  public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

extension RecordID: CustomStringConvertible {
  public var description: String {
    zone == .default ? "\(type)/\(name)" : "\(zone.name)/\(type)/\(name)"
  }
}

/// A part of a database whose changes are told of by themselves. Not every database has more than one.
public struct RecordZone: Hashable, Codable, Sendable {
  /// The zone that every database has.
  public static let `default` = RecordZone("")

  /// What it is called; empty for the one that every database has.
  public let name: String

  public init(_ name: String) { self.name = name }
}
