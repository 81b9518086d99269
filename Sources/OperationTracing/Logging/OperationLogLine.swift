public import CompositeOperations

/// A line of a log: a message from a body, or an event of a run.
public struct OperationLogLine: Sendable {
  /// The level of the line.
  public let level: OperationLogLevel
  /// The message, which has several lines if it contains the description of an error.
  public let text: String
  /// The run that the line is about.
  public let id: OperationID
  /// The names from the outermost run to this one.
  public let path: OperationPath
  /// The number of the attempt, from 1.
  public let attempt: Int
  /// When it happened, in nanoseconds since 1970-01-01, UTC.
  public let nanosecondsSince1970: Int64

  /// Creates a line, for tests of a handler.
  ///
  /// - Parameters:
  ///   - level: The level of the line.
  ///   - text: The message.
  ///   - id: The run that the line is about.
  ///   - path: The names from the outermost run to this one.
  ///   - attempt: The number of the attempt, from 1.
  ///   - nanosecondsSince1970: When it happened, in nanoseconds since 1970-01-01, UTC.
  public init(
    level: OperationLogLevel, text: String, id: OperationID, path: OperationPath, attempt: Int,
    nanosecondsSince1970: Int64
  ) {
    self.level = level
    self.text = text
    self.id = id
    self.path = path
    self.attempt = attempt
    self.nanosecondsSince1970 = nanosecondsSince1970
  }
}
