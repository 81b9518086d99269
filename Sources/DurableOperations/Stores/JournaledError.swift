/// An error of a step that was read from a journal and cannot be restored as itself, because it is
/// not `Codable`, or because this program does not have its type.
public struct JournaledError: Error, Codable, Hashable, Sendable, CustomStringConvertible {
  /// The name of the error's type.
  public let type: String
  /// Its description when it was stored.
  public let description: String

  /// Creates an error.
  public init(type: String, description: String) {
    self.type = type
    self.description = description
  }
}
