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

/// The maximum size of the rows of a file. A larger row is skipped and is a ``RowProblem``, so that
/// a hostile or unsuitable file needs no more memory than that.
package struct RowLimits: Hashable, Sendable {
  /// The maximum size of a cell in bytes. It does not apply to JSON, where an object is read as a
  /// whole.
  package var cellBytes: Int
  /// The maximum size of a row in bytes, without its line ending; in JSON, of an object.
  package var rowBytes: Int
  /// The maximum number of cells of a row; in JSON, of fields of an object and elements of its
  /// lists. Each needs memory, even if it is empty.
  package var cells: Int

  package init(cellBytes: Int = 1 << 30, rowBytes: Int = 1 << 30, cells: Int = 1 << 20) {
    self.cellBytes = cellBytes
    self.rowBytes = rowBytes
    self.cells = cells
  }
}
