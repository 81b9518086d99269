/// A problem with a row of a file, which was skipped. The following rows are still read, unless the
/// problem says otherwise.
public struct RowProblem: Error, Hashable, Sendable {
  /// The line of the file on which the row begins, starting at 1.
  public let line: Int
  /// The problem, and what was expected.
  public let text: String

  /// The number of the object on its line, starting at 1. A whole file may be one line.
  private let number: Int

  init(line: Int, number: Int = 1, _ text: String) {
    self.line = line
    self.number = number
    self.text = number == 1 ? text : "object \(number) of the line: \(text)"
  }

  /// Whether a problem is about an earlier position in the file than another one.
  static func precedes(_ one: RowProblem, _ other: RowProblem) -> Bool {
    (one.line, one.number) < (other.line, other.number)
  }
}

extension RowProblem: CustomStringConvertible {
  public var description: String { "line \(line): \(text)" }
}
