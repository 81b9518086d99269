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
  mutating func text(of rows: [[String]]) -> String {
    // A line has no room for more of a cell.
    let rows = rows.map { $0.map { $0.shortened(to: width).onOneLine } }
    for row in rows {
      for (column, cell) in row.enumerated() {
        if column == widths.count { widths.append(0) }
        widths[column] = max(widths[column], min(cell.terminalWidth, Self.widest))
      }
    }
    return rows.map { line($0) + "\n" }.joined()
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

  /// The text without characters that break the line or control the terminal.
  var onOneLine: String {
    if utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) { return self }
    return String(
      String.UnicodeScalarView(unicodeScalars.map { $0.breaksLine || $0.turnsLine ? "·" : $0 }))
  }
}

extension Unicode.Scalar {
  fileprivate var breaksLine: Bool {
    value < 0x20 || (0x7F..<0xA0).contains(value) || value == 0x2028 || value == 0x2029
  }

  /// Whether the scalar changes the direction of the text after it, or is invisible.
  fileprivate var turnsLine: Bool {
    switch value {
    case 0x061C, 0x200B, 0x200E, 0x200F, 0x202A...0x202E, 0x2060...0x2069, 0xFEFF: true
    default: false
    }
  }
}
