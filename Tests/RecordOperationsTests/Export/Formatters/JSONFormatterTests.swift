import CompositeOperations
import Foundation
import RecordOperations
import Testing

@Suite struct JSONFormatterTests {
  private let columns = ["title", "say \"so\""]

  @Test func `an array has one object per line, with its keys in the order of the columns`() throws
  {
    let rows: [[FieldValue]] = [["Emma", 474], [nil, [1, "a", nil]]]
    #expect(
      try text(of: rows, columns, .json) == """
        [
        {"title":"Emma","say \\"so\\"":474},
        {"title":null,"say \\"so\\"":[1,"a",null]}
        ]

        """)
    #expect(try text(of: [], columns, .json) == "[\n]\n")
  }

  @Test func `JSON Lines contain only objects`() throws {
    let rows: [[FieldValue]] = [["Emma", 474], [nil, true]]
    #expect(
      try text(of: rows, columns, .jsonLines) == """
        {"title":"Emma","say \\"so\\"":474}
        {"title":null,"say \\"so\\"":1}

        """)
    #expect(try text(of: [], columns, .jsonLines) == "")
  }

  @Test(
    arguments: [
      (.double(3), "3.0"), (.double(0.1), "0.1"), (.double(1e300), "1e+300"),
      (.double(-0.0), "-0.0"),
      (.integer(.min), "-9223372036854775808"),
      (.string("a\"b\\c/d\u{7F}\u{2028}é😀"), "\"a\\\"b\\\\c/d\u{7F}\u{2028}é😀\""),
      (.string("\n\r\t\u{8}\u{C}\0\u{1F}"), "\"\\n\\r\\t\\u0008\\u000c\\u0000\\u001f\""),
      (.string("sixteen bytes ok\nsixteen bytes ok"), "\"sixteen bytes ok\\nsixteen bytes ok\""),
      (.bytes([251, 255, 0]), "\"+/8A\""),
      (.date(RandomTable.timestamp.date), "\"2026-11-22T12:03:04.123Z\""),
      (.reference(RecordReference(RecordID("Book", "b"), onDelete: .deny)), "\"b\""),
      (.reference(RecordReference(RecordID("Book", "e\"mma"))), "\"Book/e\\\"mma\""),
      (
        .list([
          .bytes([0]), .date(RandomTable.timestamp.date), 1.0,
          .reference(RecordReference(RecordID("B", "b"))),
        ]),
        "[\"AA==\",\"2026-11-22T12:03:04.123Z\",1.0,\"B/b\"]"
      ),
    ] as [(FieldValue, String)])
  func `a value is written according to RFC 8259`(value: FieldValue, expected: String) throws {
    #expect(try text(of: [[value]], ["a"], .jsonLines) == "{\"a\":\(expected)}\n")
  }

  @Test(
    arguments: [
      (.double(.nan), "nan; expected a finite number, as JSON requires"),
      (.double(-.infinity), "-inf; expected a finite number, as JSON requires"),
      (.list([[1]]), "a list of 1; expected a value that a list can hold"),
    ] as [(FieldValue, String)])
  func `a value that JSON cannot hold is refused with its column`(value: FieldValue, reason: String)
  {
    for value in [value, .list([value])] {
      if value == .list([[1]]) { continue }
      let error = #expect(throws: FieldValueError.self) {
        try text(of: [[1, value]], ["a", "b"], .json)
      }
      #expect(error?.description == "the field b is \(reason)")
    }
  }

  @Test func `2000 random tables in JSON are read as they were written`() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = OperationRandomness.seeded(seed)
    for number in 0..<2_000 {
      let table = RandomTable(.any, using: &random)
      let array = JSONReading(.array, try table.bytes(.json), inPiecesOf: number % 40 + 1)
      let lines = JSONReading(.lines, try table.bytes(.jsonLines), inPiecesOf: number % 40 + 1)
      let expected = table.rows.map { row in
        zip(table.columns, row).map { "\($0.utf8.count): \($1.inJSON)" }
      }
      let comment = Comment(rawValue: "table \(number) of seed \(seed)")
      #expect(array.values == expected, comment)
      #expect(lines.values == expected, comment)
      #expect(array.problems == [] && lines.problems == [], comment)
    }
  }
}

@Suite struct CellWriterTests {
  @Test func `formatting cells and formatting values produce the same bytes`() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = OperationRandomness.seeded(seed)
    for number in 0..<1_000 {
      let table = RandomTable(.any, using: &random)
      let comment = Comment(rawValue: "table \(number) of seed \(seed)")
      func compare(_ formatter: some CellFormatter) throws {
        #expect(try table.bytes(formatter) == table.bytesOfCells(formatter), comment)
      }
      try compare(CSVFormatter(delimiter: .semicolon, guardsFormulas: number % 2 == 0))
      try compare(JSONFormatter())
      try compare(JSONLinesFormatter())
    }
  }
}

extension FieldValue {
  /// The value that is read after this one was written as JSON.
  var inJSON: FieldValue {
    switch self {
    case .null, .integer, .double, .string: self
    case .bytes, .date, .reference: .string(text)
    case .list(let values): .list(values.map(\.inJSON))
    }
  }
}
