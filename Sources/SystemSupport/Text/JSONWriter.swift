/// A writer for JSON (RFC 8259) in UTF-8.
///
/// The writer inserts the commas. The caller must put members only into objects, and values only
/// into arrays.
package struct JSONWriter: Sendable {
  package private(set) var bytes: [UInt8] = []
  private var needsComma = false
  /// Whether the output is safe in an HTML script: no text in it can end the script, or a line of
  /// JavaScript.
  private let isForScript: Bool

  package init(forScript isForScript: Bool = false) { self.isForScript = isForScript }

  package var text: String { String(decoding: bytes, as: UTF8.self) }

  package mutating func object(_ members: (inout JSONWriter) -> Void) {
    open("{")
    members(&self)
    close("}")
  }

  package mutating func array(_ elements: (inout JSONWriter) -> Void) {
    open("[")
    elements(&self)
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
    bytes.append(UInt8(ascii: "\""))
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\":
        bytes.append(UInt8(ascii: "\\"))
        bytes.append(UInt8(ascii: scalar))
      case "\n": bytes.append(contentsOf: "\\n".utf8)
      case "\u{0}"..<" ": escape(scalar)
      case "<", ">", "&", "\u{7f}"..."\u{9f}", "\u{2028}", "\u{2029}":
        if isForScript { escape(scalar) } else { append(scalar) }
      default: append(scalar)
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }

  private mutating func append(_ scalar: Unicode.Scalar) {
    bytes.append(contentsOf: UTF8.encode(scalar) ?? .init())
  }

  private mutating func escape(_ scalar: Unicode.Scalar) {
    let digits = String(scalar.value, radix: 16)
    bytes.append(contentsOf: "\\u".utf8)
    bytes.append(contentsOf: String(repeating: "0", count: 4 - digits.count).utf8)
    bytes.append(contentsOf: digits.utf8)
  }

  package mutating func integer(_ number: some BinaryInteger) { literal("\(number)") }

  /// - Precondition: `number` is finite, because JSON has no other numbers.
  package mutating func number(_ number: Double) {
    precondition(number.isFinite, "`number` must be finite, as JSON requires (was \(number))")
    literal("\(number)")
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

  private mutating func literal(_ text: String) {
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
