/// A push parser that reads rows of cells from the bytes of a CSV file, which arrive in pieces of
/// any size.
///
/// ```text
/// var reader = CSVReader(delimiter: .semicolon)
/// while let piece = try file.read() {
///   take(reader.read(piece.span))
/// }
/// take(reader.finish())
/// ```
///
/// It reads RFC 4180, and beyond that what Python's `csv` reads when it is not strict:
///
/// - A line ends with a line feed, a carriage return, or both. The last line may have no ending.
/// - A cell is quoted if its first byte is a quote. Within it, a quote is written twice; delimiters
///   and line endings are part of the cell, byte by byte.
/// - A quote elsewhere is an ordinary byte, and so is a space, even at the beginning of a cell.
/// - An empty line is not a row. A UTF-8 byte order mark at the beginning of the file is not part
///   of the first cell.
///
/// Python accepts two more cases, which are a ``RowProblem`` here: text after the closing quote of
/// a cell, and a quote that is never closed. The row is skipped, and reading continues where Python
/// sees the next row. Both may come from a stray quote, which joins many rows, so the problem names
/// all lines of the row when it has ended. Rows may differ in their number of cells, and cells may contain any bytes;
/// callers that require more check it.
///
/// - Complexity: O(*n*) for *n* bytes. The reader holds the unfinished row, up to its limits.
package struct CSVReader: Sendable {
  let delimiter: UInt8
  let limits: RowLimits

  var state = State.rowStart
  /// The bytes that were read, including the unfinished row.
  var batch = RowBatch()
  var row = OpenRow()
  /// The current line.
  var line = 1

  /// The offset of the piece in the file in bytes, without the byte order mark.
  var offset = 0
  /// The number of bytes of the piece that were copied to the batch, or skipped.
  var copied = 0
  /// The difference between the index of a byte in the batch and its index in the piece.
  var distance = 0

  private var mark = ByteOrderMark()

  package init(delimiter: CSVDelimiter = .comma, limits: RowLimits = RowLimits()) {
    self.delimiter = delimiter.byte
    self.limits = limits
  }

  /// The number of bytes held for the unfinished row.
  package var bufferedBytes: Int { batch.bytes.count }

  /// Reads the next piece of the file.
  ///
  /// - Returns: The completed rows.
  package mutating func read(_ piece: Span<UInt8>) -> RowBatch {
    let beginning = mark.remove(from: piece)
    if beginning.held > 0 { scanMark(beginning.held) }
    scan(piece.extracting(beginning.start...))
    return takeBatch(expecting: piece.count)
  }

  /// Ends the file. Nothing can be read afterwards.
  ///
  /// - Returns: The last row, if it has no line ending.
  package mutating func finish() -> RowBatch {
    scanMark(mark.finish())
    endFile()
    return takeBatch(expecting: 0)
  }

  private mutating func scanMark(_ count: Int) {
    let mark = ByteOrderMark.bytes
    scan(mark.span.extracting(..<count))
  }

  /// Returns the completed rows, and keeps the unfinished one.
  private mutating func takeBatch(expecting count: Int) -> RowBatch {
    if batch.rows.isEmpty {
      // Empty lines are not rows, and a file may consist of them.
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
    /// A line feed here belongs to the previous line ending.
    case rowStartAfterReturn
    case cellStart
    case unquoted
    case quoted
    /// A line feed here belongs to the line ending that was counted.
    case quotedAfterReturn
    /// After a quote in a quoted cell: it closes the cell, or another quote follows.
    case afterQuote

    var isBetweenRows: Bool { self == .rowStart || self == .rowStartAfterReturn }
  }

  /// An unfinished row. Its positions are indices in the bytes of the batch.
  struct OpenRow {
    /// The line on which the row begins.
    var line = 1
    /// The offset of the row in the file in bytes.
    var offset = 0
    var start = 0
    var firstCell = 0
    /// The number of cells that are known to be within the limit.
    var checkedCells = 0
    /// Whether the row is skipped. It is reported at its end, with all its lines.
    var isBad = false
    /// The problem with the row, if it is bad.
    var problem = ""

    /// The start of the unfinished cell.
    var cellStart = 0
    var cellEnd = 0
    /// The line of the opening quote of the unfinished cell.
    var quoteLine = 0
    /// Whether the last byte that was read from a quoted cell ended a line.
    var endsLine = false

    mutating func move(by distance: Int) {
      start += distance
      cellStart += distance
      cellEnd += distance
      firstCell = 0
    }
  }
}
