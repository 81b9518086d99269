/// How records become the bytes of a file.
///
/// ``CSVFormatter``, ``JSONFormatter`` and ``JSONLinesFormatter`` are there. Another format needs the bytes of a
/// record, and what there is besides them if it has any:
///
/// ```swift
/// import RecordOperations
///
/// /// The rows of a table in Markdown.
/// struct MarkdownFormatter: RecordFormatter {
///   func appendHeader(for columns: [String], to bytes: inout [UInt8]) {
///     let rules = columns.map { _ in "---" }
///     bytes += "| \(columns.joined(separator: " | ")) |\n| \(rules.joined(separator: " | ")) |\n".utf8
///   }
///
///   func append(_ values: [FieldValue], for columns: [String], to bytes: inout [UInt8]) throws {
///     bytes += "| \(try values.map(text(of:)).joined(separator: " | ")) |".utf8
///   }
/// }
/// ```
///
/// A file is the header, the records with a delimiter between each two of them, and the footer. Everything is added to
/// the end of what is there already, so that many records become one piece of the file.
///
/// A formatter does not remember: it can write several files at once.
public protocol RecordFormatter: Sendable {
  /// What names of such files end with, behind a dot: `dat`, if nothing else is said.
  var fileExtension: String { get }

  /// Adds what is before the first record: nothing, if nothing else is said.
  ///
  /// - Throws: What no file of this format can have; nothing of the file is kept then.
  func appendHeader(for columns: [String], to bytes: inout [UInt8]) throws

  /// Adds a record.
  ///
  /// - Parameters:
  ///   - values: What it has in the columns, one for each; null where it has nothing.
  ///   - columns: What the columns are called; there is one at least.
  ///   - bytes: What there is of the file already, to whose end it is added.
  /// - Throws: A ``FieldValueError`` that names the column if this format cannot have its value; nothing of the file
  ///   is kept then.
  func append(_ values: [FieldValue], for columns: [String], to bytes: inout [UInt8]) throws

  /// Adds what is between two records: a line feed, if nothing else is said.
  func appendDelimiter(to bytes: inout [UInt8])

  /// Adds what is behind the last record: a line feed if there was one, if nothing else is said.
  ///
  /// - Parameters:
  ///   - columns: What the columns are called.
  ///   - count: How many records there are.
  ///   - bytes: What there is of the file already, to whose end it is added.
  func appendFooter(for columns: [String], after count: Int, to bytes: inout [UInt8]) throws

  /// What is written for a value: the value, if nothing else is said.
  ///
  /// Whoever exports asks it for each value before the record is added.
  ///
  /// - Throws: What an export ends with; nothing of the file is kept then.
  func transform(_ value: FieldValue, of column: String) throws -> FieldValue
}

extension RecordFormatter {
  public var fileExtension: String { "dat" }

  public func appendHeader(for columns: [String], to bytes: inout [UInt8]) {}

  public func appendDelimiter(to bytes: inout [UInt8]) { bytes.append(.lineFeed) }

  public func appendFooter(for columns: [String], after count: Int, to bytes: inout [UInt8]) {
    if count > 0 { bytes.append(.lineFeed) }
  }

  public func transform(_ value: FieldValue, of column: String) -> FieldValue { value }
}
