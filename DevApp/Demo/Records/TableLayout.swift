/// Rows in columns that stand below one another.
struct TableLayout: Sendable {
  /// What is wider has the columns behind it moved, so that a long text does not move those of all rows.
  private static let widest = 120

  private let numbers: Set<Int>
  private let width: Int?
  private var widths: [Int] = []

  /// - Parameters:
  ///   - numbers: Which columns have numbers, and end at the same place.
  ///   - width: How many columns the terminal has, where lines are cut; nil for all that they have.
  init(numbers: Set<Int>, width: Int?) {
    self.numbers = numbers
    self.width = width
  }

  /// Rows as lines, below those that were there before: a column may become wider, and never narrower.
  mutating func text(of rows: [[String]]) -> String {
    // No line has more of a cell.
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
  /// At most so many characters of it, and one that says that there are more.
  fileprivate func shortened(to width: Int?) -> String {
    width.map { String(prefix($0 + 1)) } ?? self
  }

  /// Without what would break the line, or steer the terminal.
  fileprivate var onOneLine: String {
    if utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) { return self }
    return String(
      String.UnicodeScalarView(unicodeScalars.map { $0.breaksLine || $0.turnsLine ? "·" : $0 }))
  }
}

extension Unicode.Scalar {
  fileprivate var breaksLine: Bool {
    value < 0x20 || (0x7F..<0xA0).contains(value) || value == 0x2028 || value == 0x2029
  }

  /// Whether what follows stands in another direction than it is written, or it is not seen at all.
  fileprivate var turnsLine: Bool {
    switch value {
    case 0x061C, 0x200B, 0x200E, 0x200F, 0x202A...0x202E, 0x2060...0x2069, 0xFEFF: true
    default: false
    }
  }
}
