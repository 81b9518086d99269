import RecordOperations
import Testing

@Suite struct CSVReaderProblemTests {
  private static let afterQuote = """
    expected a delimiter or the end of the line. Inside a quoted cell, write a quote twice
    """

  @Test(arguments: [
    (
      "a\n\"b\"c,d\ne\n", ["1: a", "3: e"],
      ["line 2: there is text after the closing quote of a cell on line 2; \(afterQuote)"]
    ),
    (
      "\"a\nb\" ,\"c\nd\"\r\ne\n", ["4: e"],
      [
        """
        lines 1 to 3 (3 bad rows): there is text after the closing quote of a cell on line 2, which begins on line 1; \
        \(afterQuote)
        """
      ]
    ),
    (
      "\"a\"x\"b\"x\"c\"\nd,\"e\"f\n\"g\"\n", ["3: \"g\""],
      [
        "line 1: there is text after the closing quote of a cell on line 1; \(afterQuote)",
        "line 2: there is text after the closing quote of a cell on line 2; \(afterQuote)",
      ]
    ),
    (
      "a\nb,\"c\nd\ne", ["1: a"],
      [
        """
        lines 2 to 4 (3 bad rows): the quote on line 2 is never closed, so the row extends to the end of the file, \
        line 4, and is skipped: 8 bytes
        """
      ]
    ),
    (
      "\"", [],
      [
        """
        line 1: the quote on line 1 is never closed, so the row extends to the end of the file, line 1, and is \
        skipped: 1 bytes
        """
      ]
    ),
    // An unclosed quote is also reported in a row that is already bad.
    (
      "\"a\"b,c\",\n\"d\"e,\"f\ng\n", [],
      [
        "line 1: there is text after the closing quote of a cell on line 1; \(afterQuote)",
        """
        lines 2 to 3 (2 bad rows): there is text after the closing quote of a cell on line 2; \(afterQuote); the \
        quote on line 2 is never closed, so the row extends to the end of the file, line 3, and is skipped: 10 bytes
        """,
      ]
    ),
  ])
  func `a malformed row is skipped and reported, and the following rows are read`(
    text: String, rows: [String], problems: [String]
  ) {
    let reading = CSVReading(text)
    #expect(reading.rows == rows)
    #expect(reading.problems == problems)
  }

  private static func tooLarge(_ lines: String, _ limits: RowLimits) -> String {
    """
    \(lines): the row is too large and is skipped: the limits are \(limits.cells) cells and \(limits.rowBytes) \
    bytes a row, and \(limits.cellBytes) bytes a cell; an unclosed quote turns many lines into one cell
    """
  }

  @Test(arguments: [
    (
      "12345,1\n123456,1\n1,123456\n1\n", RowLimits(cellBytes: 5), ["1: 12345|1", "4: 1"],
      ["line 2", "line 3"]
    ),
    (
      "\"1\"\"345\"\n\"12\"\"456\"\n\"12345\n\"\n\"\"", RowLimits(cellBytes: 5),
      ["1: \"1\"345\"", "5: \"\""], ["line 2", "lines 3 to 4 (2 bad rows)"]
    ),
    (
      "1234567890\r\n12345678901\r\n\"23456789\"\n\"234567890\"\n1", RowLimits(rowBytes: 10),
      ["1: 1234567890", "3: \"23456789\"", "5: 1"], ["line 2", "line 4"]
    ),
    (
      "1,2,3\n1,2,3,4\n,,\n,,,\n1", RowLimits(cells: 3), ["1: 1|2|3", "3: ||", "5: 1"],
      ["line 2", "line 4"]
    ),
    // The row exceeds several limits, and has text after a quote.
    ("1234,123,\"1\"x\n1\n", RowLimits(cellBytes: 3, rowBytes: 9, cells: 2), ["2: 1"], ["line 1"]),
  ])
  func `a row above a limit is skipped, wherever the input is split`(
    text: String, limits: RowLimits, rows: [String], lines: [String]
  ) {
    let bytes = Array(text.utf8)
    for length in 1...bytes.count {
      let reading = CSVReading(bytes, inPiecesOf: length, limits: limits)
      #expect(reading.rows == rows, "in pieces of \(length)")
      #expect(
        reading.problems == lines.map { Self.tooLarge($0, limits) }, "in pieces of \(length)")
    }
  }

  @Test func `a row of a hundred thousand cells is read`() {
    let bytes = Array((String(repeating: "x,", count: 99_999) + "y\nz\n").utf8)
    var reader = CSVReader()
    let batch = reader.read(bytes.span)
    #expect(batch.rowCount == 2)
    #expect(batch.cellCount(of: 0) == 100_000)
    #expect(batch.text(of: batch[0, 99_999]) == "y")
  }

  @Test func `a cell of a hundred megabytes is buffered only up to its limit`() {
    let piece = [UInt8](repeating: UInt8(ascii: "x"), count: 1 << 20)
    var reader = CSVReader(limits: RowLimits(cellBytes: 1 << 22))
    var problems: [RowProblem] = []
    var held = 0
    _ = reader.read(Array("\"".utf8).span)
    for _ in 0..<100 {
      let batch = reader.read(piece.span)
      #expect(batch.rowCount == 0)
      problems += batch.problems
      held = max(held, reader.bufferedBytes)
    }
    #expect(problems.isEmpty)
    #expect(held <= 5 << 20)
    let end = reader.read(Array("\"\nrow,of its own\n".utf8).span)
    #expect(end.problems.map(\.line) == [1])
    #expect(end.rowCount == 1)
    #expect(end.line(of: 0) == 2)
  }

  @Test func `a long run of empty lines is not buffered`() {
    let piece = [UInt8](repeating: UInt8(ascii: "\n"), count: 1 << 16)
    var reader = CSVReader()
    for _ in 0..<100 { #expect(reader.read(piece.span).rowCount == 0) }
    #expect(reader.bufferedBytes == 0)
    #expect(reader.read(Array("a\n".utf8).span).line(of: 0) == (100 << 16) + 1)
  }
}
