internal import SystemSupport

/// A scanner of JSON tokens.
struct JSONScanner {
  let bytes: [UInt8]
  /// Whether strings may contain unescaped control characters, which JSON does not allow and SQLite
  /// writes.
  let takesControlCharacters: Bool
  var position = 0

  init(_ bytes: [UInt8], takingControlCharacters takesControlCharacters: Bool = false) {
    self.bytes = bytes
    self.takesControlCharacters = takesControlCharacters
  }

  var next: UInt8? { position < bytes.count ? bytes[position] : nil }

  /// Advances by one byte.
  mutating func advance() { position += 1 }

  mutating func skipSpace() {
    while let byte = next, byte.isJSONSpace { position += 1 }
  }

  mutating func expect(
    _ byte: UInt8, _ expected: @autoclosure () -> String
  ) throws(JSONSyntaxError) {
    guard next == byte else { throw unexpected(expected()) }
    position += 1
  }

  /// Consumes a word, if it is next.
  ///
  /// - Returns: Whether it was.
  mutating func consume(_ word: StaticString) -> Bool {
    let end = position + word.utf8CodeUnitCount
    guard end <= bytes.count, bytes[position..<end].elementsEqual("\(word)".utf8) else {
      return false
    }
    position = end
    return true
  }

  func unexpected(_ expected: String) -> JSONSyntaxError {
    JSONSyntaxError(
      """
      expected \(expected) at byte \(position + 1) of the object, found \(next?.shortText ?? "its end")
      """)
  }

  /// - Returns: Whether there is a comma, and not the end.
  mutating func consumeComma(
    orEnd end: UInt8, _ expected: @autoclosure () -> String
  ) throws(JSONSyntaxError) -> Bool {
    skipSpace()
    guard let byte = next, byte == .comma || byte == end else { throw unexpected(expected()) }
    position += 1
    return byte == .comma
  }
}

/// An error in the syntax of an object, or for values that no field can hold.
struct JSONSyntaxError: Error {
  let text: String

  init(_ text: String) { self.text = text }
}

extension UInt8 {
  var isJSONSpace: Bool {
    self == .space || self == .lineFeed || self == .carriageReturn || self == .tab
  }

  var isDigit: Bool { self >= UInt8(ascii: "0") && self <= UInt8(ascii: "9") }

  /// The byte for messages.
  var shortText: String {
    self > .space && self < 0x7F
      ? "\"\(Character(UnicodeScalar(self)))\"" : "the byte 0x\(String(self, radix: 16))"
  }
}
