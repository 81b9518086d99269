/// The encoding of a text file, as far as its first bytes show.
package enum TextEncoding: Hashable, Sendable {
  /// Any other encoding. The reader checks whether it is valid UTF-8.
  case utf8
  /// UTF-16 with a byte order mark.
  case utf16(isBigEndian: Bool)
  /// An unsupported encoding, by its name.
  case unsupported(String)

  /// The number of bytes that suffice to detect the encoding.
  private static let prefixCount = 4

  /// Detects the encoding of a file.
  ///
  /// - Parameters:
  ///   - bytes: The first bytes of a file.
  ///   - isWhole: Whether the file has no more bytes.
  /// - Returns: `nil` if more bytes are needed.
  package init?(prefix bytes: [UInt8], isWhole: Bool) {
    if bytes.count < Self.prefixCount, !isWhole, Self.needsMore(bytes) { return nil }
    // The substitutes for missing bytes are neither part of a mark nor zero.
    let next = bytes + [1, 1, 1, 1]
    self =
      switch (next[0], next[1], next[2], next[3]) {
      case (0xFF, 0xFE, 0, 0): .unsupported("UTF-32LE")
      case (0, 0, 0xFE, 0xFF): .unsupported("UTF-32BE")
      case (0xFF, 0xFE, _, _): .utf16(isBigEndian: false)
      case (0xFE, 0xFF, _, _): .utf16(isBigEndian: true)
      // Two ASCII characters without a mark. In UTF-8, every second one would be a NUL.
      case (1..., 0, 1..., 0): .unsupported("UTF-16LE")
      case (0, 1..., 0, 1...): .unsupported("UTF-16BE")
      default: .utf8
      }
  }

  private static func needsMore(_ bytes: [UInt8]) -> Bool {
    guard let first = bytes.first else { return true }
    let second = bytes.dropFirst().first
    return switch first {
    case 0: true
    case 0xFE: second == nil
    case 0xFF: second == nil || second == 0xFE
    default: second == nil || second == 0
    }
  }
}

/// A converter of UTF-16 to UTF-8, for text in pieces of any size.
///
/// Ill-formed text, such as an unpaired surrogate or half of a code unit, becomes bytes that are
/// not valid UTF-8, so that the reader reports it with its line.
package struct UTF16Transcoder: Sendable {
  private let isBigEndian: Bool
  /// The first byte of a code unit.
  private var half: UInt8?
  /// The first surrogate of a pair.
  private var leading: UInt16?
  private var isAtStart = true

  package init(isBigEndian: Bool) { self.isBigEndian = isBigEndian }

  package mutating func append(_ piece: Span<UInt8>, to text: inout [UInt8]) {
    text.reserveCapacity(text.count + piece.count * 3 / 2 + 3)
    for index in piece.indices {
      guard let first = half else {
        half = piece[index]
        continue
      }
      half = nil
      let (high, low) = isBigEndian ? (first, piece[index]) : (piece[index], first)
      append(UInt16(high) << 8 | UInt16(low), to: &text)
    }
  }

  /// Ends the text.
  package mutating func finish(_ text: inout [UInt8]) {
    endPair(&text)
    if half != nil { text.append(0xFF) }
    half = nil
  }

  private mutating func append(_ unit: UInt16, to text: inout [UInt8]) {
    defer { isAtStart = false }
    // The mark is not part of the text.
    if isAtStart, unit == 0xFEFF { return }
    if let first = leading, UTF16.isTrailSurrogate(unit) {
      leading = nil
      let scalar = 0x1_0000 + (UInt32(first) & 0x3FF) << 10 + UInt32(unit) & 0x3FF
      text += [
        UInt8(scalar >> 18) | 0xF0, UInt8(scalar >> 12 & 0x3F) | 0x80,
        UInt8(scalar >> 6 & 0x3F) | 0x80, UInt8(scalar & 0x3F) | 0x80,
      ]
      return
    }
    endPair(&text)
    if UTF16.isLeadSurrogate(unit) { leading = unit } else { Self.append(unit, to: &text) }
  }

  private mutating func endPair(_ text: inout [UInt8]) {
    if let leading { Self.append(leading, to: &text) }
    leading = nil
  }

  /// Appends a code unit. A surrogate becomes three bytes that are not valid UTF-8.
  private static func append(_ unit: UInt16, to text: inout [UInt8]) {
    switch unit {
    case 0..<0x80: text.append(UInt8(unit))
    case 0x80..<0x800:
      text.append(UInt8(unit >> 6) | 0xC0)
      text.append(UInt8(unit & 0x3F) | 0x80)
    default:
      text.append(UInt8(unit >> 12) | 0xE0)
      text.append(UInt8(unit >> 6 & 0x3F) | 0x80)
      text.append(UInt8(unit & 0x3F) | 0x80)
    }
  }
}
