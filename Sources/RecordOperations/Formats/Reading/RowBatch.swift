/// Rows of cells, as they came out of a piece of a file.
///
/// The bytes of all its cells are in one buffer, so that they can be bound to a statement without a `String` for
/// each:
///
/// ```text
/// for row in 0..<batch.rowCount {
///   for cell in batch.cells(of: row) where !cell.isQuoted {
///     bind(batch.bytes.span.extracting(cell.range))
///   }
/// }
/// ```
package struct RowBatch: Sendable {
  /// What the ranges of its cells are of. There are delimiters and quotes between them, too.
  package internal(set) var bytes: [UInt8] = []
  /// What is wrong with the rows that are not here, in their order.
  package internal(set) var problems: [RowProblem] = []

  var cells: [Cell] = []
  var rows: [Row] = []

  package var rowCount: Int { rows.count }

  /// The line of the file on which a row begins; the first one is 1. A quoted cell may have several.
  package func line(of row: Int) -> Int { rows[row].line }

  package func cellCount(of row: Int) -> Int { cellRange(of: row).count }

  package func cells(of row: Int) -> ArraySlice<Cell> { cells[cellRange(of: row)] }

  package subscript(row: Int, cell: Int) -> Cell {
    let range = cellRange(of: row)
    precondition(
      cell >= 0 && cell < range.count,
      "`cell` must be in 0..<\(range.count) for row \(row) (was \(cell))")
    return cells[range.lowerBound + cell]
  }

  /// Calls a function with the bytes of a cell, which are there as long as it runs.
  package func withBytes<Result, Failure: Error>(
    of cell: Cell, _ body: (Span<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try body(bytes.span.extracting(cell.range))
  }

  /// Whether all cells are text in UTF-8, which is so in nearly every batch, and known in one go: then none needs to be
  /// asked.
  ///
  /// - Complexity: O(the bytes).
  package var isText: Bool {
    // What is between cells is ASCII, so that no character could begin in one and end in another.
    bytes.span.isText
  }

  /// Whether a cell is text in UTF-8. What is none is kept as it is in the file; who wants text refuses it.
  package func isText(_ cell: Cell) -> Bool { bytes.span.extracting(cell.range).isText }

  /// A cell as text; nil if it is none.
  package func text(of cell: Cell) -> String? {
    bytes.span.extracting(cell.range).text
  }

  /// Where the cells of a row are among those of all rows.
  func cellRange(of row: Int) -> Range<Int> {
    (row == 0 ? 0 : rows[row - 1].cellsEnd)..<rows[row].cellsEnd
  }
}

extension RowBatch {
  /// Where a cell is in the bytes of its batch.
  package struct Cell: Hashable, Sendable {
    let start: Int
    /// The end, and in the last bit whether it was quoted: with millions of cells, each word counts.
    private let endAndQuoted: Int

    init(_ start: Int, _ end: Int, isQuoted: Bool) {
      self.start = start
      endAndQuoted = end << 1 | (isQuoted ? 1 : 0)
    }

    package var range: Range<Int> { start..<end }
    /// Whether it was in quotes: an empty one that was not can be null, and one that was is an empty text.
    package var isQuoted: Bool { endAndQuoted & 1 == 1 }

    var end: Int { endAndQuoted >> 1 }

    func moved(by distance: Int) -> Cell {
      Cell(start + distance, end + distance, isQuoted: isQuoted)
    }
  }

  struct Row: Sendable {
    let line: Int
    /// Where its cells end; they begin where those of the row before it end.
    let cellsEnd: Int
  }
}
