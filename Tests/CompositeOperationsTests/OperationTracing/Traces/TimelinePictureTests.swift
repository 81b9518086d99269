import CompositeOperations
import Foundation
import OperationTracing
import Testing

#if canImport(FoundationXML)
  import FoundationXML
#endif

@Suite struct TimelinePictureTests {
  /// Counts the elements of an XML text.
  private final class Reader: NSObject, XMLParserDelegate {
    var counts: [String: Int] = [:]
    var text = ""

    func parser(
      _ parser: XMLParser, didStartElement element: String, namespaceURI: String?,
      qualifiedName: String?, attributes: [String: String]
    ) { counts[element, default: 0] += 1 }

    func parser(_ parser: XMLParser, foundCharacters characters: String) { text += characters }

    static func read(_ text: String) -> Reader? {
      let reader = Reader()
      let parser = XMLParser(data: Data(text.utf8))
      parser.delegate = reader
      return parser.parse() ? reader : nil
    }
  }

  @Test func `a picture is well-formed and contains a group for every run`() throws {
    var made = HandMadeTrace()
    let list = made.add("list", 0, to: 100)
    made.add("one", below: list, 1, to: 50, .error("no"), attempt: 2)
    made.add("two", below: list, 1, start: -1, to: nil, lane: 1, waits: [(.rate, 2, nil)])
    let reader = try #require(Reader.read(made.trace.svg))
    #expect(reader.counts["g"] == 3)
    // The titles of the picture and of each run.
    #expect(reader.counts["title"] == 4)
    for text in ["list", "✕ one #2", "error: no", "waited for its turn", "not ended", "20 ms"] {
      #expect(reader.text.contains(text), "\(text)")
    }
    #expect(!reader.text.contains("Showing"))
  }

  @Test func `the picture is well-formed with any names and errors`() throws {
    let reader = try #require(Reader.read(TimelinePageTests.nasty.svg))
    #expect(reader.counts["g"] == TimelinePageTests.nastyTexts.count)
    #expect(reader.counts["script"] == nil)
    #expect(reader.text.contains("</script><script>alert(1)</script>"))
  }

  @Test func `of many runs the longest are drawn, and the picture says how many it omits`() throws {
    var made = HandMadeTrace()
    for index in 0..<2_500 {
      made.add(
        "run", 10 * index, to: 10 * index + (index % 5 == 0 ? 1 : 8),
        index % 10 == 0 ? .error("no") : .result)
    }
    let reader = try #require(Reader.read(made.trace.svg))
    #expect(reader.counts["g"] == 2_000)
    #expect(
      reader.text.contains(
        "Showing 2000 of 2500 runs, the longest. "
          + "The others took 1.00 ms or less, and 250 of them ended in an error."))
    let deep = try #require(Reader.read(HandMadeTrace.chain(of: 400, isNested: true).svg))
    #expect(deep.counts["g"] == 150)
    #expect(
      deep.text.contains("Showing 150 of 400 runs, the longest in the first 150 of 400 rows."))
  }

  @Test func `an empty trace and a run without duration have a picture, too`() throws {
    let nothing = try #require(Reader.read(OperationTrace(beginning: 0, spans: []).svg))
    #expect(nothing.counts["g"] == nil && nothing.text.contains("Nothing ran"))
    var made = HandMadeTrace()
    made.add("quick", 3, to: 3)
    #expect(try #require(Reader.read(made.trace.svg)).counts["g"] == 1)
  }

  @Test(arguments: [
    (1, ["0", "0.1 ms", "0.9 ms"]),
    (95, ["0", "10 ms", "20 ms", "90 ms"]), (2_500, ["0", "0.5 s", "1.0 s", "2.5 s"]),
    (90_000, ["0", "10 s", "20 s", "1 min 30 s"]), (1_200_000, ["0", "2 min 0 s", "20 min 0 s"]),
  ])
  func `marks of the axis are round numbers of one unit`(milliseconds: Int, labels: [String]) throws
  {
    var made = HandMadeTrace()
    made.add("run", 0, to: milliseconds)
    let texts = made.trace.svg.components(separatedBy: "</text>")
    let found = labels.filter { label in texts.contains { $0.hasSuffix(">\(label)") } }
    // The label at the end may have no room.
    #expect(found.count >= labels.count - 1, "\(found)")
  }
}
