extension String {
  /// The text, or its beginning and an ellipsis: so many scalars at most. A character can have any number of
  /// scalars.
  func clipped(to count: Int) -> String {
    let scalars = unicodeScalars
    guard let end = scalars.index(scalars.startIndex, offsetBy: count, limitedBy: scalars.endIndex),
      end < scalars.endIndex
    else { return self }
    return String(scalars[..<scalars.index(before: end)]) + "…"
  }

  /// Clipped, and in one line.
  func clippedLine(to count: Int) -> String {
    String(clipped(to: count).map { $0.isNewline ? " " : $0 })
  }

  /// In one line that is about as wide as so many Latin letters at most. What is written in Chinese, Japanese
  /// or Korean, and pictures, count twice; accents do not count, and no more than two of them stand on a letter.
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
      // Room for the ellipsis.
      if width < most { kept = count }
    }
    return String(line)
  }
}
