internal import SystemSupport

/// Reads the rows of a table: CSV with a header (RFC 4180), or JSON objects, usually one in each
/// line.
struct FlowRowReader {
  /// The maximum number of rows.
  static let mostRows = 100_000
  /// The maximum size of a file.
  static let mostBytes = 64 << 20

  private var scanner: JSONScanner
  private var rows: [String] = []
  private var seen: Set<ExactText> = []

  /// Returns the values of the children for a file, without repetitions.
  static func values(ofFile path: String, named name: String) throws(FlowFailure) -> [String] {
    let isJSON = [".jsonl", ".ndjson"].contains { name.lowercased().hasSuffix($0) }
    let bytes: [UInt8]
    do throws(SystemError) { bytes = try FlowFile.contents(of: path, limit: mostBytes) } catch {
      throw .lines("'\(name.onOneLine)' in rows-of is no step, and cannot be read: \(error)")
    }
    do throws(FlowSyntaxError) { return try values(in: bytes, isJSON: isJSON) } catch {
      throw .lines("\(name.onOneLine)\(error.lineText(":")): \(error.problem.message)")
    }
  }

  /// Returns the values of the children for the output of a step, without repetitions.
  static func values(ofOutput bytes: [UInt8]) throws(FlowFailure) -> [String] {
    let isJSON = bytes.first { !$0.isJSONSpace } == .openingBrace
    do throws(FlowSyntaxError) { return try values(in: bytes, isJSON: isJSON) } catch {
      throw .lines("its output\(error.lineText(", line ")): \(error.problem.message)")
    }
  }

  private static func values(
    in bytes: [UInt8], isJSON: Bool
  ) throws(FlowSyntaxError) -> [String] {
    var reader = FlowRowReader(
      scanner: JSONScanner(try FlowSource(bytes, limit: mostBytes).bytes))
    if isJSON { try reader.readObjects() } else { try reader.readRecords() }
    return reader.rows
  }

  private mutating func add(
    _ columns: [(name: String, text: String)], at start: Int
  ) throws(FlowSyntaxError) {
    let value = FlowRow(columns).value
    if value.utf8.contains(0) {
      throw problem(at: start, "U+0000 in the row; no command can have it in a value")
    }
    guard seen.insert(ExactText(value)).inserted else { return }
    rows.append(value)
    if rows.count > Self.mostRows {
      throw problem(at: start, "more than \(Self.mostRows.grouped) rows")
    }
  }

  private func problem(at index: Int, _ message: String) -> FlowSyntaxError {
    var locator = FlowLocator(scanner.bytes)
    return FlowSyntaxError(locator.location(of: index), message)
  }

  // MARK: - CSV

  private mutating func readRecords() throws(FlowSyntaxError) {
    guard let names = try record() else {
      throw FlowSyntaxError(nil, "no header; expected a line with the names of the columns")
    }
    for (index, name) in names.enumerated() {
      if name.isEmpty { throw problem(at: 0, "column \(index + 1) has no name") }
      if names[..<index].contains(name) {
        throw problem(at: 0, "duplicate column \(name.quoted)")
      }
    }
    while true {
      skipLineEnds()
      let start = scanner.position
      guard let fields = try record() else { return }
      if fields.count != names.count {
        throw problem(
          at: start,
          "\(fields.count.counted("field")); the header has \(names.count.counted("column"))")
      }
      try add(Array(zip(names, fields)), at: start)
    }
  }

  private mutating func skipLineEnds() {
    while scanner.next == .lineFeed || scanner.next == .carriageReturn { scanner.advance() }
  }

  /// - Returns: The fields of the next line that is not empty; nil at the end.
  private mutating func record() throws(FlowSyntaxError) -> [String]? {
    skipLineEnds()
    if scanner.next == nil { return nil }
    var fields: [String] = []
    while true {
      fields.append(try scanner.next == .quote ? quotedField() : plainField())
      guard scanner.next == .comma else { return fields }
      scanner.advance()
    }
  }

  private mutating func plainField() throws(FlowSyntaxError) -> String {
    let start = scanner.position
    while let byte = scanner.next, byte != .comma, byte != .lineFeed, byte != .carriageReturn {
      if byte == .quote {
        throw problem(
          at: scanner.position,
          "a quote inside a field; write the field in quotes, and the quote twice")
      }
      scanner.advance()
    }
    return String(decoding: scanner.bytes[start..<scanner.position], as: UTF8.self)
  }

  private mutating func quotedField() throws(FlowSyntaxError) -> String {
    let start = scanner.position
    scanner.advance()
    var bytes: [UInt8] = []
    while let byte = scanner.next {
      scanner.advance()
      if byte == .quote {
        guard scanner.next == .quote else {
          switch scanner.next {
          case nil, .comma, .lineFeed, .carriageReturn: break
          default: throw problem(at: scanner.position, "text after the closing quote of a field")
          }
          return String(decoding: bytes, as: UTF8.self)
        }
        scanner.advance()
      }
      bytes.append(byte)
    }
    throw problem(at: start, "the field has no closing quote")
  }

  // MARK: - JSON

  private mutating func readObjects() throws(FlowSyntaxError) {
    while true {
      scanner.skipSpace()
      let start = scanner.position
      if scanner.next == nil { return }
      let columns: [(name: String, text: String)]
      do throws(JSONSyntaxError) { columns = try object() } catch {
        throw problem(at: scanner.position, error.reason)
      }
      if columns.isEmpty { throw problem(at: start, "an object without columns") }
      for (index, column) in columns.enumerated()
      where columns[..<index].contains(where: { $0.name == column.name }) {
        throw problem(at: start, "duplicate column \(column.name.quoted)")
      }
      try add(columns, at: start)
    }
  }

  /// - Returns: The members, without those that are null.
  private mutating func object() throws(JSONSyntaxError) -> [(name: String, text: String)] {
    try scanner.expect(.openingBrace, "an object")
    var columns: [(name: String, text: String)] = []
    scanner.skipSpace()
    if scanner.next == .closingBrace {
      scanner.advance()
      return columns
    }
    repeat {
      scanner.skipSpace()
      guard scanner.next == .quote else { throw scanner.unexpected("a string as the key") }
      let name = try scanner.string()
      scanner.skipSpace()
      try scanner.expect(.colon, "a colon")
      scanner.skipSpace()
      if scanner.consume("null") { continue }
      columns.append((name, try scalar()))
    } while try scanner.consumeComma(orEnd: .closingBrace, "a comma or \"}\"")
    return columns
  }

  private mutating func scalar() throws(JSONSyntaxError) -> String {
    switch scanner.next {
    case .quote: return try scanner.string()
    case let byte? where byte == UInt8(ascii: "-") || byte.isDigit:
      return try scanner.number().text
    default:
      for word in ["true", "false"] as [StaticString] where scanner.consume(word) {
        return "\(word)"
      }
      throw scanner.unexpected("a string, a number, true, false or null")
    }
  }
}

extension FlowSyntaxError {
  /// The line after a separator; empty without a location.
  fileprivate func lineText(_ separator: String) -> String {
    problem.location.map { "\(separator)\($0.line)" } ?? ""
  }
}
