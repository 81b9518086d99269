import SystemSupport

/// A layout of rows in aligned columns.
struct TableLayout: Sendable {
  /// The maximum width of a column. A longer cell shifts the rest of its row, but no other row.
  private static let widest = 120

  private let numbers: Set<Int>
  private let width: Int?
  private var widths: [Int] = []

  /// - Parameters:
  ///   - numbers: The columns with numbers, which are aligned to the right.
  ///   - width: The number of columns of the terminal, where lines are cut; nil for no limit.
  init(numbers: Set<Int>, width: Int?) {
    self.numbers = numbers
    self.width = width
  }

  /// Returns the lines of further rows. A column can become wider than in previous rows, but not
  /// narrower.
  ///
  /// - Parameter decorate: Adds colors to the line of a row with an index.
  mutating func text(
    of rows: [[String]], decorate: (Int, String) -> String = { _, line in line }
  ) -> String {
    // A line has no room for more of a cell.
    let rows = rows.map { $0.map { $0.shortened(to: width).onOneLine } }
    for row in rows {
      for (column, cell) in row.enumerated() {
        if column == widths.count { widths.append(0) }
        widths[column] = max(widths[column], min(cell.terminalWidth, Self.widest))
      }
    }
    return rows.enumerated().map { decorate($0, line($1)) + "\n" }.joined()
  }

  private func line(_ cells: [String]) -> String {
    let padded = cells.enumerated().map { column, cell in
      let space = String(repeating: " ", count: max(0, widths[column] - cell.terminalWidth))
      return numbers.contains(column) ? space + cell : cell + space
    }
    var line = padded.joined(separator: "  ")
    while line.last == " " { line.removeLast() }
    return width.map { line.cut(to: $0) } ?? line
  }
}

extension String {
  /// Returns the text, cut to one more character than fits, which shows that it is cut.
  fileprivate func shortened(to width: Int?) -> String {
    width.map { String(prefix($0 + 1)) } ?? self
  }
}
