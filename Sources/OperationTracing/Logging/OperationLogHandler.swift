/// A destination for log lines.
///
/// ```swift
/// struct LinePrinter: OperationLogHandler {
///   func write(_ line: OperationLogLine) { print("\(line.level) \(line.path): \(line.text)") }
/// }
/// ```
///
/// A line is written on the thread that executes its run, so several lines can be written
/// concurrently. A handler must synchronize its state, and a slow handler slows down the run.
public protocol OperationLogHandler: Sendable {
  /// Writes a line.
  func write(_ line: OperationLogLine)
}
