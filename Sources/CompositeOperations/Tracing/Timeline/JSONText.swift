/// One object of JSON, as bytes, that may stand in a script of HTML: no text in it can end the script.
struct JSONText {
  private var bytes = Array("{".utf8)

  /// The whole object.
  var text: String { String(decoding: bytes + Array("}\n".utf8), as: UTF8.self) }

  mutating func add(_ key: String, _ value: String) {
    begin(key)
    append(value)
  }

  mutating func add(_ key: String, _ value: some BinaryInteger) {
    begin(key)
    append(value)
  }

  mutating func add(_ key: String, _ values: [some BinaryInteger]) {
    addList(key, values) { $0.append($1) }
  }

  mutating func add(_ key: String, _ values: [String]) {
    addList(key, values) { $0.append($1) }
  }

  /// Numbers that are finite, to a hundredth.
  mutating func add(_ key: String, hundredthsOf values: [Double]) {
    addList(key, values) { json, value in
      let hundredths = Int(value * 100 + 0.5)
      json.append(hundredths / 100)
      json.bytes.append(contentsOf: ".\(hundredths / 10 % 10)\(hundredths % 10)".utf8)
    }
  }

  private mutating func begin(_ key: String) {
    if bytes.count > 1 { bytes.append(contentsOf: ",\n".utf8) }
    append(key)
    bytes.append(UInt8(ascii: ":"))
  }

  private mutating func addList<Value>(
    _ key: String, _ values: [Value], _ add: (inout Self, Value) -> Void
  ) {
    begin(key)
    bytes.append(UInt8(ascii: "["))
    for (index, value) in values.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      add(&self, value)
    }
    bytes.append(UInt8(ascii: "]"))
  }

  private mutating func append(_ value: some BinaryInteger) {
    bytes.append(contentsOf: String(value).utf8)
  }

  private mutating func append(_ value: String) {
    bytes.append(UInt8(ascii: "\""))
    for scalar in value.unicodeScalars {
      switch scalar {
      case "\"", "\\":
        bytes.append(UInt8(ascii: "\\"))
        bytes.append(contentsOf: UTF8.encode(scalar) ?? .init())
      // What ends a script, and what ends a line in JavaScript alone.
      case "<", ">", "&", "\u{0}"..<" ", "\u{7f}"..."\u{9f}", "\u{2028}", "\u{2029}":
        let digits = String(scalar.value, radix: 16)
        bytes.append(contentsOf: "\\u".utf8)
        bytes.append(contentsOf: String(repeating: "0", count: 4 - digits.count).utf8)
        bytes.append(contentsOf: digits.utf8)
      default: bytes.append(contentsOf: UTF8.encode(scalar) ?? .init())
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }
}
