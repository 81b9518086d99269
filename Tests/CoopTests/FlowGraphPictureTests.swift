import CompositeOperations
import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)), .enabled(if: PageFixture.isPossible)) struct FlowGraphPictureTests
{
  private struct Point: Hashable {
    var x: Double
    var y: Double
  }

  private struct Box {
    let name: String
    let (x, y, width, height): (Double, Double, Double, Double)

    /// Whether a point is inside, and not on the edge.
    func contains(_ point: Point) -> Bool {
      x < point.x && point.x < x + width && y < point.y && point.y < y + height
    }

    func overlaps(_ other: Box) -> Bool {
      x < other.x + other.width && other.x < x + width && y < other.y + other.height
        && other.y < y + height
    }
  }

  private struct Graph {
    var needs: [[Int]] = []
    var after: [[Int]] = []

    /// A graph in which each step needs all before it.
    init(count: Int) {
      needs = (0..<count).map { Array(0..<$0) }
      after = Array(repeating: [], count: count)
    }

    init(_ random: inout some RandomNumberGenerator) {
      let count = Int.random(in: 2...60, using: &random)
      let most = Int.random(in: 1...4, using: &random)
      // A small reach makes a long graph, a large one long lines.
      let reach = Int.random(in: 1...count, using: &random)
      for step in 0..<count {
        func earlier(_ most: Int) -> [Int] {
          if step == 0 { return [] }
          let number = Int.random(in: 0...most, using: &random)
          return Set(
            (0..<number).map { _ in Int.random(in: max(0, step - reach)..<step, using: &random) }
          ).sorted()
        }
        needs.append(earlier(most))
        after.append(earlier(1).filter { [own = needs[step]] in !own.contains($0) })
      }
    }

    /// The dependencies with their styles.
    var lines: Set<String> {
      Set(
        needs.indices.flatMap { step in
          needs[step].map { "s\($0)-s\(step)" } + after[step].map { "s\($0)-s\(step), dashed" }
        })
    }

    /// The members of `steps` of a flow file.
    var text: String {
      func list(_ steps: [Int]) -> String { steps.map { "\"s\($0)\"" }.joined(separator: ", ") }
      return needs.indices.map { step in
        #""s\#(step)": {"run": "true", "needs": [\#(list(needs[step]))], "#
          + #""after": [\#(list(after[step]))]}"#
      }.joined(separator: ", ")
    }
  }

  @Test func `A9: no line of the graph leads through a step, and no steps overlap`() async throws {
    let flow = try FlowFixture(#""s0": {"run": "true"}"#)
    #expect(try await flow.run().status == 0)
    _ = try await flow.serving { page in
      for _ in 0..<25 {
        let seed = UInt64.random(in: 0...(.max))
        var random = OperationRandomness.seeded(seed)
        let graph = Graph(&random)
        try flow.write(graph.text)
        let html = try await page.get("/run?id=f%231").text
        if graph.lines.isEmpty { continue }
        let faults = try Self.faults(in: html, graph)
        #expect(faults == [], "seed \(seed)")
      }
    }
  }

  @Test func `A9: 200 steps that each need all before it have less than 4 MB of lines`()
    async throws
  {
    let flow = try FlowFixture(#""s0": {"run": "true"}"#)
    #expect(try await flow.run().status == 0)
    _ = try await flow.serving { page in
      try flow.write(Graph(count: 200).text)
      let html = try await page.get("/run?id=f%231").text
      let begin = try #require(html.range(of: "<g class=\"edges\">")).upperBound
      let end = try #require(html.range(of: "</g>", range: begin..<html.endIndex)).lowerBound
      #expect(html[begin..<end].utf8.count < 4_000_000)
      #expect(html[end...].components(separatedBy: "<rect").count == 201)
    }
  }

  private static func faults(in html: String, _ graph: Graph) throws -> [String] {
    let boxes = try boxes(in: html)
    var faults: [String] = []
    if boxes.count != graph.needs.count { faults.append("\(boxes.count) boxes") }
    for (index, box) in boxes.enumerated() {
      for other in boxes[..<index] where box.overlaps(other) {
        faults.append("\(other.name) and \(box.name) overlap")
      }
    }
    // The steps whose lines can begin at a point: the right edge of the step, and where its line leaves
    // a column. A dashed line can begin where a solid one of the step passes, but not the reverse.
    var sources = Dictionary(
      uniqueKeysWithValues: boxes.map {
        (Point(x: $0.x + $0.width, y: $0.y + $0.height / 2), $0.name)
      })
    var lines: Set<String> = []
    for style in ["", " class=\"after\""] {
      var (begins, ends) = (Set<Point>(), Set<Point>())
      for match in html.matches(of: /<path( class="after")? d="([^"]+)"\/>/)
      where match.1 ?? "" == style {
        for part in match.2.split(separator: "M") {
          let points = try points(of: "M\(part)")
          let (first, last) = try (#require(points.first), #require(points.last))
          let source = sources[first] ?? "?"
          for box in boxes where points.contains(where: box.contains) {
            faults.append("a line of \(source) leads through \(box.name)")
          }
          begins.insert(first)
          if let target = boxes.first(where: {
            $0.x == last.x && $0.y + $0.height / 2 == last.y
          }) {
            let line = "\(source)-\(target.name)\(style.isEmpty ? "" : ", dashed")"
            if !lines.insert(line).inserted { faults.append("\(line) twice") }
            if points.count > 51 { faults.append("\(line) is more than a curve") }
            continue
          }
          // A curve and a horizontal line for each column.
          for index in stride(from: 100, to: points.count, by: 100)
          where sources.updateValue(source, forKey: points[index]) != nil {
            faults.append("a line of \(source) twice")
          }
          ends.insert(last)
        }
      }
      if !ends.isSubset(of: begins) { faults.append("a line leads to no step") }
    }
    if lines != graph.lines {
      faults.append("other lines: \(lines.symmetricDifference(graph.lines))")
    }
    return faults
  }

  private static func boxes(in html: String) throws -> [Box] {
    let pattern =
      /<title>(s[0-9]+): [^<]*<\/title><rect x="([0-9]+)" y="([0-9]+)" width="([0-9]+)" height="([0-9]+)"/
    return try html.matches(of: pattern).map { match in
      func number(_ text: Substring) throws -> Double { try #require(Double(text)) }
      return try Box(
        name: String(match.1), x: number(match.2), y: number(match.3), width: number(match.4),
        height: number(match.5))
    }
  }

  /// Points on a line, close to each other.
  private static func points(of line: String) throws -> [Point] {
    var points: [Point] = []
    for match in line.matches(of: /([MCH])([0-9 ]+)/) {
      let numbers = try match.2.split(separator: " ").map { try #require(Double($0)) }
      let last = points.last ?? Point(x: 0, y: 0)
      switch match.1 {
      case "M": points.append(Point(x: numbers[0], y: numbers[1]))
      case "H":
        points += (1...50).map { part in
          Point(x: last.x + (numbers[0] - last.x) * Double(part) / 50, y: last.y)
        }
      default:
        points += (1...50).map { part in
          let (t, u) = (Double(part) / 50, 1 - Double(part) / 50)
          func at(_ from: Double, _ first: Double, _ second: Double, _ to: Double) -> Double {
            u * u * u * from + 3 * u * u * t * first + 3 * u * t * t * second + t * t * t * to
          }
          return Point(
            x: part == 50 ? numbers[4] : at(last.x, numbers[0], numbers[2], numbers[4]),
            y: part == 50 ? numbers[5] : at(last.y, numbers[1], numbers[3], numbers[5]))
        }
      }
    }
    return points
  }
}
