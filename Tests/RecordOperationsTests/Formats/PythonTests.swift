import CompositeOperations
import Foundation
import RecordOperations
import Testing

/// Exchanges files with Python in both directions.
@Suite(.enabled(if: Python.isAvailable, "python3 is not installed"), .timeLimit(.minutes(10)))
struct PythonTests {
  /// Encodes tables as JSON Lines, one table per line.
  private func lines(_ tables: [[[String]]]) throws -> [UInt8] {
    let encoder = JSONEncoder()
    return try tables.flatMap { Array(try encoder.encode($0)) + [UInt8(ascii: "\n")] }
  }

  private func tables(_ lines: [UInt8]) throws -> [[[String]]] {
    try lines.split(separator: UInt8(ascii: "\n")).map {
      try JSONDecoder().decode([[String]].self, from: Data($0))
    }
  }

  private static let delimiters: [(CSVDelimiter, String)] = [
    (.comma, ","), (.semicolon, ";"), (.tab, "\t"),
  ]

  private func expectEqual(_ one: [[[String]]], _ other: [[[String]]], _ comment: String) {
    #expect(one.count == other.count)
    for (number, (one, other)) in zip(one, other).enumerated() {
      let areEqual = one.elementsEqual(other) {
        // Compared by bytes, because é can be one scalar or two.
        $0.map { Array($0.utf8) } == $1.map { Array($0.utf8) }
      }
      #expect(areEqual, "table \(number) of \(comment): \(one) is not \(other)")
    }
  }

  @Test(arguments: delimiters)
  func `Python reads the CSV that this package writes`(delimiter: CSVDelimiter, character: String)
    async throws
  {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = OperationRandomness.seeded(seed)
    let randomTables = (0..<500).map { _ in RandomTable(.any, using: &random) }
    let formatter = CSVFormatter(
      delimiter: delimiter, lineEnding: delimiter == .comma ? .lineFeed : .carriageReturnLineFeed)
    // Each file follows its length.
    var files: [UInt8] = []
    for table in randomTables {
      let bytes = try table.bytes(formatter)
      files += Array("\(bytes.count)\n".utf8) + bytes
    }
    let output = try await Python.bytes(
      of: """
        import io
        with open(source, "rb") as files, open(target, "w") as output:
          while length := files.readline():
            text = files.read(int(length)).decode("utf-8")
            rows = csv.reader(io.StringIO(text, newline=""), delimiter=sys.argv[3], strict=True)
            print(json.dumps(list(rows)), file=output)
        """, from: files, arguments: [character])
    let expected = randomTables.map { [$0.columns] + $0.rows.map { $0.map(\.text) } }
    expectEqual(try tables(output), expected, "seed \(seed)")
  }

  private static let writer = """
    import io
    with open(source, encoding="utf-8") as tables, open(target, "wb") as files:
      for table in tables:
        text = io.StringIO(newline="")
        csv.writer(text, delimiter=sys.argv[3], lineterminator=sys.argv[4]).writerows(json.loads(table))
        text = text.getvalue().encode("utf-8")
        files.write(b"%d\\n" % len(text) + text)
    """

  /// Splits bytes in which each file follows its length.
  private func files(_ bytes: [UInt8]) throws -> [[UInt8]] {
    var files: [[UInt8]] = []
    var rest = bytes[...]
    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
      let count = try #require(Int(String(decoding: rest[..<end], as: UTF8.self)))
      files.append(Array(rest[(end + 1)...].prefix(count)))
      rest = rest[(end + 1)...].dropFirst(count)
    }
    return files
  }

  @Test(arguments: delimiters)
  func `this package reads the CSV that Python writes`(delimiter: CSVDelimiter, character: String)
    async throws
  {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = OperationRandomness.seeded(seed)
    let texts = (0..<500).map { _ in
      let table = RandomTable(.any, using: &random)
      return [table.columns] + table.rows.map { $0.map(\.text) }
    }
    let output = try await Python.bytes(
      of: Self.writer, from: try lines(texts), arguments: [character, "\r\n"])
    let read = try files(output).map { bytes in
      var reader = CSVReader(delimiter: delimiter)
      return [reader.read(bytes.span), reader.finish()].flatMap { batch in
        (0..<batch.rowCount).map { row in
          batch.cells(of: row).map { batch.text(of: $0) ?? "no text" }
        }
      }
    }
    expectEqual(read, texts, "seed \(seed)")
  }

  @Test(arguments: delimiters, CSVFormatter.LineEnding.allCases)
  func `without nulls and empty texts, the CSV equals Python's byte for byte`(
    delimiter: (CSVDelimiter, String), ending: CSVFormatter.LineEnding
  ) async throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = OperationRandomness.seeded(seed)
    // Up to version 3.12, Python does not quote a carriage return if lines end with a line feed.
    let isReturnQuoted = ending == .carriageReturnLineFeed
    let plain = (0..<500).map { _ in RandomTable(.plain, using: &random) }.filter {
      isReturnQuoted || !$0.texts.joined().contains { $0.utf8.contains(UInt8(ascii: "\r")) }
    }
    let formatter = CSVFormatter(delimiter: delimiter.0, lineEnding: ending)
    let output = try await Python.bytes(
      of: Self.writer, from: try lines(plain.map(\.texts)),
      arguments: [delimiter.1, isReturnQuoted ? "\r\n" : "\n"])
    let written = try files(output)
    #expect(plain.count > 50 && written.count == plain.count)
    for (number, (table, bytes)) in zip(plain, written).enumerated() {
      #expect(try table.bytes(formatter) == bytes, "table \(number) of seed \(seed)")
    }
  }

  @Test(arguments: [JSONReader.Layout.array, .lines])
  func `Python reads the JSON that this package writes`(layout: JSONReader.Layout) async throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = OperationRandomness.seeded(seed)
    let tables = (0..<300).map { _ in RandomTable(.any, using: &random) }
    var files: [UInt8] = []
    for table in tables {
      let bytes = try layout == .array ? table.bytes(.json) : table.bytes(.jsonLines)
      files += Array("\(bytes.count)\n".utf8) + bytes
    }
    let output = try await Python.bytes(
      of: """
        def shortText(value):
          if isinstance(value, list): return "[" + " ".join(map(shortText, value)) + "]"
          if isinstance(value, str): return "s" + value.encode("utf-8").hex()
          if isinstance(value, float): return "d%d" % struct.unpack(">Q", struct.pack(">d", value))
          return "null" if value is None else "i%d" % value
        with open(source, "rb") as files, open(target, "w") as output:
          while length := files.readline():
            text = files.read(int(length)).decode("utf-8")
            texts = [text] if sys.argv[3] == "array" else text.split("\\n")[:-1]
            rows = [json.loads(text, object_pairs_hook=lambda pairs: pairs) for text in texts]
            for row in rows[0] if sys.argv[3] == "array" else rows:
              print(*(shortText(part) for pair in row for part in pair), file=output)
        """, from: files, arguments: ["\(layout)"])
    let lines = String(decoding: output, as: UTF8.self).split(separator: "\n").map(String.init)
    let expected = tables.flatMap { table in
      table.rows.map { row in
        zip(table.columns, row).flatMap { [FieldValue.string($0).shortText, $1.inJSON.shortText] }
          .joined(separator: " ")
      }
    }
    #expect(lines == expected, "seed \(seed)")
  }
}

extension RandomTable {
  fileprivate var texts: [[String]] { [columns] + rows.map { $0.map(\.text) } }
}

extension FieldValue {
  fileprivate var shortText: String {
    switch self {
    case .null: "null"
    case .integer(let number): "i\(number)"
    case .double(let number): "d\(number.bitPattern)"
    case .list(let values): "[\(values.map(\.shortText).joined(separator: " "))]"
    case .string, .bytes, .date, .reference:
      "s" + text.utf8.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
  }
}
