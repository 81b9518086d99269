/// JSON text in columns of SQLite.
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
