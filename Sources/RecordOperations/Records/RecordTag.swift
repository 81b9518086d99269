/// The version of a record. Two tags of one record are equal if it was not saved in between.
public struct RecordTag: Hashable, Codable, Sendable, CustomStringConvertible {
  /// The database's text for the version.
  public let description: String

  /// Creates a tag from the database's text for the version.
  public init(_ description: String) { self.description = description }

  /// The tag of a record that was read without one. No record in a database has it.
  static let unknown = RecordTag("")
}
