internal import SystemSupport

/// The rows of cells in a piece of a file.
///
/// The bytes of all cells are in one buffer, so that they can be bound to a statement without
/// creating a `String` for each:
///
/// ```text
/// for row in 0..<batch.rowCount {
///   for cell in batch.cells(of: row) where !cell.isQuoted {
///     bind(batch.bytes.span.extracting(cell.range))
///   }
/// }
/// ```
package struct RowBatch: Sendable {
  /// The buffer of all cells. It also contains delimiters and quotes between them.
  package internal(set) var bytes: [UInt8] = []
  /// The problems with the skipped rows, in their order.
  package internal(set) var problems: [RowProblem] = []

  var cells: [Cell] = []
  var rows: [Row] = []

  package var rowCount: Int { rows.count }

  /// Returns the line of the file on which a row begins, starting at 1. A quoted cell may span
  /// several lines.
  package func line(of row: Int) -> Int { rows[row].line }

  /// Returns the lines of the file that a row spans.
  package func lines(of row: Int) -> ClosedRange<Int> { rows[row].line...rows[row].lastLine }

  /// Returns a problem with a row.
  func problem(with row: Int, _ text: String) -> RowProblem {
    RowProblem(line: rows[row].line, through: rows[row].lastLine, text)
  }

  package func cellCount(of row: Int) -> Int { cellRange(of: row).count }

  package func cells(of row: Int) -> ArraySlice<Cell> { cells[cellRange(of: row)] }

  package subscript(row: Int, cell: Int) -> Cell {
    let range = cellRange(of: row)
    precondition(
      cell >= 0 && cell < range.count,
      "`cell` must be in 0..<\(range.count) for row \(row) (was \(cell))")
    return cells[range.lowerBound + cell]
  }

  /// Calls a closure with the bytes of a cell, which are valid while it runs.
  package func withBytes<Result, Failure: Error>(
    of cell: Cell, _ body: (Span<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try body(bytes.span.extracting(cell.range))
  }

  /// Whether all cells are valid UTF-8. This holds for nearly every batch, and checking them
  /// together makes checks of single cells unnecessary.
  ///
  /// - Complexity: O(*n*) for *n* bytes.
  package var isText: Bool {
    // The bytes between cells are ASCII, so no character can span two cells.
    bytes.span.isText
  }

  /// Whether a cell is valid UTF-8. Other bytes are kept as they are in the file; callers that
  /// require text check it.
  package func isText(_ cell: Cell) -> Bool { bytes.span.extracting(cell.range).isText }

  /// Returns a cell as text, or `nil` if it is not valid UTF-8.
  package func text(of cell: Cell) -> String? {
    bytes.span.extracting(cell.range).text
  }

  /// Returns the range of the cells of a row among all cells.
  func cellRange(of row: Int) -> Range<Int> {
    (row == 0 ? 0 : rows[row - 1].cellsEnd)..<rows[row].cellsEnd
  }
}

extension RowBatch {
  /// The location of a cell in the bytes of its batch.
  package struct Cell: Hashable, Sendable {
    let start: Int
    /// The end, and in the lowest bit whether the cell was quoted: with millions of cells, each
    /// word counts.
    private let endAndQuoted: Int

    init(_ start: Int, _ end: Int, isQuoted: Bool) {
      self.start = start
      endAndQuoted = end << 1 | (isQuoted ? 1 : 0)
    }

    package var range: Range<Int> { start..<end }
    /// Whether the cell was quoted. An empty cell can be null if it was not quoted; otherwise it is
    /// an empty string.
    package var isQuoted: Bool { endAndQuoted & 1 == 1 }

    var end: Int { endAndQuoted >> 1 }

    func moved(by distance: Int) -> Cell {
      Cell(start + distance, end + distance, isQuoted: isQuoted)
    }
  }

  struct Row: Sendable {
    let line: Int
    let lastLine: Int
    /// The end of its cells. They begin at the end of the cells of the previous row.
    let cellsEnd: Int
  }
}
