/// The characters of a JSON string that are escaped, and how.
package enum JSONEscaping: Sendable {
  /// The characters for which JSON requires it.
  case required
  /// As SQLite escapes them: like ``required``, with short forms of U+0008 and U+000C.
  case sqlite
  /// Safe in an HTML script: no text can end the script, or a line of JavaScript.
  case script
}

/// A writer for JSON (RFC 8259) in UTF-8.
///
/// The writer inserts the commas. The caller must put members only into objects, and values only
/// into arrays.
package struct JSONWriter: Sendable {
  package private(set) var bytes: [UInt8] = []
  private var needsComma = false
  private let escaping: JSONEscaping

  /// - Parameter capacity: The expected number of bytes.
  package init(escaping: JSONEscaping = .required, capacity: Int = 0) {
    self.escaping = escaping
    bytes.reserveCapacity(capacity)
  }

  package var text: String { String(decoding: bytes, as: UTF8.self) }

  package mutating func object<Failure: Error>(
    _ members: (inout JSONWriter) throws(Failure) -> Void
  ) throws(Failure) {
    open("{")
    try members(&self)
    close("}")
  }

  package mutating func array<Failure: Error>(
    _ elements: (inout JSONWriter) throws(Failure) -> Void
  ) throws(Failure) {
    open("[")
    try elements(&self)
    close("]")
  }

  /// Writes the name of a member; its value must follow.
  package mutating func name(_ name: String) {
    string(name)
    bytes.append(UInt8(ascii: ":"))
    needsComma = false
  }

  package mutating func string(_ text: String) {
    separate()
    bytes.appendJSONString(text, escaping: escaping)
  }

  /// Writes bytes as a string in padded base64.
  package mutating func base64(_ content: Span<UInt8>) {
    separate()
    bytes.append(.quote)
    bytes.appendBase64(content)
    bytes.append(.quote)
  }

  package mutating func null() { literal("null") }

  package mutating func integer(_ number: Int64) {
    separate()
    bytes.appendNumber(number)
  }

  package mutating func integer(_ number: some BinaryInteger) { literal("\(number)") }

  /// - Precondition: `number` is finite, because JSON has no other numbers.
  package mutating func number(_ number: Double) {
    precondition(number.isFinite, "`number` must be finite, as JSON requires (was \(number))")
    separate()
    bytes.appendNumber(number)
  }

  /// Writes a time in microseconds, with three decimals for the nanoseconds.
  package mutating func microseconds(_ time: Duration) {
    let nanoseconds = time.inNanoseconds
    let fraction = String(nanoseconds.magnitude % 1_000)
    let sign = nanoseconds < 0 ? "-" : ""
    literal(
      "\(sign)\(nanoseconds.magnitude / 1_000)."
        + String(repeating: "0", count: 3 - fraction.count) + fraction)
  }

  /// Writes text between values that is not a value itself; the next value gets no comma.
  package mutating func raw(_ text: String) {
    bytes.append(contentsOf: text.utf8)
    needsComma = false
  }

  /// Writes a value that is already JSON.
  package mutating func literal(_ text: String) {
    separate()
    bytes.append(contentsOf: text.utf8)
  }

  private mutating func separate() {
    if needsComma { bytes.append(UInt8(ascii: ",")) }
    needsComma = true
  }

  private mutating func open(_ bracket: Unicode.Scalar) {
    separate()
    bytes.append(UInt8(ascii: bracket))
    needsComma = false
  }

  private mutating func close(_ bracket: Unicode.Scalar) {
    bytes.append(UInt8(ascii: bracket))
    needsComma = true
  }
}

extension JSONWriter {
  package mutating func member(_ name: String, _ text: String) {
    self.name(name)
    string(text)
  }

  package mutating func member(_ name: String, _ number: some BinaryInteger) {
    self.name(name)
    integer(number)
  }

  package mutating func member(_ name: String, _ texts: [String]) {
    self.name(name)
    array { json in for text in texts { json.string(text) } }
  }

  package mutating func member(_ name: String, _ numbers: [some BinaryInteger]) {
    self.name(name)
    array { json in for number in numbers { json.integer(number) } }
  }

  package mutating func member(_ name: String, _ numbers: [Double]) {
    self.name(name)
    array { json in for number in numbers { json.number(number) } }
  }
}

// MARK: - Strings

extension [UInt8] {
  /// Appends a JSON string with the required escapes.
  @inline(__always)
  package mutating func appendJSONString(_ text: Span<UInt8>) {
    let end = text.firstIndexToEscape(from: 0)
    guard end == text.count else { return appendJSONString(text, from: end, .required) }
    append(addingCapacity: text.count + 2) { output in
      output.append(.quote)
      output.append(text)
      output.append(.quote)
    }
  }

  /// Appends a JSON string.
  package mutating func appendJSONString(_ text: String, escaping: JSONEscaping = .required) {
    switch escaping {
    case .required, .sqlite: appendJSONString(text.utf8Span.span, from: 0, escaping)
    case .script: appendScriptString(text)
    }
  }

  /// - Parameter place: The first index that may need an escape.
  private mutating func appendJSONString(
    _ text: Span<UInt8>, from place: Int, _ escaping: JSONEscaping
  ) {
    append(.quote)
    defer { append(.quote) }
    var start = 0
    var end = text.firstIndexToEscape(from: place)
    while true {
      append(text.extracting(start..<end))
      if end == text.count { return }
      appendEscape(of: text[end], escaping)
      start = end + 1
      end = text.firstIndexToEscape(from: start)
    }
  }

  private mutating func appendScriptString(_ text: String) {
    append(.quote)
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\", "\u{0}"..<" ": appendEscape(of: UInt8(ascii: scalar), .script)
      case "<", ">", "&", "\u{7f}"..."\u{9f}", "\u{2028}", "\u{2029}":
        appendHexadecimalEscape(of: UInt16(scalar.value))
      default: append(contentsOf: UTF8.encode(scalar) ?? .init())
      }
    }
    append(.quote)
  }

  private mutating func appendEscape(of byte: UInt8, _ escaping: JSONEscaping) {
    switch byte {
    case .quote, .backslash: self += [.backslash, byte]
    case .lineFeed: self += "\\n".utf8
    case .carriageReturn: self += "\\r".utf8
    case .tab: self += "\\t".utf8
    case 0x08 where escaping == .sqlite: self += "\\b".utf8
    case 0x0C where escaping == .sqlite: self += "\\f".utf8
    default: appendHexadecimalEscape(of: UInt16(byte))
    }
  }

  private mutating func appendHexadecimalEscape(of unit: UInt16) {
    self += "\\u".utf8
    for shift in [12, 8, 4, 0] { append(Self.hexadecimalDigits[Int(unit >> shift & 0xF)]) }
  }

  private static let hexadecimalDigits = Array("0123456789abcdef".utf8)
}
