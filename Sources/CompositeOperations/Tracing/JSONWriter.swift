/// Writes JSON (RFC 8259) as UTF-8.
///
/// It puts the commas; that members stand in objects and values in arrays is up to the caller.
struct JSONWriter: Sendable {
  private(set) var bytes: [UInt8] = []
  private var needsComma = false

  var text: String { String(decoding: bytes, as: UTF8.self) }

  mutating func object(_ members: (inout JSONWriter) -> Void) {
    open("{")
    members(&self)
    close("}")
  }

  mutating func array(_ elements: (inout JSONWriter) -> Void) {
    open("[")
    elements(&self)
    close("]")
  }

  /// The name of a member, whose value follows.
  mutating func name(_ name: String) {
    string(name)
    bytes.append(UInt8(ascii: ":"))
    needsComma = false
  }

  mutating func string(_ text: String) {
    separate()
    bytes.append(UInt8(ascii: "\""))
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"):
        bytes.append(UInt8(ascii: "\\"))
        bytes.append(byte)
      case 0x0A: bytes.append(contentsOf: "\\n".utf8)
      case ..<0x20:
        bytes.append(contentsOf: "\\u00".utf8)
        for digit in [byte >> 4, byte & 15] {
          bytes.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
        }
      default: bytes.append(byte)
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }

  mutating func integer(_ number: some BinaryInteger) { literal("\(number)") }

  /// - Precondition: It is finite: JSON has no other numbers.
  mutating func number(_ number: Double) {
    precondition(number.isFinite, "JSON has no \(number).")
    literal("\(number)")
  }

  /// A time in microseconds, with nanoseconds behind the point.
  mutating func microseconds(_ time: Duration) {
    let nanoseconds = time.inNanoseconds
    let fraction = String(nanoseconds.magnitude % 1_000)
    let sign = nanoseconds < 0 ? "-" : ""
    literal(
      "\(sign)\(nanoseconds.magnitude / 1_000)."
        + String(repeating: "0", count: 3 - fraction.count) + fraction)
  }

  /// What stands between values and is none; the next one needs no comma.
  mutating func raw(_ text: String) {
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
  mutating func member(_ name: String, _ text: String) {
    self.name(name)
    string(text)
  }

  mutating func member(_ name: String, _ number: some BinaryInteger) {
    self.name(name)
    integer(number)
  }
}

extension Duration {
  var inNanoseconds: Int64 {
    let (seconds, attoseconds) = components
    return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
  }
}
