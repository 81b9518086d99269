extension String {
  /// The number of terminal columns that the text takes.
  package var terminalWidth: Int {
    if utf8.allSatisfy({ $0 < 0x80 }) { return utf8.count }
    return reduce(0) { $0 + $1.terminalWidth }
  }

  /// Returns the text in a number of columns, with an ellipsis if it is cut.
  package func cut(to width: Int) -> String {
    if terminalWidth <= width { return self }
    var room = width - 1
    return prefix {
      room -= $0.terminalWidth
      return room >= 0
    } + "…"
  }
}

extension Character {
  /// The number of terminal columns.
  fileprivate var terminalWidth: Int {
    guard let scalar = unicodeScalars.first, scalar.value >= 0x300 else { return 1 }
    if scalar.properties.isEmojiPresentation || unicodeScalars.contains("\u{FE0F}") { return 2 }
    return unicodeScalars.reduce(0) { $0 + $1.terminalWidth }
  }
}

extension Unicode.Scalar {
  /// The scalars that are wide or full-width in Unicode's `EastAsianWidth.txt`, in whole blocks.
  private static let wide: [ClosedRange<UInt32>] = [
    0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x4DBF, 0x4E00...0xA4CF, 0xA960...0xA97F,
    0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6,
    0x1F200...0x1F2FF, 0x20000...0x3FFFD,
  ]

  /// The number of terminal columns as the function `wcwidth` of the C library counts them: two for
  /// East Asian characters; none for marks over others, joiners, and vowels inside a Korean syllable.
  fileprivate var terminalWidth: Int {
    switch properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format: return 0
    default: break
    }
    if (0x1160...0x11FF).contains(value) { return 0 }
    return Self.wide.contains { $0.contains(value) } ? 2 : 1
  }
}
