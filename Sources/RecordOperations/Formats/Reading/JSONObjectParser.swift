/// Reads a JSON object whose values are those of fields.
///
/// Foundation's parser does not do: it takes `1.0` for an integer and `9223372036854775808` for a fraction, and tells
/// neither the order of the keys nor that one is there twice.
struct JSONObjectParser {
  let bytes: [UInt8]
  private let limits: RowLimits
  var position = 0
  private var count = 0

  init(_ bytes: [UInt8], limits: RowLimits) {
    self.bytes = bytes
    self.limits = limits
  }

  typealias Fields = [(key: String, value: FieldValue)]

  /// All of the bytes as an object.
  mutating func object() throws(JSONSyntaxError) -> Fields {
    skipSpace()
    try expect(.openingBrace, "an object, which begins with \"{\",")
    var fields: Fields = []
    var keys = JSONKeys()
    skipSpace()
    if next == .closingBrace {
      position += 1
    } else {
      var key = ""
      repeat {
        skipSpace()
        guard next == .quote else { throw unexpected("a key, which is a string,") }
        key = try string()
        guard keys.insert(key) else { throw JSONSyntaxError("the key \(key.shown) is there twice") }
        skipSpace()
        try expect(.colon, "a colon behind the key \(key.shown)")
        fields.append((key, try value(of: key)))
      } while try passComma(
        orEnd: .closingBrace, "a comma or \"}\" behind the value of \(key.shown)")
    }
    skipSpace()
    if next != nil { throw unexpected("nothing behind the object") }
    return fields
  }

  private mutating func value(of key: String) throws(JSONSyntaxError) -> FieldValue {
    skipSpace()
    guard next == .openingBracket else { return try scalar(of: key) }
    position += 1
    var values: [FieldValue] = []
    skipSpace()
    if next == .closingBracket {
      position += 1
      try countValue()
      return .list([])
    }
    repeat {
      skipSpace()
      if next == .openingBracket {
        throw JSONSyntaxError("the field \(key.shown) has a list in a list, and no field has such")
      }
      values.append(try scalar(of: key))
    } while try passComma(orEnd: .closingBracket, "a comma or \"]\" in the list of \(key.shown)")
    return .list(values)
  }

  private mutating func scalar(of key: String) throws(JSONSyntaxError) -> FieldValue {
    try countValue()
    switch next {
    case .quote: return .string(try string())
    case let byte? where byte == UInt8(ascii: "-") || byte.isDigit: return try number(of: key)
    case .openingBrace:
      throw JSONSyntaxError(
        "the field \(key.shown) has an object with fields of its own, and no field has such")
    default:
      if pass("null") { return .null }
      if pass("true") { return .integer(1) }
      if pass("false") { return .integer(0) }
      throw unexpected("a value of \(key.shown): a string, a number, true, false, null or a list")
    }
  }

  private mutating func countValue() throws(JSONSyntaxError) {
    count += 1
    if count > limits.cells {
      throw JSONSyntaxError("the object is too large: it has at most \(limits.cells) values")
    }
  }

  /// - Returns: Whether there is a comma, and not the end.
  private mutating func passComma(
    orEnd end: UInt8, _ expected: @autoclosure () -> String
  ) throws(JSONSyntaxError) -> Bool {
    skipSpace()
    guard let byte = next, byte == .comma || byte == end else { throw unexpected(expected()) }
    position += 1
    return byte == .comma
  }
}

// MARK: Bytes

extension JSONObjectParser {
  var next: UInt8? { position < bytes.count ? bytes[position] : nil }

  private mutating func skipSpace() {
    while let byte = next, byte.isJSONSpace { position += 1 }
  }

  private mutating func expect(
    _ byte: UInt8, _ expected: @autoclosure () -> String
  ) throws(JSONSyntaxError) {
    guard next == byte else { throw unexpected(expected()) }
    position += 1
  }

  private mutating func pass(_ word: StaticString) -> Bool {
    let end = position + word.utf8CodeUnitCount
    guard end <= bytes.count, bytes[position..<end].elementsEqual("\(word)".utf8) else {
      return false
    }
    position = end
    return true
  }

  func unexpected(_ expected: String) -> JSONSyntaxError {
    JSONSyntaxError(
      """
      \(expected) was expected at byte \(position + 1) of the object, and there is \(next?.shown ?? "nothing more")
      """)
  }
}

extension String {
  /// It for people: short, and in one line.
  var shown: String { FieldValue.string(self).shown }
}
