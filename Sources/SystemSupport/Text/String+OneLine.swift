extension String {
  /// The text without characters that break the line or control the terminal.
  package var onOneLine: String {
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
