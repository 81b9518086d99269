import RecordOperations

/// The rows and problems that a reader finds in CSV, as text for tables of expectations.
///
/// A row is `2: a|"b"|`, which begins with its line. Cells that were quoted are in quotes.
struct CSVReading: Equatable, CustomStringConvertible {
  var rows: [String] = []
  var problems: [String] = []

  /// Reads the whole text at once.
  init(_ text: String, delimiter: CSVDelimiter = .comma, limits: RowLimits = RowLimits()) {
    self.init(Array(text.utf8), delimiter: delimiter, limits: limits)
  }

  /// - Parameter length: The length of the pieces, in bytes. If it is nil, there is one piece.
  init(
    _ bytes: [UInt8], inPiecesOf length: Int? = nil, delimiter: CSVDelimiter = .comma,
    limits: RowLimits = RowLimits()
  ) {
    let length = length ?? max(1, bytes.count)
    self.init(
      bytes, cutAt: Array(stride(from: length, to: bytes.count, by: length)), delimiter: delimiter,
      limits: limits)
  }

  init(
    _ bytes: [UInt8], cutAt places: [Int], delimiter: CSVDelimiter = .comma,
    limits: RowLimits = RowLimits()
  ) {
    var reader = CSVReader(delimiter: delimiter, limits: limits)
    for (start, end) in zip([0] + places, places + [bytes.count]) {
      add(reader.read(bytes.span.extracting(start..<end)))
    }
    add(reader.finish())
  }

  private mutating func add(_ batch: RowBatch) {
    for row in 0..<batch.rowCount {
      let cells = batch.cells(of: row).map { cell in
        let text = batch.text(of: cell) ?? "\(Array(batch.bytes[cell.range]))"
        return cell.isQuoted ? "\"\(text)\"" : text
      }
      rows.append("\(batch.line(of: row)): \(cells.joined(separator: "|"))")
    }
    problems += batch.problems.map(\.description)
  }

  var description: String { (rows + problems).map(\.debugDescription).joined(separator: "\n") }
}
