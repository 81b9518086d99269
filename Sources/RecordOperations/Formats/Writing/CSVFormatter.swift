/// Writes records as lines of cells, as RFC 4180 has them.
///
/// ```swift
/// import RecordOperations
///
/// let formatter = CSVFormatter(delimiter: .semicolon, lineEnding: .carriageReturnLineFeed)
/// ```
///
/// A cell is in quotes if it has a delimiter, a quote, a line feed or a carriage return. So it is with Python's `csv`
/// and its `QUOTE_MINIMAL`, and with one difference: an empty text is `""`, and null is nothing at all. So both come
/// back when the file is read. A row of one null alone is `""`, too, because an empty line is no row to most who read
/// it; it comes back as an empty text. And a text that begins with U+FEFF is in quotes, because at the beginning of a
/// file that would be the mark of UTF-8, and no text.
///
/// | value | cell |
/// |---|---|
/// | number | `249`, `7.5`, `3.0`; as many digits as lead back to the same number |
/// | date | `2026-11-22T12:03:04.123Z` |
/// | bytes | base64 |
/// | reference | the name of the record |
/// | list | JSON: `["a",1]` |
///
/// The last line ends as the others do.
public struct CSVFormatter: RecordFormatter, CellFormatter {
  public enum LineEnding: Hashable, Sendable, CaseIterable {
    case lineFeed
    /// As RFC 4180 and many programs on Windows have it.
    case carriageReturnLineFeed
  }

  public let delimiter: CSVDelimiter
  public let lineEnding: LineEnding
  /// Whether the first line has the names of the columns.
  public let hasHeader: Bool
  /// Whether a text that begins as a formula does gets an apostrophe before it.
  public let guardsFormulas: Bool

  /// - Parameters:
  ///   - delimiter: What is between two cells.
  ///   - lineEnding: What is behind each line.
  ///   - hasHeader: Whether the first line has the names of the columns.
  ///   - guardsFormulas: Whether an apostrophe is put before a text that begins with `=`, `+`, `-`, `@`, a tab or a
  ///     carriage return, which a spreadsheet would take for a formula and run. It is for files that people open in
  ///     one and whose texts others have written; whoever reads the file gets the apostrophe, too. Numbers, dates
  ///     and bytes never get one.
  public init(
    delimiter: CSVDelimiter = .comma, lineEnding: LineEnding = .lineFeed, hasHeader: Bool = true,
    guardsFormulas: Bool = false
  ) {
    self.delimiter = delimiter
    self.lineEnding = lineEnding
    self.hasHeader = hasHeader
    self.guardsFormulas = guardsFormulas
  }

  public var fileExtension: String { "csv" }

  public func appendHeader(for columns: [String], to bytes: inout [UInt8]) throws {
    guard hasHeader, !columns.isEmpty else { return }
    try append(columns.map { .string($0) }, for: columns, to: &bytes)
    appendDelimiter(to: &bytes)
  }

  public func appendDelimiter(to bytes: inout [UInt8]) {
    switch lineEnding {
    case .lineFeed: bytes.append(.lineFeed)
    case .carriageReturnLineFeed: bytes += [.carriageReturn, .lineFeed]
    }
  }

  public func appendFooter(for columns: [String], after count: Int, to bytes: inout [UInt8]) {
    if count > 0 { appendDelimiter(to: &bytes) }
  }

  package func cellWriter(for columns: [String]) -> CSVCellWriter {
    CSVCellWriter(columns: columns, delimiter: delimiter.byte, guardsFormulas: guardsFormulas)
  }
}

extension RecordFormatter where Self == CSVFormatter {
  /// Lines of cells with commas between them, below a line with the names of the columns.
  public static var csv: CSVFormatter { CSVFormatter() }
}
