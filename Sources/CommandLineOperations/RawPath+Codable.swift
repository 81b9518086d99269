// A path is stored as text. A percent sign, and every byte of a path that is not UTF-8 and not
// printable ASCII, is stored as a percent sign and two digits.
extension RawPath: Codable {
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(journalText)
  }

  public init(from decoder: any Decoder) throws {
    self.init(journalText: try decoder.singleValueContainer().decode(String.self))
  }

  /// The path as text, from which ``init(journalText:)`` restores every byte.
  public var journalText: String {
    let percent = UInt8(ascii: "%")
    let text = utf8
    if let text, !bytes.contains(percent) { return text }
    let isUTF8 = text != nil
    var escaped: [UInt8] = []
    for byte in bytes {
      if byte == percent || !isUTF8 && !(0x20..<0x7F).contains(byte) {
        escaped.append(percent)
        escaped += String(byte >> 4, radix: 16).utf8
        escaped += String(byte & 15, radix: 16).utf8
      } else {
        escaped.append(byte)
      }
    }
    return String(decoding: escaped, as: UTF8.self)
  }

  public init(journalText text: String) {
    let percent = UInt8(ascii: "%")
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.utf8.count)
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
      if byte == percent, let escaped = UInt8(Substring(rest.prefix(2)), radix: 16) {
        bytes.append(escaped)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    self.init(bytes: bytes)
  }
}
