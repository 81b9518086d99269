internal import SystemSupport

extension CSVReader {
  /// Reads a piece of the file. Each byte is visited once.
  mutating func scan(_ piece: Span<UInt8>) {
    copied = 0
    distance = batch.bytes.count
    var position = 0
    while position < piece.count {
      switch state {
      case .rowStart, .rowStartAfterReturn: beginRow(piece, at: &position)
      case .cellStart:
        state = piece[position] == .quote ? .quoted : .unquoted
        if state == .quoted {
          row.quoteLine = line
          position += 1
        }
        row.cellStart = position + distance
      case .unquoted: readUnquoted(piece, at: &position)
      case .quoted, .quotedAfterReturn: readQuoted(piece, at: &position)
      case .afterQuote: readAfterQuote(piece, at: &position)
      }
    }
    if !row.isBad { copy(piece, to: piece.count) }
    if !state.isBetweenRows { checkLimits(piece, at: piece.count, cellEnd: openCellEnd) }
    if row.isBad { dropCells() }
    offset += piece.count
  }

  /// Ends the last row if it has no line ending.
  mutating func endFile() {
    let nothing = Span<UInt8>()
    copied = 0
    distance = batch.bytes.count
    switch state {
    case .rowStart, .rowStartAfterReturn: return
    case .cellStart: batch.cells.append(RowBatch.Cell(distance, distance, isQuoted: false))
    case .unquoted: batch.cells.append(RowBatch.Cell(row.cellStart, distance, isQuoted: false))
    case .afterQuote: appendQuotedCell()
    case .quoted, .quotedAfterReturn:
      // No row begins after the last line ending.
      if row.endsLine { line -= 1 }
      // Reported even if the row is already bad, because the rest of the file is lost with it.
      skipRow(
        nothing, at: 0,
        """
        the quote on line \(row.quoteLine) is never closed, so the row extends to the end of the file, line \(line), \
        and is skipped: \(offset - row.offset) bytes
        """)
    }
    endRow(nothing, at: 0)
    state = .rowStart
  }

  @inline(__always)
  private mutating func beginRow(_ piece: Span<UInt8>, at position: inout Int) {
    switch piece[position] {
    case .lineFeed:
      if state == .rowStart { line += 1 }
      state = .rowStart
      position += 1
    case .carriageReturn:
      line += 1
      state = .rowStartAfterReturn
      position += 1
    default:
      row.line = line
      row.offset = offset + position
      row.start = position + distance
      row.firstCell = batch.cells.count
      row.checkedCells = 0
      state = .cellStart
    }
  }

  /// Reads a cell and the unquoted cells after it. Most files contain few quoted cells.
  @inline(__always)
  private mutating func readUnquoted(_ piece: Span<UInt8>, at position: inout Int) {
    let delimiter = delimiter
    let distance = distance
    repeat {
      let end = piece.firstIndex(from: position, of: delimiter, .lineFeed, .carriageReturn)
      position = end
      if end == piece.count { return }
      batch.cells.append(RowBatch.Cell(row.cellStart, end + distance, isQuoted: false))
      if piece[end] != delimiter { return endCell(piece, at: &position) }
      position = end + 1
      row.cellStart = position + distance
    } while position < piece.count && piece[position] != .quote
    state = .cellStart
  }

  /// Continues after a delimiter or a line ending.
  @inline(__always)
  private mutating func endCell(_ piece: Span<UInt8>, at position: inout Int) {
    let byte = piece[position]
    if byte == delimiter {
      state = .cellStart
    } else {
      endRow(piece, at: position)
      line += 1
      state = byte == .lineFeed ? .rowStart : .rowStartAfterReturn
    }
    position += 1
  }

  private mutating func readQuoted(_ piece: Span<UInt8>, at position: inout Int) {
    row.endsLine = false
    if state == .quotedAfterReturn {
      state = .quoted
      if piece[position] == .lineFeed {
        position += 1
        row.endsLine = position == piece.count
      }
    }
    position = piece.firstIndex(from: position, of: .quote, .lineFeed, .carriageReturn)
    if position == piece.count { return }
    let byte = piece[position]
    position += 1
    guard byte != .quote else {
      row.cellEnd = position - 1 + distance
      state = .afterQuote
      return
    }
    line += 1
    row.endsLine = position == piece.count
    if byte == .carriageReturn { state = .quotedAfterReturn }
  }

  private mutating func readAfterQuote(_ piece: Span<UInt8>, at position: inout Int) {
    switch piece[position] {
    case .quote:
      // The first quote is part of the cell, and the second one is skipped.
      if !row.isBad { copy(piece, to: position) }
      copied = position + 1
      distance = batch.bytes.count - copied
      state = .quoted
      position += 1
    case delimiter, .lineFeed, .carriageReturn:
      appendQuotedCell()
      endCell(piece, at: &position)
    default:
      checkLimits(piece, at: position, cellEnd: row.cellEnd)
      if !row.isBad {
        let beginning = row.quoteLine == line ? "" : ", which begins on line \(row.quoteLine)"
        skipRow(
          piece, at: position,
          """
          there is text after the closing quote of a cell on line \(line)\(beginning); expected a delimiter or the end \
          of the line. Inside a quoted cell, write a quote twice
          """)
      }
      state = .unquoted
    }
  }

  private mutating func appendQuotedCell() {
    batch.cells.append(RowBatch.Cell(row.cellStart, row.cellEnd, isQuoted: true))
  }

  @inline(__always)
  private mutating func endRow(_ piece: Span<UInt8>, at position: Int) {
    checkLimits(piece, at: position, cellEnd: nil)
    if row.isBad {
      dropCells()
      batch.problems.append(RowProblem(line: row.line, through: line, row.problem))
      row.isBad = false
      copied = position
      distance = batch.bytes.count - copied
    } else {
      batch.rows.append(
        RowBatch.Row(line: row.line, lastLine: line, cellsEnd: batch.cells.count))
      row.firstCell = batch.cells.count
    }
  }
}

// MARK: Copying and skipping

extension CSVReader {
  private mutating func copy(_ piece: Span<UInt8>, to end: Int) {
    batch.bytes.append(piece.extracting(copied..<end))
    copied = end
  }

  private mutating func dropCells() {
    batch.cells.removeLast(batch.cells.count - row.firstCell)
    row.checkedCells = 0
  }

  private mutating func skipRow(_ piece: Span<UInt8>, at position: Int, _ text: String) {
    if row.isBad {
      row.problem += "; \(text)"
      return
    }
    row.problem = text
    row.isBad = true
    if batch.bytes.count > row.start {
      batch.bytes.removeLast(batch.bytes.count - row.start)
    } else {
      copy(piece, to: row.start - distance)
    }
    copied = position
  }

  /// The end of the unfinished cell if it ended with the bytes that were read.
  private var openCellEnd: Int {
    switch state {
    case .rowStart, .rowStartAfterReturn, .cellStart: row.cellStart
    case .unquoted, .quoted, .quotedAfterReturn: batch.bytes.count
    case .afterQuote: row.cellEnd
    }
  }

  /// Checks the row up to a position. The same rows are too large, however the file is cut into
  /// pieces.
  ///
  /// - Parameter cellEnd: The end of the unfinished cell if it ended here; `nil` if there is none.
  @inline(__always)
  private mutating func checkLimits(_ piece: Span<UInt8>, at position: Int, cellEnd: Int?) {
    let count = offset + position - row.offset
    let cellCount = batch.cells.count - row.firstCell + (cellEnd == nil ? 0 : 1)
    if row.isBad || count <= min(limits.cellBytes, limits.rowBytes), cellCount <= limits.cells {
      return
    }
    checkCells(piece, at: position, rowBytes: count, cellCount: cellCount, cellEnd: cellEnd)
  }

  private mutating func checkCells(
    _ piece: Span<UInt8>, at position: Int, rowBytes: Int, cellCount: Int, cellEnd: Int?
  ) {
    if row.isBad { return }
    let unchecked = batch.cells[(row.firstCell + row.checkedCells)...]
    row.checkedCells += unchecked.count
    let isTooLarge =
      rowBytes > limits.rowBytes || cellCount > limits.cells
      || unchecked.contains { $0.end - $0.start > limits.cellBytes }
      || cellEnd.map { $0 - row.cellStart > limits.cellBytes } ?? false
    if !isTooLarge { return }
    skipRow(
      piece, at: position,
      """
      the row is too large and is skipped: the limits are \(limits.cells) cells and \(limits.rowBytes) bytes a row, and \
      \(limits.cellBytes) bytes a cell; an unclosed quote turns many lines into one cell
      """)
  }
}
