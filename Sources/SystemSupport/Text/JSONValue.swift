/// A JSON value, as columns of SQLite contain it.
package enum JSONValue: Equatable, Sendable {
  case null
  case boolean(Bool)
  case integer(Int64)
  case double(Double)
  case string(String)
  case list([JSONValue])
  case object([String: JSONValue])

  /// Parses a value; nil if the text is not JSON, or nested deeper than any stored value.
  package init?(parsing text: String) {
    var parser = JSONParser(text)
    guard let value = try? parser.whole() else { return nil }
    self = value
  }
}

/// Parses a single JSON value.
private struct JSONParser {
  private static let deepest = 8

  private var scanner: JSONScanner

  init(_ text: String) { scanner = JSONScanner(Array(text.utf8), takingControlCharacters: true) }

  mutating func whole() throws(JSONSyntaxError) -> JSONValue {
    let value = try value(depth: 0)
    scanner.skipSpace()
    if scanner.next != nil { throw scanner.unexpected("the end of the text") }
    return value
  }

  private mutating func value(depth: Int) throws(JSONSyntaxError) -> JSONValue {
    scanner.skipSpace()
    guard depth < Self.deepest else { throw scanner.unexpected("less nesting") }
    switch scanner.next {
    case .openingBracket: return try list(depth)
    case .openingBrace: return try object(depth)
    case .quote: return .string(try scanner.string())
    default:
      if scanner.consume("null") { return .null }
      if scanner.consume("true") { return .boolean(true) }
      if scanner.consume("false") { return .boolean(false) }
      let text = try scanner.number().text
      return Int64(text).map { .integer($0) } ?? .double(Double(text) ?? .nan)
    }
  }

  private mutating func list(_ depth: Int) throws(JSONSyntaxError) -> JSONValue {
    if consumeEmpty(.closingBracket) { return .list([]) }
    var values: [JSONValue] = []
    repeat {
      values.append(try value(depth: depth + 1))
    } while try scanner.consumeComma(orEnd: .closingBracket, "a comma or the end of the list")
    return .list(values)
  }

  private mutating func object(_ depth: Int) throws(JSONSyntaxError) -> JSONValue {
    if consumeEmpty(.closingBrace) { return .object([:]) }
    var members: [String: JSONValue] = [:]
    repeat {
      scanner.skipSpace()
      guard scanner.next == .quote else { throw scanner.unexpected("a key") }
      let key = try scanner.string()
      scanner.skipSpace()
      try scanner.expect(.colon, "a colon")
      members[key] = try value(depth: depth + 1)
    } while try scanner.consumeComma(orEnd: .closingBrace, "a comma or the end of the object")
    return .object(members)
  }

  /// Enters a list or an object, and leaves it if it is empty.
  ///
  /// - Returns: Whether it is empty.
  private mutating func consumeEmpty(_ end: UInt8) -> Bool {
    scanner.advance()
    scanner.skipSpace()
    guard scanner.next == end else { return false }
    scanner.advance()
    return true
  }
}
