internal import SystemSupport

/// A format in which records are written to a file.
///
/// ``CSVFormatter``, ``JSONFormatter`` and ``JSONLinesFormatter`` are built in. Another format
/// implements `append(_:for:to:)` and, if it has them, a header, a delimiter and a footer:
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
/// A file consists of the header, the records with a delimiter between each two of them, and the
/// footer. Each method appends to existing bytes, so that many records are written to the file at
/// once.
///
/// A formatter has no state, so it can write several files at once.
public protocol RecordFormatter: Sendable {
  /// The extension of file names, without the dot. The default is `dat`.
  var fileExtension: String { get }

  /// Appends the text before the first record. The default is nothing.
  ///
  /// - Parameters:
  ///   - columns: The names of the columns.
  ///   - bytes: The bytes to append to.
  /// - Throws: Any error. It ends the export, and the file is discarded.
  func appendHeader(for columns: [String], to bytes: inout [UInt8]) throws

  /// Appends a record.
  ///
  /// - Parameters:
  ///   - values: The value of each column; null for a missing one.
  ///   - columns: The names of the columns, at least one.
  ///   - bytes: The bytes to append to.
  /// - Throws: A ``FieldValueError`` that names the column if the format cannot represent a value.
  ///   It ends the export, and the file is discarded.
  func append(_ values: [FieldValue], for columns: [String], to bytes: inout [UInt8]) throws

  /// Appends the text between two records. The default is a line feed.
  func appendDelimiter(to bytes: inout [UInt8])

  /// Appends the text after the last record. The default is a line feed if there are records.
  ///
  /// - Parameters:
  ///   - columns: The names of the columns.
  ///   - count: The number of records in the file.
  ///   - bytes: The bytes to append to.
  /// - Throws: Any error. It ends the export, and the file is discarded.
  func appendFooter(for columns: [String], after count: Int, to bytes: inout [UInt8]) throws

  /// Returns the value to write for a value. The default is the value itself.
  ///
  /// An export calls this method for each value before it appends the record.
  ///
  /// - Parameters:
  ///   - value: The value in the database.
  ///   - column: The name of the column.
  /// - Throws: Any error. It ends the export, and the file is discarded.
  func transform(_ value: FieldValue, of column: String) throws -> FieldValue
}

extension RecordFormatter {
  /// `dat`.
  public var fileExtension: String { "dat" }

  /// Appends nothing.
  public func appendHeader(for columns: [String], to bytes: inout [UInt8]) {}

  /// Appends a line feed.
  public func appendDelimiter(to bytes: inout [UInt8]) { bytes.append(.lineFeed) }

  /// Appends a line feed if there are records.
  public func appendFooter(for columns: [String], after count: Int, to bytes: inout [UInt8]) {
    if count > 0 { bytes.append(.lineFeed) }
  }

  /// Returns the value itself.
  public func transform(_ value: FieldValue, of column: String) -> FieldValue { value }
}

extension RecordFormatter {
  /// Returns a value as text, for formats without types: as a ``CSVFormatter`` writes it, without
  /// quotes. Null is an empty string.
  ///
  /// - Throws: A ``FieldValueError`` for a date outside the years 1 to 9999, and for a list that
  ///   JSON cannot represent.
  public func text(of value: FieldValue) throws(FieldValueError) -> String {
    switch value {
    case .null: return ""
    case .integer(let number): return number.description
    case .double(let number): return number.description
    case .string(let text): return text
    case .date(let date): return try date.formatted
    case .reference(let reference): return reference.cellText
    case .bytes(let content):
      var bytes: [UInt8] = []
      bytes.appendBase64(content.span)
      return String(decoding: bytes, as: UTF8.self)
    case .list(let values):
      return String(decoding: try FieldValue.json(values), as: UTF8.self)
    }
  }
}
