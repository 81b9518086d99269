/// JSON text in the format of SQLite. Equal values have equal text, byte by byte, so that the text
/// can be compared.
enum JSONText {
  enum Value: Equatable {
    case null
    case boolean(Bool)
    case integer(Int64)
    case double(Double)
    case string(String)
    case list([Value])
    case object([String: Value])
  }

  static func string(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\u{8}": result += "\\b"
      case "\u{c}": result += "\\f"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      case "\0"..."\u{1f}":
        let digits = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }

  /// Returns the shortest text that is parsed as this number, and not as an integer. JSON has no
  /// infinity, so text for a number beyond the largest double represents it.
  static func number(_ number: Double) -> String {
    number.isInfinite ? (number < 0 ? "-1e999" : "1e999") : "\(number)"
  }

  static func hexadecimal(_ bytes: [UInt8]) -> String {
    let digits = Array("0123456789ABCDEF")
    return bytes.reduce(into: "") {
      $0.append(digits[Int($1 >> 4)])
      $0.append(digits[Int($1 & 15)])
    }
  }

  static func bytes(hexadecimal text: String) -> [UInt8]? {
    let digits = Array(text.utf8)
    guard digits.count.isMultiple(of: 2) else { return nil }
    var bytes: [UInt8] = []
    for index in stride(from: 0, to: digits.count, by: 2) {
      let pair = String(decoding: digits[index..<index + 2], as: UTF8.self)
      guard let byte = UInt8(pair, radix: 16), pair.first != "+" else { return nil }
      bytes.append(byte)
    }
    return bytes
  }

  /// Parses a value; nil if the text is not JSON, or nested deeper than any stored value.
  static func parse(_ text: String) -> Value? {
    var parser = JSONParser(text)
    return try? parser.whole()
  }
}
