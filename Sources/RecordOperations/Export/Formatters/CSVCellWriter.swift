internal import SystemSupport

/// A writer of CSV cells.
package struct CSVCellWriter: CellWriter {
  package let columns: [String]
  let delimiter: UInt8
  let guardsFormulas: Bool
  private let isColumnAlone: Bool

  init(columns: [String], delimiter: UInt8, guardsFormulas: Bool) {
    self.columns = columns
    self.delimiter = delimiter
    self.guardsFormulas = guardsFormulas
    isColumnAlone = columns.count == 1
  }

  package func append(_ cell: FormattedCell, at column: Int, to bytes: inout [UInt8]) {
    switch unsafe cell {
    // The buffers of the cell are valid during this call, and not mutated.
    case .text(let text):
      append(
        unsafe Span(_unsafeBytes: text), at: column, isGuarded: guardsFormulas, to: &bytes)
    case .json(let text):
      append(unsafe Span(_unsafeBytes: text), at: column, isGuarded: false, to: &bytes)
    case .bytes(let content):
      separate(at: column, in: &bytes)
      if unsafe content.isEmpty { bytes += [.quote, .quote] }
      bytes.appendBase64(unsafe Span(_unsafeBytes: content))
    case .null:
      separate(at: column, in: &bytes)
      if isColumnAlone { bytes += [.quote, .quote] }
    case .integer(let number):
      separate(at: column, in: &bytes)
      bytes.appendNumber(number)
    case .double(let number):
      separate(at: column, in: &bytes)
      bytes.appendNumber(number)
    }
  }

  private func separate(at column: Int, in bytes: inout [UInt8]) {
    if column > 0 { bytes.append(delimiter) }
  }

  @inline(__always)
  private func append(
    _ text: Span<UInt8>, at column: Int, isGuarded: Bool, to bytes: inout [UInt8]
  ) {
    let isPlain =
      text.firstIndex(of: delimiter, .quote, .lineFeed, .carriageReturn) == text.count
      && !text.isEmpty && !ByteOrderMark.begins(text) && !isGuarded
    guard isPlain else {
      separate(at: column, in: &bytes)
      return appendWithCare(text, isGuarded: isGuarded, to: &bytes)
    }
    bytes.append(addingCapacity: text.count + 1) { output in
      if column > 0 { output.append(delimiter) }
      output.append(text)
    }
  }

  private func appendWithCare(_ text: Span<UInt8>, isGuarded: Bool, to bytes: inout [UInt8]) {
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

  /// - Parameter place: The first index that may be a quote.
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
      .lineFeed, .carriageReturn:
      return true
    default: return false
    }
  }
}
