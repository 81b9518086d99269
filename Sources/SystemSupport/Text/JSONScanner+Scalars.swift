extension JSONScanner {
  /// Scans a number, as specified by RFC 8259. It is an integer if it has neither a fraction nor an
  /// exponent.
  package mutating func number() throws(JSONSyntaxError) -> (text: String, isInteger: Bool) {
    let start = position
    if next == UInt8(ascii: "-") { position += 1 }
    if next == UInt8(ascii: "0") { position += 1 } else { try skipDigits() }
    var isInteger = true
    if next == UInt8(ascii: ".") {
      isInteger = false
      position += 1
      try skipDigits()
    }
    if next == UInt8(ascii: "e") || next == UInt8(ascii: "E") {
      isInteger = false
      position += 1
      if next == UInt8(ascii: "+") || next == UInt8(ascii: "-") { position += 1 }
      try skipDigits()
    }
    return (String(decoding: bytes[start..<position], as: UTF8.self), isInteger)
  }

  private mutating func skipDigits() throws(JSONSyntaxError) {
    let start = position
    while let byte = next, byte.isDigit { position += 1 }
    if position == start { throw unexpected("a digit") }
  }

  package mutating func string() throws(JSONSyntaxError) -> String {
    position += 1
    var start = position
    var unescaped: [UInt8] = []
    while true {
      position = bytes.span.firstIndexToEscape(from: position)
      switch next {
      case .quote:
        let end = position
        position += 1
        let text: String?
        if unescaped.isEmpty {
          text = bytes.span.extracting(start..<end).text
        } else {
          unescaped += bytes[start..<end]
          text = unescaped.span.text
        }
        guard let text else {
          throw JSONSyntaxError(
            "the string before byte \(position + 1) of the object is not UTF-8",
            reason: "the string before this is not UTF-8")
        }
        return text
      case .backslash:
        unescaped += bytes[start..<position]
        position += 1
        try unescape(into: &unescaped)
        start = position
      case nil: throw unexpected("the closing quote of a string")
      default:
        guard takesControlCharacters else {
          throw unexpected("an escaped control character")
        }
        unescaped += bytes[start...position]
        position += 1
        start = position
      }
    }
  }

  private mutating func unescape(into text: inout [UInt8]) throws(JSONSyntaxError) {
    let byte = next
    position += 1
    switch byte {
    case .quote, .backslash, UInt8(ascii: "/"): text.append(byte ?? 0)
    case UInt8(ascii: "b"): text.append(0x08)
    case UInt8(ascii: "f"): text.append(0x0C)
    case UInt8(ascii: "n"): text.append(.lineFeed)
    case UInt8(ascii: "r"): text.append(.carriageReturn)
    case UInt8(ascii: "t"): text.append(.tab)
    case UInt8(ascii: "u"): text += String(try escapedScalar()).utf8
    default:
      position -= 1
      throw unexpected("one of \" \\ / b f n r t u after a backslash")
    }
  }

  /// Scans a scalar of four hexadecimal digits, or of two escapes if it needs a surrogate pair.
  private mutating func escapedScalar() throws(JSONSyntaxError) -> UnicodeScalar {
    let first = try hexadecimal()
    if let scalar = UnicodeScalar(first) { return scalar }
    let half = JSONSyntaxError(
      "the string has \\u\(String(first, radix: 16)), which is an unpaired surrogate and not a character"
    )
    guard UTF16.isLeadSurrogate(first), next == .backslash else { throw half }
    position += 1
    guard next == UInt8(ascii: "u") else { throw half }
    position += 1
    let second = try hexadecimal()
    guard UTF16.isTrailSurrogate(second) else { throw half }
    return UTF16.decode(UTF16.EncodedScalar([first, second]))
  }

  private mutating func hexadecimal() throws(JSONSyntaxError) -> UInt16 {
    var number: UInt16 = 0
    for _ in 0..<4 {
      guard let byte = next, let digit = Character(UnicodeScalar(byte)).hexDigitValue else {
        throw unexpected("four hexadecimal digits after \\u")
      }
      number = number << 4 | UInt16(digit)
      position += 1
    }
    return number
  }
}
