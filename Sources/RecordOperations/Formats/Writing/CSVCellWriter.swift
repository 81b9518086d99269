/// Writes cells as CSV has them.
package struct CSVCellWriter: CellWriter {
  package let columns: [String]
  let delimiter: UInt8
  let guardsFormulas: Bool

  package func append(_ cell: FormattedCell, at column: Int, to bytes: inout [UInt8]) {
    if column > 0 { bytes.append(delimiter) }
    switch unsafe cell {
    case .null: if columns.count == 1 { bytes += [.quote, .quote] }
    case .integer(let number): bytes.appendNumber(number)
    case .double(let number): bytes.appendNumber(number)
    // The cell is there, and nobody writes to it.
    case .text(let text):
      append(unsafe Span(_unsafeBytes: text), isGuarded: guardsFormulas, to: &bytes)
    case .json(let text): append(unsafe Span(_unsafeBytes: text), isGuarded: false, to: &bytes)
    case .bytes(let content):
      if unsafe content.isEmpty { bytes += [.quote, .quote] }
      bytes.appendBase64(unsafe Span(_unsafeBytes: content))
    }
  }

  private func append(_ text: Span<UInt8>, isGuarded: Bool, to bytes: inout [UInt8]) {
    let end = text.firstIndex(of: delimiter, .quote, .lineFeed, .carriageReturn)
    let mark: UInt8? = isGuarded && Self.beginsFormula(text) ? UInt8(ascii: "'") : nil
    if end == text.count, end > 0, !ByteOrderMark.begins(text) {
      if let mark { bytes.append(mark) }
      return bytes.append(text)
    }
    bytes.append(.quote)
    if let mark { bytes.append(mark) }
    appendDoublingQuotes(text, from: end, to: &bytes)
    bytes.append(.quote)
  }

  /// - Parameter place: Before which there is no quote.
  private func appendDoublingQuotes(
    _ text: Span<UInt8>, from place: Int, to bytes: inout [UInt8]
  ) {
    var start = 0
    var end = place
    while end < text.count {
      if text[end] == .quote {
        bytes.append(text.extracting(start...end))
        start = end
      }
      end = text.firstIndex(from: end + 1, of: .quote, .quote, .quote)
    }
    bytes.append(text.extracting(start...))
  }

  private static func beginsFormula(_ text: Span<UInt8>) -> Bool {
    guard text.count > 0 else { return false }
    switch text[0] {
    case UInt8(ascii: "="), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "@"), .tab,
      .carriageReturn:
      return true
    default: return false
    }
  }
}
