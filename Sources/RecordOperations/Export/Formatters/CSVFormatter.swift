internal import SystemSupport

/// A formatter that writes records as CSV, as specified by RFC 4180.
///
/// ```swift
/// import RecordOperations
///
/// let formatter = CSVFormatter(delimiter: .semicolon, lineEnding: .carriageReturnLineFeed)
/// ```
///
/// A cell is quoted if it contains a delimiter, a quote, a line feed or a carriage return, as
/// Python's `csv` does with `QUOTE_MINIMAL`. The following is different, so that values can be read
/// back:
///
/// - An empty string is `""`, and null is an empty cell.
/// - A row that consists of a single null is `""`, because most readers skip an empty line. It is
///   read back as an empty string.
/// - A string that begins with U+FEFF is quoted, because at the beginning of a file it would be a
///   byte order mark.
///
/// | value | cell |
/// |---|---|
/// | number | `249`, `7.5`, `3.0`; with as many digits as are needed to read back the same number |
/// | date | `2026-11-22T12:03:04.123Z` |
/// | bytes | base64 |
/// | reference | the name of the record; with its type, `Author/jane`, if the delete rule is `keep` |
/// | list | JSON: `["a",1]` |
///
/// The last line has a line ending, too.
public struct CSVFormatter: RecordFormatter, CellFormatter {
  /// The ending of each line of a CSV file.
  public enum LineEnding: Hashable, Sendable, CaseIterable {
    /// `\n`.
    case lineFeed
    /// `\r\n`, as specified by RFC 4180 and used by many programs on Windows.
    case carriageReturnLineFeed
  }

  /// The delimiter between two cells.
  public let delimiter: CSVDelimiter
  /// The ending of each line.
  public let lineEnding: LineEnding
  /// Whether the first line contains the names of the columns.
  public let hasHeader: Bool
  /// Whether strings that look like formulas get a leading apostrophe.
  public let guardsFormulas: Bool

  /// Creates a CSV formatter.
  ///
  /// - Parameters:
  ///   - delimiter: The delimiter between two cells.
  ///   - lineEnding: The ending of each line.
  ///   - hasHeader: Whether the first line contains the names of the columns.
  ///   - guardsFormulas: Whether strings that begin with `=`, `+`, `-`, `@`, a tab, a line feed or a
  ///     carriage return get a leading apostrophe, because a spreadsheet would run them as formulas. Use it
  ///     for files with untrusted strings that are opened in a spreadsheet; other readers of the
  ///     file get the apostrophe, too. Numbers, dates and bytes never get one.
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

  /// Appends the names of the columns, if ``hasHeader`` is `true`.
  public func appendHeader(for columns: [String], to bytes: inout [UInt8]) throws {
    guard hasHeader, !columns.isEmpty else { return }
    try append(columns.map { .string($0) }, for: columns, to: &bytes)
    appendDelimiter(to: &bytes)
  }

  /// Appends the line ending.
  public func appendDelimiter(to bytes: inout [UInt8]) {
    switch lineEnding {
    case .lineFeed: bytes.append(.lineFeed)
    case .carriageReturnLineFeed: bytes += [.carriageReturn, .lineFeed]
    }
  }

  /// Appends the line ending of the last record.
  public func appendFooter(for columns: [String], after count: Int, to bytes: inout [UInt8]) {
    if count > 0 { appendDelimiter(to: &bytes) }
  }

  package func cellWriter(for columns: [String]) -> CSVCellWriter {
    CSVCellWriter(columns: columns, delimiter: delimiter.byte, guardsFormulas: guardsFormulas)
  }
}

extension RecordFormatter where Self == CSVFormatter {
  /// CSV with commas, below a line with the names of the columns.
  public static var csv: CSVFormatter { CSVFormatter() }
}
