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
