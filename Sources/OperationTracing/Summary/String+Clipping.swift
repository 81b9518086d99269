extension String {
  /// Returns the text, cut to a number of scalars with an ellipsis. The limit applies to scalars,
  /// because a character can have any number of them.
  func clipped(to count: Int) -> String {
    let scalars = unicodeScalars
    guard let end = scalars.index(scalars.startIndex, offsetBy: count, limitedBy: scalars.endIndex),
      end < scalars.endIndex
    else { return self }
    return String(scalars[..<scalars.index(before: end)]) + "…"
  }

  /// Returns the clipped text on one line.
  func clippedLine(to count: Int) -> String {
    String(clipped(to: count).map { $0.isNewline ? " " : $0 })
  }

  /// Returns the text on one line that is at most about as wide as a number of Latin letters.
  /// Chinese, Japanese and Korean characters and emoji count twice. Accents do not count, and a
  /// letter keeps at most two of them.
  func clippedLine(toWidth most: Int) -> String {
    var line = String.UnicodeScalarView()
    var (width, accents, count, kept) = (0, 0, 0, 0)
    for scalar in clippedLine(to: 1_000).unicodeScalars {
      let isAccent = scalar.properties.generalCategory == .nonspacingMark
      accents = isAccent ? accents + 1 : 0
      if accents > 2 { continue }
      width += isAccent ? 0 : scalar.value >= 0x1100 ? 2 : 1
      if width > most { return String(String.UnicodeScalarView(line.prefix(kept))) + "…" }
      line.append(scalar)
      count += 1
      // Leaves room for the ellipsis.
      if width < most { kept = count }
    }
    return String(line)
  }
}
