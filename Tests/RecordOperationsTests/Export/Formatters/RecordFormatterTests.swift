import CompositeOperations
import RecordOperations
import Testing

@Suite struct RecordFormatterTests {
  /// A formatter of a user, with the default implementations.
  private struct PlainFormatter: RecordFormatter {
    func append(_ values: [FieldValue], for columns: [String], to bytes: inout [UInt8]) {
      bytes += zip(columns, values).map { "\($0)=\($1.text)" }.joined(separator: " ").utf8
    }
  }

  private struct MarkdownFormatter: RecordFormatter {
    func appendHeader(for columns: [String], to bytes: inout [UInt8]) {
      bytes += "| \(columns.joined(separator: " | ")) |\n".utf8
    }

    func append(
      _ values: [FieldValue], for columns: [String], to bytes: inout [UInt8]
    ) throws {
      bytes += "| \(try values.map(text(of:)).joined(separator: " | ")) |".utf8
    }

    func appendDelimiter(to bytes: inout [UInt8]) { bytes += " +\n".utf8 }

    func appendFooter(for columns: [String], after count: Int, to bytes: inout [UInt8]) {
      bytes += "\n\(count) in \(columns.count)".utf8
    }

    func transform(_ value: FieldValue, of column: String) -> FieldValue {
      value == .null ? .string("no \(column)") : value
    }
  }

  private let rows: [[FieldValue]] = [["Emma", 474], [nil, 7.5]]

  @Test func `a formatter needs to implement only the method that appends a record`() throws {
    let formatter = PlainFormatter()
    #expect(try text(of: rows, ["a", "b"], formatter) == "a=Emma b=474\na= b=7.5\n")
    #expect(try text(of: [], ["a", "b"], formatter) == "")
  }

  @Test func `the text of a value equals its CSV cell without quotes`() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = OperationRandomness.seeded(seed)
    for _ in 0..<100 {
      for value in RandomTable(.any, using: &random).rows.joined() {
        #expect(
          try PlainFormatter().text(of: value).utf8.elementsEqual(value.text.utf8), "seed \(seed)")
      }
    }
  }

  @Test func `a formatter can define a header, delimiter, footer and transformation`() throws {
    #expect(
      try text(of: rows, ["a", "b"], MarkdownFormatter())
        == "| a | b |\n| Emma | 474 | +\n| no a | 7.5 |\n2 in 2")
  }

  @Test func `transformations apply by the kind and the column of a value`() throws {
    let formatter = CSVFormatter()
      .transforming(.integer, .double) { value, column in .string("\(column) \(value.text)") }
      .transforming { value, _ in value == .null ? "none" : value }
      .transforming(.string) { value, _ in .string(value.text.uppercased()) }
    #expect(try text(of: rows, ["a", "b"], formatter) == "a,b\nEMMA,B 474\nNONE,B 7.5\n")
  }

  @Test func `a transformed formatter keeps its header, delimiter and footer`() throws {
    let formatter = MarkdownFormatter().transforming(.string) { value, _ in
      .string("<\(value.text)>")
    }
    #expect(
      try text(of: rows, ["a", "b"], formatter)
        == "| a | b |\n| <Emma> | 474 | +\n| <no a> | 7.5 |\n2 in 2")
  }

  @Test func `an error thrown by a transformation is rethrown`() {
    struct Refusal: Error {}
    let formatter = JSONFormatter().transforming { _, _ in throw Refusal() }
    #expect(throws: Refusal.self) { try text(of: rows, ["a", "b"], formatter) }
  }
}
