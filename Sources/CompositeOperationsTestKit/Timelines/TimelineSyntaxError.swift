/// The error of a timeline that cannot be read: which one, where, and why.
public struct TimelineSyntaxError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The timeline as it was written.
  public let timeline: String
  /// The character that cannot be read, from 0; the length where something is missing at the end.
  public let offset: Int
  /// What is wrong with it.
  public let reason: String

  public var description: String {
    """
    invalid timeline: \(reason)
      \(timeline)
      \(String(repeating: " ", count: offset))▲
    """
  }
}
