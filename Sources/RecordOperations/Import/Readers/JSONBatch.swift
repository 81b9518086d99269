internal import SystemSupport

/// The objects in a piece of a file.
package struct JSONBatch: Sendable {
  package struct Object: Sendable {
    /// The line of the file on which the object begins, starting at 1.
    package let line: Int
    /// The number of the object among those that begin on its line, starting at 1.
    let number: Int
    /// The keys and values, in the order of the file.
    package let fields: [(key: String, value: FieldValue)]

    /// Returns a problem with this object.
    func problem(_ text: String) -> RowProblem { RowProblem(line: line, number: number, text) }
  }

  package private(set) var objects: [Object] = []
  /// The problems with the skipped objects, in their order.
  package private(set) var problems: [RowProblem] = []

  /// Parses an object and appends it, or the problem with it.
  mutating func appendObject(
    _ bytes: [UInt8], line: Int, through lastLine: Int? = nil, number: Int = 1, limits: RowLimits
  ) {
    var parser = JSONObjectParser(bytes, limits: limits)
    do {
      objects.append(Object(line: line, number: number, fields: try parser.object()))
    } catch {
      // The objects in an object that is closed are its values.
      var scanner = JSONScanner(bytes)
      let count = scanner.isObject() ? 1 : JSONObjectCount(bytes.span).count
      appendProblem(line: line, through: lastLine, number: number, rowCount: count, error.text)
    }
  }

  /// - Parameters:
  ///   - lastLine: The line on which the text ends; `nil` if it ends on the line of its beginning.
  ///   - rowCount: The number of objects in the text. If it is one, only its beginning is named.
  mutating func appendProblem(
    line: Int, through lastLine: Int? = nil, number: Int = 1, rowCount: Int = 1, _ text: String
  ) {
    problems.append(
      RowProblem(
        line: line, through: rowCount == 1 ? nil : lastLine, number: number, rowCount: rowCount,
        text))
  }
}

extension RowLimits {
  /// The problem with an object above the limit.
  var tooLargeObject: String {
    "the object is too large and is skipped: the limit is \(rowBytes) bytes"
  }
}

/// Counts the objects that begin in text that cannot be read, such as after a quote that is not
/// closed. An object after a colon or an opening bracket is part of another one.
struct JSONObjectCount {
  private var found = 0
  /// The last byte that is not space. The beginning of a line is like a comma.
  private var previous = UInt8.comma

  /// The number of objects, or 1 if there are none, because the text is one bad row.
  var count: Int { max(1, found) }

  init(_ text: Span<UInt8> = Span()) { consume(text) }

  mutating func consume(_ text: Span<UInt8>) { for index in text.indices { consume(text[index]) } }

  mutating func consume(_ byte: UInt8) {
    if byte == .openingBrace, previous == .comma || previous == .closingBrace { found += 1 }
    if byte == .lineFeed || byte == .carriageReturn {
      previous = .comma
    } else if !byte.isJSONSpace, found > 0 || byte != .openingBracket {
      // The bracket at the beginning begins an array in one line.
      previous = byte
    }
  }
}

extension JSONScanner {
  /// Whether all bytes are one object of valid JSON, with any values.
  fileprivate mutating func isObject() -> Bool {
    // The ends of the objects and lists around the position.
    var ends: [UInt8] = []
    do throws(JSONSyntaxError) {
      skipSpace()
      guard next == .openingBrace else { return false }
      repeat {
        skipSpace()
        if next == .openingBrace || next == .openingBracket {
          guard ends.count < JSONNesting.limit else { return false }
          let end = next == .openingBrace ? UInt8.closingBrace : .closingBracket
          ends.append(end)
          advance()
          skipSpace()
          if next != end {
            if end == .closingBrace { try key() }
            continue
          }
        } else {
          try scalar()
        }
        while let end = ends.last {
          if try consumeComma(orEnd: end, "a comma or the end") {
            if end == .closingBrace { try key() }
            break
          }
          ends.removeLast()
        }
      } while !ends.isEmpty
      skipSpace()
      return next == nil
    } catch { return false }
  }

  private mutating func key() throws(JSONSyntaxError) {
    skipSpace()
    guard next == .quote else { throw unexpected("a string as the key") }
    _ = try string()
    skipSpace()
    try expect(.colon, "a colon")
  }

  private mutating func scalar() throws(JSONSyntaxError) {
    if next == .quote {
      _ = try string()
    } else if !consume("null"), !consume("true"), !consume("false") {
      _ = try number()
    }
  }
}
