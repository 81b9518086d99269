extension RawPath: Codable {
  /// Encodes the path as one string, ``percentEncoded``.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(percentEncoded)
  }

  /// Decodes a path from one string, ``percentEncoded``.
  ///
  /// - Throws: `DecodingError` if there is no string.
  public init(from decoder: any Decoder) throws {
    self.init(percentEncoded: try decoder.singleValueContainer().decode(String.self))
  }

  /// The path as text from which ``init(percentEncoded:)`` restores every byte.
  ///
  /// A percent sign is encoded as `%25`. If the path is not UTF-8, each byte that is not printable
  /// ASCII is encoded too. All other paths are unchanged, so the text is readable, and not valid in a
  /// URL.
  public var percentEncoded: String {
    let percent = UInt8(ascii: "%")
    let text = text
    if let text, !bytes.contains(percent) { return text }
    let isUTF8 = text != nil
    var encoded: [UInt8] = []
    for byte in bytes {
      if byte == percent || !isUTF8 && !(0x20..<0x7F).contains(byte) {
        encoded.append(percent)
        encoded += String(byte >> 4, radix: 16).utf8
        encoded += String(byte & 15, radix: 16).utf8
      } else {
        encoded.append(byte)
      }
    }
    return String(decoding: encoded, as: UTF8.self)
  }

  /// Creates the path that ``percentEncoded`` describes.
  ///
  /// A percent sign without two hexadecimal digits after it stays as it is.
  public init(percentEncoded text: String) {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.utf8.count)
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%"), let encoded = Self.byte(rest.prefix(2)) {
        bytes.append(encoded)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    self.init(bytes: bytes)
  }

  /// The byte that two hexadecimal digits describe; nil for other texts.
  private static func byte(_ text: Substring.UTF8View) -> UInt8? {
    let digits = text.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
    return digits.count == 2 ? UInt8(digits[0] << 4 | digits[1]) : nil
  }
}
