/// The error of an expectation that was not met: what was expected, what was seen, and where.
///
/// A test that throws it fails, whichever library it is written with.
public struct ExpectationError: Error, Sendable, CustomStringConvertible {
  /// What was expected and what was seen.
  public let message: String
  /// The module and the file of the test.
  public let file: String
  /// The line of the expectation.
  public let line: Int

  /// An error for an expectation of one's own.
  ///
  /// - Parameters:
  ///   - message: What was expected and what was seen.
  ///   - file: The module and the file of the test.
  ///   - line: The line of the expectation.
  public init(message: String, file: String = #fileID, line: Int = #line) {
    self.message = message
    self.file = file
    self.line = line
  }

  public var description: String { "\(file):\(line): \(message)" }
}
