/// Reads one value of JSON. Each function gives nil where it finds something else.
struct JSONParser {
  private static let deepest = 8

  private let bytes: [UInt8]
  private var position = 0

  init(_ text: String) { bytes = Array(text.utf8) }

  mutating func whole() -> JSONText.Value? {
    guard let value = value(depth: 0) else { return nil }
    skipSpace()
    return position == bytes.count ? value : nil
  }

  private mutating func value(depth: Int) -> JSONText.Value? {
    skipSpace()
    guard depth < Self.deepest, position < bytes.count else { return nil }
    switch bytes[position] {
    case UInt8(ascii: "["): return list(depth)
    case UInt8(ascii: "{"): return object(depth)
    case UInt8(ascii: "\""): return string().map { .string($0) }
    case UInt8(ascii: "n"): return takes("null") ? .null : nil
    case UInt8(ascii: "t"): return takes("true") ? .boolean(true) : nil
    case UInt8(ascii: "f"): return takes("false") ? .boolean(false) : nil
    default: return number()
    }
  }

  private mutating func list(_ depth: Int) -> JSONText.Value? {
    position += 1
    if takesMark("]") { return .list([]) }
    var values: [JSONText.Value] = []
    repeat {
      guard let value = value(depth: depth + 1) else { return nil }
      values.append(value)
    } while takesMark(",")
    return takesMark("]") ? .list(values) : nil
  }

  private mutating func object(_ depth: Int) -> JSONText.Value? {
    position += 1
    if takesMark("}") { return .object([:]) }
    var members: [String: JSONText.Value] = [:]
    repeat {
      skipSpace()
      guard position < bytes.count, bytes[position] == UInt8(ascii: "\""), let key = string(),
        takesMark(":"), let value = value(depth: depth + 1)
      else { return nil }
      members[key] = value
    } while takesMark(",")
    return takesMark("}") ? .object(members) : nil
  }

  private mutating func number() -> JSONText.Value? {
    let marks = Set("+-.eE0123456789".utf8)
    let start = position
    while position < bytes.count, marks.contains(bytes[position]) { position += 1 }
    let text = String(decoding: bytes[start..<position], as: UTF8.self)
    guard let first = text.first, first == "-" || first.isNumber else { return nil }
    return Int64(text).map { .integer($0) } ?? Double(text).map { .double($0) }
  }

  private mutating func string() -> String? {
    position += 1
    var text: [UInt8] = []
    while position < bytes.count {
      let byte = bytes[position]
      position += 1
      switch byte {
      case UInt8(ascii: "\""): return String(validating: text, as: UTF8.self)
      case UInt8(ascii: "\\"):
        guard let scalar = escape() else { return nil }
        text += Array(String(scalar).utf8)
      default: text.append(byte)
      }
    }
    return nil
  }

  private mutating func escape() -> Unicode.Scalar? {
    guard position < bytes.count else { return nil }
    let mark = bytes[position]
    position += 1
    switch mark {
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{c}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(mark)
    case UInt8(ascii: "u"): return unit().flatMap { scalar(beginningWith: $0) }
    default: return nil
    }
  }

  /// One of two units where the scalar has two.
  private mutating func scalar(beginningWith first: UInt32) -> Unicode.Scalar? {
    guard (0xD800..<0xDC00).contains(first) else { return Unicode.Scalar(first) }
    guard takes("\\u"), let second = unit(), (0xDC00..<0xE000).contains(second) else { return nil }
    return Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
  }

  private mutating func unit() -> UInt32? {
    guard position + 4 <= bytes.count else { return nil }
    let digits = String(decoding: bytes[position..<position + 4], as: UTF8.self)
    position += 4
    return digits.first == "+" ? nil : UInt32(digits, radix: 16)
  }

  private mutating func takes(_ text: StaticString) -> Bool {
    let wanted = Array("\(text)".utf8)
    guard bytes[position...].starts(with: wanted) else { return false }
    position += wanted.count
    return true
  }

  private mutating func takesMark(_ mark: Unicode.Scalar) -> Bool {
    skipSpace()
    guard position < bytes.count, bytes[position] == UInt8(ascii: mark) else { return false }
    position += 1
    return true
  }

  private mutating func skipSpace() {
    while position < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[position]) {
      position += 1
    }
  }
}
