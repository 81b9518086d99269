/// What is wrong with a row of a file, which has been left out. Those behind it are read all the same, unless it says
/// otherwise.
public struct RowProblem: Error, Hashable, Sendable {
  /// The line of the file on which the row begins; the first one is 1.
  public let line: Int
  /// What is wrong, and what was expected.
  public let text: String

  /// Which object of its line it is about, from 1. A whole file may be one line.
  private let number: Int

  init(line: Int, number: Int = 1, _ text: String) {
    self.line = line
    self.number = number
    self.text = number == 1 ? text : "object \(number) of the line: \(text)"
  }

  /// Whether it is about something before that in the file.
  static func precedes(_ one: RowProblem, _ other: RowProblem) -> Bool {
    (one.line, one.number) < (other.line, other.number)
  }
}

extension RowProblem: CustomStringConvertible {
  public var description: String { "line \(line): \(text)" }
}
