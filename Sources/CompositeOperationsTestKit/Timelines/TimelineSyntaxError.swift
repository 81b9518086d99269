/// An error thrown when a timeline is invalid.
public struct TimelineSyntaxError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The text of the timeline.
  public let timeline: String
  /// The index of the invalid character, from 0; the length of the text if something is missing at
  /// its end.
  public let offset: Int
  /// The reason, in words.
  public let reason: String

  /// The reason, and the timeline with a mark below the invalid character.
  public var description: String {
    """
    invalid timeline: \(reason)
      \(timeline)
      \(String(repeating: " ", count: offset))▲
    """
  }
}
