/// The format of a file to import.
///
/// ```swift
/// import RecordOperations
///
/// let database = SQLiteRecordDatabase("library.sqlite")
/// let load = ImportRecords(
///   "Book", into: database, from: "books.csv", as: .csv(delimiter: .semicolon, emptyCells: .text))
/// ```
///
/// A cell of CSV is text, and a JSON value has a kind. Both are converted to the type of the
/// column:
///
/// | column | cell |
/// |---|---|
/// | integers | `249`; also `249.0`, but nothing that would be rounded |
/// | numbers | `7.5`, `249`, `1e3` |
/// | text | any valid UTF-8 |
/// | bytes | base64 |
/// | dates | `2026-11-22T12:03:04.123Z`, also without milliseconds, or without the time of day |
/// | references | the name of the record, or its type, too: `Author/jane` |
/// | lists | a JSON list: `["a",1]` |
///
/// An empty cell of CSV is null, and `""` is an empty string, as ``CSVFormatter`` writes them.
///
/// Files are read in UTF-8, with or without a byte order mark, and in UTF-16 with one. A file that
/// begins like UTF-32, or like UTF-16 without the mark, is refused with a ``RecordFileError`` that
/// names its encoding.
public struct ImportFormat: Hashable, Sendable {
  enum Kind: Hashable, Sendable {
    case csv(CSVDelimiter, hasHeader: Bool, EmptyCells)
    case json(JSONReader.Layout)
  }

  /// The value of an empty cell that is not quoted.
  public enum EmptyCells: Hashable, Sendable, CaseIterable {
    case null
    /// An empty string. In a column of another type than text it is null.
    case text
  }

  let kind: Kind

  /// CSV, as specified by RFC 4180.
  ///
  /// - Parameters:
  ///   - delimiter: The delimiter between two cells.
  ///   - hasHeader: Whether the first line names the columns. If not, it is a row, and the file has
  ///     the columns of the table, in its order.
  ///   - emptyCells: The value of an empty cell that is not quoted.
  public static func csv(
    delimiter: CSVDelimiter = .comma, hasHeader: Bool = true, emptyCells: EmptyCells = .null
  ) -> ImportFormat {
    ImportFormat(kind: .csv(delimiter, hasHeader: hasHeader, emptyCells))
  }

  /// CSV with commas, below a line with the names of the columns.
  public static var csv: ImportFormat { csv(delimiter: .comma) }

  /// A JSON array of objects whose keys are the columns.
  public static var json: ImportFormat { ImportFormat(kind: .json(.array)) }

  /// JSON Lines: one object per line, whose keys are the columns.
  public static var jsonLines: ImportFormat { ImportFormat(kind: .json(.lines)) }
}
