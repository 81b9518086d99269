import CompositeOperations
import Foundation
import RecordOperations
import Testing

@Suite struct CSVFormatterTests {
  private func line(
    _ values: [FieldValue], _ formatter: CSVFormatter = CSVFormatter()
  ) throws -> String {
    var bytes: [UInt8] = []
    try formatter.append(values, for: values.indices.map { "column \($0)" }, to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  @Test(
    arguments: [
      ([1, -7, 0], "1,-7,0"),
      ([.integer(.min), .integer(.max)], "-9223372036854775808,9223372036854775807"),
      ([3.0, 0.1, -2.5e-9, 1e300], "3.0,0.1,-2.5e-09,1e+300"),
      (["a", nil, "", "b"], "a,,\"\",b"),
      ([nil], "\"\""),
      ([""], "\"\""),
      ([nil, nil], ","),
      (
        ["a,b", "a\"b", "a\nb", "a\rb", "a\r\nb"], "\"a,b\",\"a\"\"b\",\"a\nb\",\"a\rb\",\"a\r\nb\""
      ),
      (["\"", "\"\"", "\"a\"", "a\"\"b,"], "\"\"\"\",\"\"\"\"\"\",\"\"\"a\"\"\",\"a\"\"\"\"b,\""),
      ([" a ", "a;b", "a\tb", "'", "é漢😀"], " a ,a;b,a\tb,',é漢😀"),
      (["sixteen bytes ok\"sixteen bytes ok\""], "\"sixteen bytes ok\"\"sixteen bytes ok\"\"\""),
      (
        [.bytes([]), .bytes([0]), .bytes([0, 255]), .bytes([1, 2, 3, 4])], "\"\",AA==,AP8=,AQIDBA=="
      ),
      ([.date(RandomTable.timestamp.date)], "2026-11-22T12:03:04.123Z"),
      ([.reference(RecordReference(RecordID("Book", "a,b")))], "\"Book/a,b\""),
      ([[], [1, "a\"b", nil, 0.5]], "[],\"[1,\"\"a\\\"\"b\"\",null,0.5]\""),
      (["=1+1", "-1", "@a"], "=1+1,-1,@a"),
    ] as [([FieldValue], String)])
  func `a value is quoted only if necessary`(
    values: [FieldValue], expected: String
  ) throws {
    #expect(try line(values) == expected)
  }

  @Test(
    arguments: [
      (.string("=1+1"), "'=1+1"), (.string("+1"), "'+1"), (.string("-1"), "'-1"),
      (.string("@a"), "'@a"), (.string("\ta"), "'\ta"), (.string("\ra"), "\"'\ra\""),
      (.string("\n=a"), "\"'\n=a\""),
      (.string("=a,\"b\""), "\"'=a,\"\"b\"\"\""), (.string("a=1"), "a=1"), (.string(""), "\"\""),
      (.integer(-1), "-1"), (.double(-1.5), "-1.5"), (.bytes([0xFB]), "+w=="),
      (.list(["="]), "[\"\"=\"\"]"),
      (.reference(RecordReference(RecordID("Book", "=a"), onDelete: .deny)), "'=a"),
    ] as [(FieldValue, String)])
  func `guardsFormulas adds an apostrophe to texts that begin like a formula, never to numbers`(
    value: FieldValue, expected: String
  ) throws {
    let expected = value.kind == .list ? "\"\(expected)\"" : expected
    #expect(try line([value, 1], CSVFormatter(guardsFormulas: true)) == "\(expected),1")
  }

  @Test(arguments: [
    (CSVFormatter(), 2, "a,\"b \"\"c\"\"\"\n0,x\n1,x\n"),
    (CSVFormatter(), 0, "a,\"b \"\"c\"\"\"\n"),
    (CSVFormatter(hasHeader: false), 1, "0,x\n"),
    (CSVFormatter(hasHeader: false), 0, ""),
    (
      CSVFormatter(delimiter: .semicolon, lineEnding: .carriageReturnLineFeed), 2,
      "a;\"b \"\"c\"\"\"\r\n0;x\r\n1;x\r\n"
    ),
    (CSVFormatter(delimiter: .tab), 1, "a\t\"b \"\"c\"\"\"\n0\tx\n"),
  ])
  func `a file has an optional header and a line ending after each row`(
    formatter: CSVFormatter, count: Int, expected: String
  ) throws {
    let columns = ["a", "b \"c\""]
    let rows = (0..<count).map { [FieldValue.integer(Int64($0)), "x"] }
    #expect(try text(of: rows, columns, formatter) == expected)
  }

  @Test(arguments: [
    .nan, .infinity, 1e15, -1e11, 253_402_300_799.9996,
  ])
  func `a date that cannot be formatted is refused with its column`(seconds: TimeInterval) throws {
    let date = Date(timeIntervalSince1970: seconds)
    for value in [FieldValue.date(date), .list([.date(date)])] {
      let error = #expect(throws: FieldValueError.self) { try line([1, value]) }
      #expect(error?.key == "column 1")
    }
  }

  @Test func `a list with a number that JSON cannot hold is refused with its column`() throws {
    let error = #expect(throws: FieldValueError.self) { try line([1, [0.5, .double(.infinity)]]) }
    #expect(
      error?.description
        == "the field column 1 is inf; expected a finite number, as JSON requires")
  }

  @Test func `2000 random tables are read as they were written`() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = OperationRandomness.seeded(seed)
    for number in 0..<2_000 {
      let table = RandomTable(.any, using: &random)
      let formatter = CSVFormatter(
        delimiter: CSVDelimiter.allCases.randomElement(using: &random) ?? .comma,
        lineEnding: CSVFormatter.LineEnding.allCases.randomElement(using: &random) ?? .lineFeed,
        hasHeader: Bool.random(using: &random))
      let bytes = try table.bytes(formatter)
      var reader = CSVReader(delimiter: formatter.delimiter)
      var cells: [[String?]] = []
      let cut = Int.random(in: 0...bytes.count, using: &random)
      for batch in [
        reader.read(bytes.span.extracting(..<cut)), reader.read(bytes.span.extracting(cut...)),
        reader.finish(),
      ] {
        #expect(batch.problems == [], "table \(number) of seed \(seed)")
        cells += (0..<batch.rowCount).map { row in
          batch.cells(of: row).map { cell in
            !cell.isQuoted && cell.range.isEmpty ? nil : batch.text(of: cell) ?? "no text"
          }
        }
      }
      let header = formatter.hasHeader ? [table.columns.map(Optional.some)] : []
      let expected =
        header
        + table.rows.map { row in
          // An empty line would not be a row.
          row.map { $0 == .null && row.count > 1 ? nil : $0.text }
        }
      let areEqual = cells.elementsEqual(expected) { one, other in
        one.elementsEqual(other) { $0.map { Array($0.utf8) } == $1.map { Array($0.utf8) } }
      }
      #expect(areEqual, "table \(number) of seed \(seed): \(cells) is not \(expected)")
    }
  }
}

/// The text of a file with the rows.
func text(
  of rows: [[FieldValue]], _ columns: [String], _ formatter: some RecordFormatter
) throws -> String {
  var bytes: [UInt8] = []
  try formatter.appendHeader(for: columns, to: &bytes)
  for (index, row) in rows.enumerated() {
    if index > 0 { formatter.appendDelimiter(to: &bytes) }
    let values = try zip(row, columns).map { try formatter.transform($0, of: $1) }
    try formatter.append(values, for: columns, to: &bytes)
  }
  try formatter.appendFooter(for: columns, after: rows.count, to: &bytes)
  return String(decoding: bytes, as: UTF8.self)
}
