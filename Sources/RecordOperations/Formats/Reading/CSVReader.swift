/// Makes rows of cells out of the bytes of a CSV file that come in pieces, wherever it has been cut.
///
/// ```text
/// var reader = CSVReader(delimiter: .semicolon)
/// while let piece = try file.read() {
///   take(reader.read(piece.span))
/// }
/// take(reader.finish())
/// ```
///
/// It reads what RFC 4180 describes, and beyond that what Python's `csv` does where it is not strict:
/// - A line ends with a line feed, a carriage return, or both. The last one need not end.
/// - A cell is in quotes where its first byte is one. A quote within such a cell is written twice; a delimiter and
///   the end of a line are part of it, byte by byte.
/// - A quote elsewhere is like any other byte, and so is a space, at the beginning of a cell, too.
/// - An empty line is no row. The mark of UTF-8 at the beginning of the file is no part of the first cell.
///
/// Python takes more than that, and here it is a ``RowProblem``: text after the quote that closes a cell, and a quote
/// that is never closed. Then the row is left out, and one goes on where Python sees the next one. Rows need not have
/// the same number of cells, and cells need not be text: who has use for neither refuses them.
///
/// - Complexity: O(the bytes that are read). What it holds is the row that has not ended, up to its limits.
package struct CSVReader: Sendable {
  let delimiter: UInt8
  let limits: RowLimits

  var state = State.rowStart
  /// What has been read, the row that has not ended among it.
  var batch = RowBatch()
  var row = OpenRow()
  /// The line that is read.
  var line = 1

  /// Where the piece begins in the file, without the mark, in bytes.
  var offset = 0
  /// How far the piece is in the batch's bytes already, or left out.
  var copied = 0
  /// How far behind its place in the piece a byte is in the batch's bytes.
  var distance = 0

  private var mark = ByteOrderMark()

  package init(delimiter: CSVDelimiter = .comma, limits: RowLimits = RowLimits()) {
    self.delimiter = delimiter.byte
    self.limits = limits
  }

  /// How many bytes there are of the row that has not ended.
  package var heldBytes: Int { batch.bytes.count }

  /// Reads the next piece of the file.
  ///
  /// - Returns: The rows that have come to their end.
  package mutating func read(_ piece: Span<UInt8>) -> RowBatch {
    let beginning = mark.leaveOut(of: piece)
    if beginning.held > 0 { scanMark(beginning.held) }
    scan(piece.extracting(beginning.start...))
    return takeBatch(expecting: piece.count)
  }

  /// Says that the file has come to its end; nothing is read after that.
  ///
  /// - Returns: The last row, if its line has no end.
  package mutating func finish() -> RowBatch {
    scanMark(mark.finish())
    endFile()
    return takeBatch(expecting: 0)
  }

  private mutating func scanMark(_ count: Int) {
    let mark = ByteOrderMark.bytes
    scan(mark.span.extracting(..<count))
  }

  /// Leaves only what is of the row that has not ended.
  private mutating func takeBatch(expecting count: Int) -> RowBatch {
    if batch.rows.isEmpty {
      // Empty lines are no rows, and a file may have nothing else.
      if state.isBetweenRows { batch.bytes.removeAll(keepingCapacity: true) }
      defer { batch.problems = [] }
      return RowBatch(problems: batch.problems)
    }
    var next = RowBatch()
    let rest = state.isBetweenRows ? batch.bytes.count : row.start
    next.bytes.reserveCapacity(batch.bytes.count - rest + count)
    next.bytes += batch.bytes[rest...]
    next.cells.reserveCapacity(batch.cells.count)
    next.cells += batch.cells[row.firstCell...].lazy.map { $0.moved(by: -rest) }
    next.rows.reserveCapacity(batch.rows.count)
    batch.bytes.removeLast(batch.bytes.count - rest)
    batch.cells.removeLast(batch.cells.count - row.firstCell)
    row.move(by: -rest)
    swap(&batch, &next)
    return next
  }
}

extension CSVReader {
  enum State {
    case rowStart
    /// A line feed belongs to the end of the line before it.
    case rowStartAfterReturn
    case cellStart
    case unquoted
    case quoted
    /// A line feed belongs to the line end that has been counted.
    case quotedAfterReturn
    /// Behind a quote in a quoted cell: it closes the cell, or another one follows.
    case afterQuote

    var isBetweenRows: Bool { self == .rowStart || self == .rowStartAfterReturn }
  }

  /// A row that has not ended. Its places are those in the bytes of the batch.
  struct OpenRow {
    /// The line on which it begins.
    var line = 1
    /// Where it begins in the file.
    var offset = 0
    var start = 0
    var firstCell = 0
    /// How many of its cells are known to keep to the limit.
    var checkedCells = 0
    /// Whether it has been reported, and is left out.
    var isBad = false

    /// The cell that has not ended.
    var cellStart = 0
    var cellEnd = 0
    /// The line on which its quote is.
    var quoteLine = 0

    mutating func move(by distance: Int) {
      start += distance
      cellStart += distance
      cellEnd += distance
      firstCell = 0
    }
  }
}
