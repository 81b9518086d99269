/// What is wrong with a row of a file, which has been left out. Those behind it are read all the same, unless it says
/// otherwise.
public struct RowProblem: Error, Hashable, Sendable {
  /// The line of the file on which the row begins; the first one is 1.
  public let line: Int
  /// What is wrong, and what was expected.
  public let text: String

  init(line: Int, _ text: String) {
    self.line = line
    self.text = text
  }
}

extension RowProblem: CustomStringConvertible {
  public var description: String { "line \(line): \(text)" }
}
