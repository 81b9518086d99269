/// A problem with a row of a file, or with lines that look like one row, which were skipped. The
/// following rows are still read, unless the problem says otherwise.
public struct RowProblem: Error, Hashable, Sendable {
  /// The line of the file on which the row begins, starting at 1.
  public let line: Int
  /// The line of the file on which the row ends.
  public let lastLine: Int
  /// The number of rows that may be missing because of the problem; `Int.max` if the rest of the
  /// file cannot be read.
  ///
  /// A stray quote makes many rows look like one. So a row of CSV counts as often as it has lines,
  /// even if it is a row with line endings in its cells. In JSON, each object that begins in
  /// skipped text counts, unless the text is one valid object.
  public let rowCount: Int
  /// The problem, and what was expected.
  public let text: String

  /// The number of the object on its line, starting at 1. A whole file may be one line.
  private let number: Int

  /// - Parameters:
  ///   - lastLine: The line on which the row ends; `nil` if it ends on the line of its beginning.
  ///   - rowCount: The number of rows; `nil` for one row a line.
  init(
    line: Int, through lastLine: Int? = nil, number: Int = 1, rowCount: Int? = nil, _ text: String
  ) {
    self.line = line
    self.lastLine = lastLine ?? line
    self.rowCount = rowCount ?? self.lastLine - line + 1
    self.number = number
    self.text = number == 1 ? text : "object \(number) of the line: \(text)"
  }

  /// Whether a problem is about an earlier position in the file than another one.
  static func precedes(_ one: RowProblem, _ other: RowProblem) -> Bool {
    (one.line, one.number) < (other.line, other.number)
  }
}

extension RowProblem: CustomStringConvertible {
  public var description: String {
    let lines = line == lastLine ? "line \(line)" : "lines \(line) to \(lastLine)"
    return switch rowCount {
    case ...1: "\(lines): \(text)"
    case .max: "\(lines) (the rest of the file): \(text)"
    default: "\(lines) (\(rowCount) bad rows): \(text)"
    }
  }
}

extension Sequence<RowProblem> {
  /// The number of bad rows; `Int.max` if the rest of a file cannot be read.
  package var badRowCount: Int {
    reduce(0) { $1.rowCount > .max - $0 ? .max : $0 + $1.rowCount }
  }
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
