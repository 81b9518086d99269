/// How the records of a file are read.
///
/// In CSV a cell is text, and in JSON a value has a kind; either becomes what the column of the table takes:
///
/// | column | cell |
/// |---|---|
/// | whole numbers | `249`; also `249.0`, but nothing that would be rounded |
/// | numbers | `7.5`, `249`, `1e3` |
/// | texts | anything that is UTF-8 |
/// | bytes | base64 |
/// | moments | `2026-11-22T12:03:04.123Z`, also without milliseconds, or without the time of the day |
/// | references | the name of the record, or its type too: `Author/jane` |
/// | lists | a list in JSON: `["a",1]` |
///
/// An empty cell of CSV is null, and `""` an empty text, as ``CSVFormatter`` writes them.
///
/// Files are in UTF-8, with or without a byte order mark, or in UTF-16 with one. A file that begins like one in UTF-32, or
/// in UTF-16 without the mark, is refused with a ``RecordFileError`` that says so.
public struct ImportFormat: Hashable, Sendable {
  enum Kind: Hashable, Sendable {
    case csv(CSVDelimiter, hasHeader: Bool, EmptyCells)
    case json(JSONReader.Layout)
  }

  /// What an empty cell is that is not in quotes.
  public enum EmptyCells: Hashable, Sendable, CaseIterable {
    case null
    /// An empty text. In a column for something else than texts it is null all the same.
    case text
  }

  let kind: Kind

  /// Lines of cells, as RFC 4180 has them.
  ///
  /// - Parameters:
  ///   - delimiter: What is between two cells.
  ///   - hasHeader: Whether the first line names the columns. Otherwise its cells are those of a row, and the columns
  ///     those of the table, in its order.
  ///   - emptyCells: What an empty cell is that is not in quotes.
  public static func csv(
    delimiter: CSVDelimiter = .comma, hasHeader: Bool = true, emptyCells: EmptyCells = .null
  ) -> ImportFormat {
    ImportFormat(kind: .csv(delimiter, hasHeader: hasHeader, emptyCells))
  }

  /// Lines of cells with commas between them, below a line with the names of the columns.
  public static var csv: ImportFormat { csv(delimiter: .comma) }

  /// An array of objects, whose keys are the columns.
  public static var json: ImportFormat { ImportFormat(kind: .json(.array)) }

  /// An object a line, whose keys are the columns.
  public static var jsonLines: ImportFormat { ImportFormat(kind: .json(.lines)) }
}
