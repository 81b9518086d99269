import SystemSupport

/// The lines on the terminal.
// Sendable, because it is used by one task or on one queue only.
package final class Screen: @unchecked Sendable {
  /// The widths of the lines on the terminal.
  private var widths: [Int] = []

  /// Whether the terminal is used otherwise, so that no lines are shown.
  var isPaused = false

  package init() {}

  /// Replaces the lines in one write, so that they do not flicker.
  package func show(_ lines: [String], on output: StandardError) {
    if lines.isEmpty, widths.isEmpty { return }
    // A terminal that has become narrower has wrapped the lines.
    let columns = max(1, output.size.columns)
    let rows = widths.reduce(0) { $0 + max(1, ($1 + columns - 1) / columns) }
    let back = rows > 0 ? "\u{1B}[\(rows)A\r" : ""
    // Line by line: some terminals save text that is cleared as a whole for scrolling back.
    output.write(back + lines.map { "\u{1B}[2K\($0)\n" }.joined() + "\u{1B}[J")
    widths = lines.map(\.terminalWidth)
  }
}
