/// A line of a log: what a body said, or what happened to a run.
public struct OperationLogLine: Sendable {
  public let level: OperationLogLevel
  /// What it says; of several lines, if it holds the description of an error.
  public let text: String
  /// Which run it is about.
  public let id: OperationID
  /// The names from the outermost run to that one.
  public let path: OperationPath
  /// The number of the attempt that the run is, from 1.
  public let attempt: Int
  /// When it happened, in nanoseconds since the beginning of 1970, UTC.
  public let nanosecondsSince1970: Int64

  /// A line, for tests of a handler.
  ///
  /// - Parameters:
  ///   - level: How much it matters.
  ///   - text: What it says.
  ///   - id: Which run it is about.
  ///   - path: The names from the outermost run to that one.
  ///   - attempt: The number of the attempt that the run is, from 1.
  ///   - nanosecondsSince1970: When it happened, UTC.
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
