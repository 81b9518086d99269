internal import SystemSupport

extension UInt8 {
  var isJSONSpace: Bool {
    self == .space || self == .lineFeed || self == .carriageReturn || self == .tab
  }

  var isDigit: Bool { self >= UInt8(ascii: "0") && self <= UInt8(ascii: "9") }

  /// The byte for messages.
  var shown: String {
    self > .space && self < 0x7F
      ? "\"\(Character(UnicodeScalar(self)))\"" : "the byte 0x\(String(self, radix: 16))"
  }
}
