/// Which state of a record it is. Two of one record are equal if it was not saved in between.
public struct RecordTag: Hashable, Codable, Sendable, CustomStringConvertible {
  /// What the database calls it.
  public let description: String

  public init(_ description: String) { self.description = description }

  /// That of a record that was read without one: no record has it.
  static let unknown = RecordTag("")
}
