/// Takes the lines of a log: where a log goes.
///
/// ```swift
/// struct LinePrinter: OperationLogHandler {
///   func write(_ line: OperationLogLine) { print("\(line.level) \(line.path): \(line.text)") }
/// }
/// ```
///
/// It is called where the run is that the line is about, also by several at a time: it guards what it keeps,
/// and a slow one slows that run.
public protocol OperationLogHandler: Sendable {
  /// Takes a line.
  func write(_ line: OperationLogLine)
}
