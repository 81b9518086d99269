/// Writes cells as the fields of a JSON object.
package struct JSONCellWriter: CellWriter {
  package let columns: [String]
  /// What is before the values of the columns, one behind another: `{"title":`, `,"pages":`.
  private let beginnings: [UInt8]
  /// Where each of them is.
  private let ranges: [Range<Int>]

  init(_ columns: [String]) {
    self.columns = columns
    var beginnings: [UInt8] = []
    ranges = columns.enumerated().map { index, column in
      let start = beginnings.count
      beginnings.append(index == 0 ? .openingBrace : .comma)
      beginnings.appendJSON(column)
      beginnings.append(.colon)
      return start..<beginnings.count
    }
    self.beginnings = beginnings
  }

  package func append(
    _ cell: FormattedCell, at column: Int, to bytes: inout [UInt8]
  ) throws(FieldValueError) {
    bytes.append(beginnings.span.extracting(ranges[column]))
    do { try unsafe append(cell, to: &bytes) } catch { throw error.at(columns[column]) }
    if column == ranges.count - 1 { bytes.append(.closingBrace) }
  }

  private func append(_ cell: FormattedCell, to bytes: inout [UInt8]) throws(FieldValueError) {
    switch unsafe cell {
    case .null: bytes += "null".utf8
    case .integer(let number): bytes.appendNumber(number)
    case .double(let number): try bytes.appendJSON(number)
    // The cell is there, and nobody writes to it.
    case .text(let text): bytes.appendJSONString(unsafe Span(_unsafeBytes: text))
    case .json(let text): bytes.append(unsafe Span(_unsafeBytes: text))
    case .bytes(let content):
      bytes.append(.quote)
      bytes.appendBase64(unsafe Span(_unsafeBytes: content))
      bytes.append(.quote)
    }
  }
}
