extension String {
  /// The number of terminal columns that the text takes.
  package var terminalWidth: Int {
    if utf8.allSatisfy({ $0 < 0x80 }) { return utf8.count }
    return reduce(0) { $0 + $1.terminalWidth }
  }

  /// Returns the text in a number of columns, with an ellipsis if it is cut.
  package func cut(to width: Int) -> String {
    if terminalWidth <= width { return self }
    var room = max(1, width - 1)
    return prefix {
      room -= $0.terminalWidth
      return room >= 0
    } + "…"
  }
}

extension Character {
  /// The scalars that are wide or full-width in Unicode's `EastAsianWidth.txt`, in whole blocks.
  private static let wide: [ClosedRange<UInt32>] = [
    0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x4DBF, 0x4E00...0xA4CF, 0xA960...0xA97F,
    0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6,
    0x1F200...0x1F2FF, 0x20000...0x3FFFD,
  ]

  /// The number of terminal columns: two for East Asian characters and emoji.
  fileprivate var terminalWidth: Int {
    guard let scalar = unicodeScalars.first, scalar.value >= 0x1100 else { return 1 }
    if scalar.properties.isEmojiPresentation || unicodeScalars.contains("\u{FE0F}") { return 2 }
    return Self.wide.contains { $0.contains(scalar.value) } ? 2 : 1
  }
}
