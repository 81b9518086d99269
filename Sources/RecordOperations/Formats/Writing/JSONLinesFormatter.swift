/// Writes records as lines, each of which is a JSON object. Its values are those of a ``JSONFormatter``.
///
/// ```text
/// {"title":"Persuasion","pages":249,"lent":null}
/// {"title":"Emma","pages":474,"lent":"2026-11-22T12:03:04.123Z"}
/// ```
public struct JSONLinesFormatter: RecordFormatter, CellFormatter {
  public init() {}

  public var fileExtension: String { "jsonl" }

  package func cellWriter(for columns: [String]) -> JSONCellWriter { JSONCellWriter(columns) }
}

extension RecordFormatter where Self == JSONLinesFormatter {
  /// An object a line.
  public static var jsonLines: JSONLinesFormatter { JSONLinesFormatter() }
}
