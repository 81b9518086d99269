internal import SystemSupport

/// A writer of cells as the fields of JSON objects.
package struct JSONCellWriter: CellWriter {
  package let columns: [String]
  /// The text before each value, concatenated: `{"title":`, `,"pages":`.
  private let prefixes: [UInt8]
  /// The range of the text for each column in `prefixes`.
  private let ranges: [Range<Int>]

  init(_ columns: [String]) {
    self.columns = columns
    var prefixes: [UInt8] = []
    ranges = columns.enumerated().map { index, column in
      let start = prefixes.count
      prefixes.append(index == 0 ? .openingBrace : .comma)
      prefixes.appendJSONString(column)
      prefixes.append(.colon)
      return start..<prefixes.count
    }
    self.prefixes = prefixes
  }

  package func append(
    _ cell: FormattedCell, at column: Int, to bytes: inout [UInt8]
  ) throws(FieldValueError) {
    bytes.append(prefixes.span.extracting(ranges[column]))
    do { try unsafe append(cell, to: &bytes) } catch { throw error.at(columns[column]) }
    if column == ranges.count - 1 { bytes.append(.closingBrace) }
  }

  private func append(_ cell: FormattedCell, to bytes: inout [UInt8]) throws(FieldValueError) {
    switch unsafe cell {
    case .null: bytes += "null".utf8
    case .integer(let number): bytes.appendNumber(number)
    case .double(let number): bytes.appendNumber(try number.finite)
    // The buffers of the cell are valid during this call, and not mutated.
    case .text(let text): bytes.appendJSONString(unsafe Span(_unsafeBytes: text))
    case .json(let text): bytes.append(unsafe Span(_unsafeBytes: text))
    case .bytes(let content):
      bytes.append(.quote)
      bytes.appendBase64(unsafe Span(_unsafeBytes: content))
      bytes.append(.quote)
    }
  }
}
