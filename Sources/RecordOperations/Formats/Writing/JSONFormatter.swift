/// Writes records as an array of JSON objects, one a line, whose keys are in the order of the columns.
///
/// ```text
/// [
/// {"title":"Persuasion","pages":249,"lent":null},
/// {"title":"Emma","pages":474,"lent":"2026-11-22T12:03:04.123Z"}
/// ]
/// ```
///
/// Bytes are strings in base64, dates strings as ISO 8601 has them, references the names of their records, and lists
/// arrays. A number keeps its fraction, `3.0`, so that it comes back as the same kind of number; one that is not
/// finite is refused with a ``FieldValueError``, because JSON has none.
public struct JSONFormatter: RecordFormatter, CellFormatter {
  public init() {}

  public var fileExtension: String { "json" }

  public func appendHeader(for columns: [String], to bytes: inout [UInt8]) { bytes += "[\n".utf8 }

  public func appendDelimiter(to bytes: inout [UInt8]) { bytes += ",\n".utf8 }

  public func appendFooter(for columns: [String], after count: Int, to bytes: inout [UInt8]) {
    bytes += count > 0 ? "\n]\n".utf8 : "]\n".utf8
  }

  package func cellWriter(for columns: [String]) -> JSONCellWriter { JSONCellWriter(columns) }
}

extension RecordFormatter where Self == JSONFormatter {
  /// An array of objects.
  public static var json: JSONFormatter { JSONFormatter() }
}
