extension Int64 {
  /// Parses up to 18 decimal digits with an optional sign; nil for anything else.
  @inline(__always)
  init?(decimal bytes: UnsafeRawBufferPointer) {
    var index = 0
    var isNegative = false
    if let sign = unsafe bytes.first, sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") {
      isNegative = sign == UInt8(ascii: "-")
      index = 1
    }
    // 18 digits always fit into 64 bits. Callers use `Int64.init` for longer text.
    guard bytes.count > index, bytes.count - index <= 18 else { return nil }
    var number: Int64 = 0
    while index < bytes.count {
      let digit = unsafe bytes[index] &- UInt8(ascii: "0")
      guard digit <= 9 else { return nil }
      number = number &* 10 &+ Int64(digit)
      index &+= 1
    }
    self = isNegative ? -number : number
  }
}

extension Double {
  /// Parses a short decimal number with an optional sign and fraction, such as `-255.07`; nil for
  /// anything else.
  ///
  /// At most 15 digits are an exact `Double`, and so is the power of ten. So the division rounds
  /// once, and returns the nearest number.
  @inline(__always)
  init?(shortDecimal bytes: UnsafeRawBufferPointer) {
    var index = 0
    var isNegative = false
    if let sign = unsafe bytes.first, sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") {
      isNegative = sign == UInt8(ascii: "-")
      index = 1
    }
    guard bytes.count > index, bytes.count - index <= 16 else { return nil }
    var digits: Int64 = 0
    var (digitCount, fractionCount, hasPoint) = (0, 0, false)
    while index < bytes.count {
      let byte = unsafe bytes[index]
      index &+= 1
      let digit = byte &- UInt8(ascii: "0")
      if digit <= 9 {
        digits = digits &* 10 &+ Int64(digit)
        digitCount &+= 1
        if hasPoint { fractionCount &+= 1 }
      } else if byte == UInt8(ascii: "."), !hasPoint {
        hasPoint = true
      } else {
        return nil
      }
    }
    guard digitCount > 0, digitCount <= 15 else { return nil }
    let number = Double(digits) / Self.powersOfTen[fractionCount]
    self = isNegative ? -number : number
  }

  private static let powersOfTen: [16 of Double] = [
    1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
  ]

  /// Parses a decimal number; nil for other text that `Double` accepts: hexadecimal digits and
  /// words.
  package init?(decimal text: String) {
    let marks = Set("+-.eE0123456789".utf8)
    guard text.utf8.allSatisfy(marks.contains), let number = Double(text) else { return nil }
    self = number
  }

  /// Whether a decimal number was too large or too small for a `Double`: an infinity, or zero
  /// although the text has another digit.
  func isOutOfRange(of text: String) -> Bool {
    if !isFinite { return true }
    guard self == 0 else { return false }
    return text.utf8.prefix { $0 | 0x20 != UInt8(ascii: "e") }.contains { 0x31...0x39 ~= $0 }
  }
}

extension String {
  /// The string without the whitespace that SQLite ignores around numbers.
  var withoutSpaceAround: String {
    let spaces: Set<UInt8> = [0x20, 0x09, 0x0A, 0x0B, 0x0C, 0x0D]
    let isSpace = { (byte: UInt8) in spaces.contains(byte) }
    guard let first = utf8.first, let last = utf8.last, isSpace(first) || isSpace(last) else {
      return self
    }
    return String(
      decoding: utf8.drop(while: isSpace).reversed().drop(while: isSpace).reversed(), as: UTF8.self)
  }
}
