// The short functions are inlinable because an import of JSON calls them for each token.

/// A scanner of JSON tokens.
package struct JSONScanner {
  package let bytes: [UInt8]
  /// Whether strings may contain unescaped control characters, which JSON does not allow and SQLite
  /// writes.
  package let takesControlCharacters: Bool
  /// The index of the next byte.
  package var position = 0

  @inlinable package init(
    _ bytes: [UInt8], takingControlCharacters takesControlCharacters: Bool = false
  ) {
    self.bytes = bytes
    self.takesControlCharacters = takesControlCharacters
  }

  @inlinable package var next: UInt8? { position < bytes.count ? bytes[position] : nil }

  /// Advances by one byte.
  @inlinable package mutating func advance() { position += 1 }

  @inlinable package mutating func skipSpace() {
    while let byte = next, byte.isJSONSpace { position += 1 }
  }

  @inlinable package mutating func expect(
    _ byte: UInt8, _ expected: @autoclosure () -> String
  ) throws(JSONSyntaxError) {
    guard next == byte else { throw unexpected(expected()) }
    position += 1
  }

  /// Consumes a word, if it is next.
  ///
  /// - Returns: Whether it was.
  package mutating func consume(_ word: StaticString) -> Bool {
    let end = position + word.utf8CodeUnitCount
    guard end <= bytes.count, bytes[position..<end].elementsEqual("\(word)".utf8) else {
      return false
    }
    position = end
    return true
  }

  package func unexpected(_ expected: String) -> JSONSyntaxError {
    JSONSyntaxError(
      """
      expected \(expected) at byte \(position + 1) of the object, found \(next?.shortText ?? "its end")
      """,
      reason: "expected \(expected), found \(next?.shortText ?? "the end of the file")")
  }

  /// - Returns: Whether there is a comma, and not the end.
  @inlinable package mutating func consumeComma(
    orEnd end: UInt8, _ expected: @autoclosure () -> String
  ) throws(JSONSyntaxError) -> Bool {
    skipSpace()
    guard let byte = next, byte == .comma || byte == end else { throw unexpected(expected()) }
    position += 1
    return byte == .comma
  }
}

/// An error in the syntax of an object, or for values that no field can hold.
package struct JSONSyntaxError: Error {
  /// The message for an object on a line of its own. It counts bytes.
  package let text: String
  /// The message without a position, for readers that count lines and columns. The scanner has the
  /// position.
  package let reason: String

  /// - Parameter reason: The text, if nil.
  package init(_ text: String, reason: String? = nil) {
    self.text = text
    self.reason = reason ?? text
  }
}

extension UInt8 {
  @inlinable package var isJSONSpace: Bool {
    self == .space || self == .lineFeed || self == .carriageReturn || self == .tab
  }

  @inlinable package var isDigit: Bool { self >= UInt8(ascii: "0") && self <= UInt8(ascii: "9") }

  /// The byte for messages.
  package var shortText: String {
    self > .space && self < 0x7F
      ? "\"\(Character(UnicodeScalar(self)))\"" : "the byte 0x\(String(self, radix: 16))"
  }
}
