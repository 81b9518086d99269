internal import CompositeOperations
internal import SystemSupport

/// A log handler that writes to standard error.
///
/// ```text
/// 2026-11-22T12:03:04.123Z warning Sync/FetchIssues #7 (attempt 2): failed after 12.4 ms: HTTP 500
/// ```
///
/// Each line is written immediately and in one piece; further lines of a message are indented.
/// Write errors are ignored. If standard error is a pipe without a reader, the system terminates a
/// program that does not ignore `SIGPIPE`.
public struct StandardErrorLogHandler: OperationLogHandler {
  /// Creates a handler.
  public init() {}

  public func write(_ line: OperationLogLine) {
    try? FileDescriptor.standardError.write(
      Array((line.formatted + "\n").utf8), brokenPipe: .signal)
  }
}

extension OperationLogHandler where Self == StandardErrorLogHandler {
  /// A log handler that writes to standard error.
  public static var standardError: Self { StandardErrorLogHandler() }
}

extension String {
  fileprivate var withoutControlCharacters: String {
    unicodeScalars.reduce(into: "") { text, scalar in
      if scalar.properties.generalCategory == .control, scalar != "\n", scalar != "\t" {
        text += "\\u{\(String(scalar.value, radix: 16))}"
      } else {
        text.unicodeScalars.append(scalar)
      }
    }
  }
}

extension OperationLogLine {
  /// The line as ``StandardErrorLogHandler`` writes it: time, level, path, identifier and message.
  ///
  /// Control characters are written as their numbers, so that a line cannot control a terminal.
  public var formatted: String {
    let attempt = attempt > 1 ? " (attempt \(attempt))" : ""
    let path = "\(path)".split(whereSeparator: \.isNewline).joined(separator: " ")
    return "\(CivilTime(nanosecondsSince1970)) \(level) \(path) \(id)\(attempt): \(text)"
      .withHangingLines.withoutControlCharacters
  }
}
