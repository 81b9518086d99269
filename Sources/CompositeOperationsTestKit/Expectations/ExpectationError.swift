/// An error thrown when an expectation is not met.
///
/// A test that throws it fails, in any test library. Throw it from your own expectations:
///
/// ```swift
/// func expectNone(_ issues: [Issue], file: String = #fileID, line: Int = #line) throws {
///   if issues.isEmpty { return }
///   let message = "expected no issues, but saw \(issues.count)"
///   throw ExpectationError(message: message, file: file, line: line)
/// }
/// ```
public struct ExpectationError: Error, Sendable, CustomStringConvertible {
  /// The expected and the actual behavior.
  public let message: String
  /// The module and the file of the test.
  public let file: String
  /// The line of the expectation.
  public let line: Int

  /// Creates an error.
  ///
  /// - Parameters:
  ///   - message: The expected and the actual behavior.
  ///   - file: The module and the file of the test.
  ///   - line: The line of the expectation.
  public init(message: String, file: String = #fileID, line: Int = #line) {
    self.message = message
    self.file = file
    self.line = line
  }

  /// The file, the line and the message.
  public var description: String { "\(file):\(line): \(message)" }
}
