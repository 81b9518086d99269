import RecordOperations
import Testing

/// Each line of a file belongs to a row or to a problem, so that no row is lost without a word.
@Suite struct LostRowTests {
  /// Calls a closure with all texts of up to a number of bytes.
  private func forEachText(
    of alphabet: String, upTo length: Int, _ body: (_ text: [UInt8]) throws -> Void
  ) rethrows {
    var texts: [[UInt8]] = [[]]
    for _ in 0..<length {
      texts = texts.flatMap { text in alphabet.utf8.map { text + [$0] } }
      for text in texts { try body(text) }
    }
  }

  /// A row with its lines and cells; nil for the cells of a bad row.
  private struct Row: Equatable {
    let lines: ClosedRange<Int>
    let cells: [[UInt8]]?
  }

  /// Returns the lines of a text without their endings, and the whole lines.
  private func lines(of text: [UInt8]) -> [(content: ArraySlice<UInt8>, whole: ArraySlice<UInt8>)] {
    var lines: [(ArraySlice<UInt8>, ArraySlice<UInt8>)] = []
    var rest = text[...]
    while !rest.isEmpty {
      let content = rest.prefix { $0 != 10 && $0 != 13 }
      let end = rest.dropFirst(content.count).starts(with: [13, 10]) ? 2 : 1
      lines.append((content, rest.prefix(content.count + end)))
      rest = rest.dropFirst(content.count + end)
    }
    return lines
  }

  /// The oracle: adds lines to a row for as long as a quote is open at the end of a line.
  private func rows(in text: [UInt8]) -> [Row] {
    var rows: [Row] = []
    var rest = Array(lines(of: text).enumerated())[...]
    while let (index, line) = rest.popFirst() {
      if line.content.isEmpty { continue }
      var last = index
      var row = Array(line.whole)
      var cells = split(line.content)
      while cells == nil, let (next, line) = rest.popFirst() {
        last = next
        cells = split(row + line.content)
        row += line.whole
      }
      rows.append(
        Row(lines: index + 1...last + 1, cells: cells.flatMap { $0.isBad ? nil : $0.cells }))
    }
    return rows
  }

  /// Splits a row into cells; nil if a quote is open at its end.
  private func split(_ row: some Collection<UInt8>) -> (cells: [[UInt8]], isBad: Bool)? {
    var (cells, isBad) = ([[UInt8]](), false)
    var rest = Array(row)[...]
    repeat {
      var cell: [UInt8] = []
      if rest.first == 34 {
        var part = rest
        repeat {
          part = part.dropFirst()
          guard let end = part.firstIndex(of: 34) else { return nil }
          cell += (cell.isEmpty && part.startIndex == rest.startIndex + 1 ? [] : [34])
          cell += part[..<end]
          part = part[(end + 1)...]
        } while part.first == 34
        rest = part
        isBad = isBad || !(rest.isEmpty || rest.first == 44)
      }
      let text = rest.prefix { $0 != 44 }
      cells.append(cell + text)
      rest = rest.dropFirst(text.count)
    } while rest.popFirst() != nil
    return (cells, isBad)
  }

  private func read(_ text: [UInt8], inPiecesOf length: Int) -> [Row] {
    var reader = CSVReader()
    var rows: [Row] = []
    func add(_ batch: RowBatch) {
      for row in 0..<batch.rowCount {
        rows.append(
          Row(
            lines: batch.lines(of: row),
            cells: batch.cells(of: row).map { Array(batch.bytes[$0.range]) }))
      }
      for problem in batch.problems {
        #expect(problem.rowCount == problem.lastLine - problem.line + 1)
        rows.append(Row(lines: problem.line...problem.lastLine, cells: nil))
      }
    }
    for start in stride(from: 0, to: text.count, by: length) {
      add(reader.read(text.span.extracting(start..<min(start + length, text.count))))
    }
    add(reader.finish())
    return rows.sorted { $0.lines.lowerBound < $1.lines.lowerBound }
  }

  @Test func `D11: each line of CSV belongs to a row or to a problem that counts it`() {
    forEachText(of: "a,\"\n\r", upTo: 6) { text in
      let expected = rows(in: text)
      let found = [read(text, inPiecesOf: text.count), read(text, inPiecesOf: 1)]
      if found != [expected, expected] {
        Issue.record("\(String(decoding: text, as: UTF8.self).debugDescription): \(found)")
      }
      let content = lines(of: text).enumerated().filter { !$1.content.isEmpty }.map {
        $0.offset + 1
      }
      let named = Set(found[0].flatMap { Array($0.lines) })
      #expect(named.isSuperset(of: content))
      #expect(found[0].map(\.lines.count).reduce(0, +) == named.count)
    }
  }

  /// `x` is an object, `y` one with a stray quote, `z` one that is cut short.
  @Test(arguments: JSONReader.Layout.allCases)
  func `D11: each object of JSON is read or counted by a problem`(layout: JSONReader.Layout) {
    let objects = ["x": #"{"a":"b"}"#, "y": #"{"a":"b}"#, "z": #"{"a":"#]
    for space in ["", "\n", "\r", "\r\n", " "] {
      // A line is the unit of JSON Lines, so objects on one line may be one problem.
      if layout == .lines, space == "" || space == " " { continue }
      let separator = layout == .array ? ",\(space)" : space
      forEachText(of: "xyz", upTo: 6) { kinds in
        let kinds = kinds.map { String(decoding: [$0], as: UTF8.self) }
        let text = kinds.compactMap { objects[$0] }.joined(separator: separator)
        let bytes = Array((layout == .array ? "[\(text)]" : text).utf8)
        for length in [bytes.count, 1] {
          let reading = JSONReading(layout, bytes, inPiecesOf: length)
          if reading.objects.count + reading.lostCount < kinds.count {
            Issue.record("\(reading.lostCount) lost, \(reading.objects.count) read: \(text)")
          }
        }
      }
    }
  }

  @Test(arguments: [
    (JSONReader.Layout.lines, #"[{"a":1},{"a":2},{"a":3}]"#, 3),
    (.lines, "{\"a\":1}\r{\"a\":2}\r{\"a\":3}", 3),
    (.lines, "{\"a\":1}{\"a\":2}", 2),
    (.lines, "{\"a\":\"line\n{\"a\":2}\n", 1),
    (.lines, #"{"a":{"b":{}}}"#, 1),
    (.array, #"[{"a":{"b":{}},"c":[{"d":1}]}]"#, 1),
    (.lines, #"{"id":1,"items":[{"a":1},{"b":2}, {}]}"#, 1),
    (.array, "[{\"id\":1,\"items\":[{\"a\":[]},\n{\"b\":-2.5}, null, true]}]", 1),
    (.lines, #"{"id":1,"items":[{"a":1},{"b":2}]"#, 2),
    (.lines, #"{"id":1,"items":[{"a":1},{"b":2}]}{"id":2}"#, 3),
    (.array, #"[{"a":"b},{"a":"c"},{"a":"d"}]"#, 3),
    (.array, "{\"a\":1}", Int.max),
    (.array, "[{}],[{}]", Int.max),
  ])
  func `D11: a problem with JSON counts the objects that it loses`(
    layout: JSONReader.Layout, text: String, count: Int
  ) {
    #expect(JSONReading(layout, text).lostCount == count)
  }
}
