/// A formatter that writes records as a JSON array with one object per line. The keys are in the
/// order of the columns.
///
/// ```swift
/// import RecordOperations
///
/// let database = SQLiteRecordDatabase("library.sqlite")
/// let export = ExportRecords("Book", in: database, to: "books.json", as: .json)
/// ```
///
/// The file then contains, for example:
///
/// ```text
/// [
/// {"title":"Persuasion","pages":249,"lent":null},
/// {"title":"Emma","pages":474,"lent":"2026-11-22T12:03:04.123Z"}
/// ]
/// ```
///
/// Bytes are base64 strings, dates are ISO 8601 strings, and lists are arrays. References are
/// strings: the name of the record, with its type, `Author/jane`, if the delete rule is `keep`. A
/// double keeps its fraction, `3.0`, and is read back as a double. A number that is not finite is
/// refused with a ``FieldValueError``, because JSON cannot represent it.
public struct JSONFormatter: RecordFormatter, CellFormatter {
  /// Creates a JSON formatter.
  public init() {}

  public var fileExtension: String { "json" }

  /// Appends the opening bracket of the array.
  public func appendHeader(for columns: [String], to bytes: inout [UInt8]) { bytes += "[\n".utf8 }

  /// Appends a comma and a line feed.
  public func appendDelimiter(to bytes: inout [UInt8]) { bytes += ",\n".utf8 }

  /// Appends the closing bracket of the array.
  public func appendFooter(for columns: [String], after count: Int, to bytes: inout [UInt8]) {
    bytes += count > 0 ? "\n]\n".utf8 : "]\n".utf8
  }

  package func cellWriter(for columns: [String]) -> JSONCellWriter { JSONCellWriter(columns) }
}

extension RecordFormatter where Self == JSONFormatter {
  /// A JSON array with one object per line.
  public static var json: JSONFormatter { JSONFormatter() }
}

/// A formatter that writes records as JSON Lines: one object per line, with values as in
/// ``JSONFormatter``.
///
/// ```swift
/// import RecordOperations
///
/// let database = SQLiteRecordDatabase("library.sqlite")
/// let export = ExportRecords("Book", in: database, to: "books.jsonl", as: .jsonLines)
/// ```
///
/// The file then contains, for example:
///
/// ```text
/// {"title":"Persuasion","pages":249,"lent":null}
/// {"title":"Emma","pages":474,"lent":"2026-11-22T12:03:04.123Z"}
/// ```
public struct JSONLinesFormatter: RecordFormatter, CellFormatter {
  /// Creates a JSON Lines formatter.
  public init() {}

  public var fileExtension: String { "jsonl" }

  package func cellWriter(for columns: [String]) -> JSONCellWriter { JSONCellWriter(columns) }
}

extension RecordFormatter where Self == JSONLinesFormatter {
  /// JSON Lines: one object per line.
  public static var jsonLines: JSONLinesFormatter { JSONLinesFormatter() }
}
