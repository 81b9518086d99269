/// Writes the lines of a log to standard error.
///
/// ```text
/// 2026-11-22T12:03:04.123Z warning Sync/FetchIssues #7 (attempt 2): failed after 12.4 ms: HTTP 500
/// ```
///
/// Every line is written at once and in one piece; what is in it of more lines is set in. Nobody is told where
/// standard error cannot be written; a program that does not ignore `SIGPIPE` is ended by the system where it is a
/// pipe that nobody reads any more.
public struct StandardErrorLogHandler: OperationLogHandler {
  public init() {}

  public func write(_ line: OperationLogLine) {
    try? OutputFile.standardError.write(Array((line.formatted + "\n").utf8))
  }
}

extension OperationLogHandler where Self == StandardErrorLogHandler {
  /// Writes the lines to standard error.
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
  /// The time, the level, the path, the identity and the text, as ``StandardErrorLogHandler`` writes them.
  ///
  /// Control characters are written as their numbers, so that nothing in a line does anything to a terminal.
  public var formatted: String {
    let attempt = attempt > 1 ? " (attempt \(attempt))" : ""
    let path = "\(path)".split(whereSeparator: \.isNewline).joined(separator: " ")
    return "\(CivilTime(nanosecondsSince1970)) \(level) \(path) \(id)\(attempt): \(text)"
      .withHangingLines.withoutControlCharacters
  }
}
