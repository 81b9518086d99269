internal import SystemSupport

/// A parser of a JSON object whose values are field values.
///
/// Foundation's parser is not suitable: it reads `1.0` as an integer and `9223372036854775808` as a
/// fraction, and reports neither the order of the keys nor duplicates.
struct JSONObjectParser {
  private var scanner: JSONScanner
  private let limits: RowLimits
  private var count = 0

  init(_ bytes: [UInt8], limits: RowLimits) {
    scanner = JSONScanner(bytes)
    self.limits = limits
  }

  typealias Fields = [(key: String, value: FieldValue)]

  /// Parses all bytes as one object.
  mutating func object() throws(JSONSyntaxError) -> Fields {
    scanner.skipSpace()
    try scanner.expect(.openingBrace, "an object, which begins with \"{\",")
    var fields: Fields = []
    var keys = JSONKeys()
    scanner.skipSpace()
    if scanner.next == .closingBrace {
      scanner.advance()
    } else {
      var key = ""
      repeat {
        scanner.skipSpace()
        guard scanner.next == .quote else { throw scanner.unexpected("a string as the key") }
        key = try scanner.string()
        guard keys.insert(key) else { throw JSONSyntaxError("duplicate key \(key.shortText)") }
        scanner.skipSpace()
        try scanner.expect(.colon, "a colon after the key \(key.shortText)")
        fields.append((key, try value(of: key)))
      } while try scanner.consumeComma(
        orEnd: .closingBrace, "a comma or \"}\" after the value of \(key.shortText)")
    }
    scanner.skipSpace()
    if scanner.next != nil { throw scanner.unexpected("the end of the object") }
    return fields
  }

  private mutating func value(of key: String) throws(JSONSyntaxError) -> FieldValue {
    scanner.skipSpace()
    guard scanner.next == .openingBracket else { return try scalar(of: key) }
    scanner.advance()
    var values: [FieldValue] = []
    scanner.skipSpace()
    if scanner.next == .closingBracket {
      scanner.advance()
      try countValue()
      return .list([])
    }
    repeat {
      scanner.skipSpace()
      if scanner.next == .openingBracket {
        throw JSONSyntaxError(
          "the field \(key.shortText) has a list in a list, which no field can hold")
      }
      values.append(try scalar(of: key))
    } while try scanner.consumeComma(
      orEnd: .closingBracket, "a comma or \"]\" in the list of \(key.shortText)")
    return .list(values)
  }

  private mutating func scalar(of key: String) throws(JSONSyntaxError) -> FieldValue {
    try countValue()
    switch scanner.next {
    case .quote: return .string(try scanner.string())
    case let byte? where byte == UInt8(ascii: "-") || byte.isDigit: return try number(of: key)
    case .openingBrace:
      throw JSONSyntaxError(
        "the field \(key.shortText) has a nested object, which no field can hold")
    default:
      if scanner.consume("null") { return .null }
      if scanner.consume("true") { return .integer(1) }
      if scanner.consume("false") { return .integer(0) }
      throw scanner.unexpected(
        "a value of \(key.shortText) (a string, number, true, false, null or list)")
    }
  }

  private mutating func countValue() throws(JSONSyntaxError) {
    count += 1
    if count > limits.cells {
      throw JSONSyntaxError("the object is too large: the limit is \(limits.cells) values")
    }
  }

  /// Parses a number. It is an integer if it has neither a fraction nor an exponent.
  private mutating func number(of key: String) throws(JSONSyntaxError) -> FieldValue {
    let (text, isInteger) = try scanner.number()
    if isInteger {
      if let number = Int64(text) { return .integer(number) }
      throw JSONSyntaxError(
        "the field \(key.shortText) has \(Self.shortText(text)), which is not a 64-bit integer; a larger number can be a string"
      )
    }
    guard let number = Double(text), !number.isOutOfRange(of: text) else {
      throw JSONSyntaxError(
        """
        the field \(key.shortText) has \(Self.shortText(text)), which is \
        \(Double(text) == 0 ? "too small for a double" : "larger than the largest double")
        """)
    }
    return .double(number)
  }

  private static func shortText(_ digits: String) -> String {
    digits.utf8.count > 40 ? "\(digits.prefix(40))…" : digits
  }
}

/// The keys of an object, compared byte by byte: `String` considers some different keys equal.
struct JSONKeys {
  private var few: [String] = []
  private var many: Set<[UInt8]> = []

  /// - Returns: Whether the key was inserted, and not already present.
  mutating func insert(_ key: String) -> Bool {
    if many.isEmpty, few.count < 32 {
      let count = key.utf8.count
      if few.contains(where: { $0.utf8.count == count && $0.utf8.elementsEqual(key.utf8) }) {
        return false
      }
      few.append(key)
      return true
    }
    if many.isEmpty { many = Set(few.map { Array($0.utf8) }) }
    return many.insert(Array(key.utf8)).inserted
  }
}
