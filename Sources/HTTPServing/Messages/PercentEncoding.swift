/// Decodes the text of request targets and forms, exactly once.
enum PercentEncoding {
  /// Decodes `%XX`.
  ///
  /// - Parameter isForm: Whether a plus sign is a space, as in queries and forms.
  /// - Returns: The text; nil if an escape is incomplete, or if the decoded bytes are not UTF-8 or
  ///   contain a zero byte.
  static func decoded(_ bytes: some Sequence<UInt8>, isForm: Bool = false) -> String? {
    var result: [UInt8] = []
    var iterator = bytes.makeIterator()
    while let byte = iterator.next() {
      switch byte {
      case UInt8(ascii: "%"):
        guard let high = iterator.next().flatMap(digit), let low = iterator.next().flatMap(digit)
        else { return nil }
        result.append(high << 4 | low)
      case UInt8(ascii: "+") where isForm: result.append(UInt8(ascii: " "))
      default: result.append(byte)
      }
    }
    if result.contains(0) { return nil }
    // Overlong forms and surrogates are not valid.
    return String(validating: result, as: UTF8.self)
  }

  /// Splits and decodes `name=value&name=value`.
  ///
  /// - Returns: The items in their order; nil if one of them cannot be decoded.
  static func items(_ bytes: some Collection<UInt8>) -> [(name: String, value: String)]? {
    var items: [(name: String, value: String)] = []
    for part in bytes.split(separator: UInt8(ascii: "&")) {
      let halves = part.split(
        separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = decoded(halves[0], isForm: true),
        let value = halves.count > 1 ? decoded(halves[1], isForm: true) : ""
      else { return nil }
      items.append((name, value))
    }
    return items
  }

  /// Encodes a path and its query for a header field. Everything but letters, digits and a few
  /// characters without a meaning for the header becomes `%XX`.
  static func encoded(target: String) -> String { encoded(target, keeping: "-._~/?&=%+") }

  /// Encodes the value of an item of a query.
  static func item(_ value: String) -> String { encoded(value, keeping: "-._~") }

  private static func encoded(_ text: String, keeping characters: String) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var result: [UInt8] = []
    for byte in text.utf8 {
      let character = Character(UnicodeScalar(byte))
      if character.isASCII,
        character.isLetter || character.isNumber || characters.contains(character)
      {
        result.append(byte)
      } else {
        result += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: result, as: UTF8.self)
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    default: nil
    }
  }
}
