import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct TourTests {
  @Test func `the tour shows every stop with its output`() async throws {
    let printed = try await Program.devApp("tour").run()
    #expect(printed.status == 0)
    #expect(printed.error == "")
    for line in [
      "  → result: 42", "  → error: no network", "  → cancelled",
      "  → [2] FetchPage(missing): no page missing", "  → FetchPage(slow): cancelled, composite",
      "  → error(no page missing)", "  → 42 and page about", "  → see: about imprint",
      "  → FetchPage(missing): error(no page missing)", "  → result(\"worked\") after 3 attempts",
      "  → FetchPage(index): result(\"see: about imprint\")\n  → slow: cancelled", "  → [10, 12]",
      "  → error(timeout: \'FetchPage(slow)\' took longer than 0.02 seconds)\n  → page about",
      "  → page about, then page imprint", "  → open\n  → close a connection\n  → cancelled",
      "  → cancelled\n  → result(\"see: about imprint\")\n  → result(\"page about\")",
    ] {
      #expect(printed.text.contains(line + "\n"), "\(line)")
    }
  }

  @Test func `the code that the tour shows is the code that it runs`() async throws {
    let source = try String(
      contentsOf: URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../DevApp/Demo/Tour/TourStops.swift").standardizedFileURL,
      encoding: .utf8)
    let stops = source.components(separatedBy: "TourStop(\n").dropFirst()
    #expect(stops.count == 12)
    for stop in stops {
      let parts = stop.components(separatedBy: "\"\"\"")
      try #require(parts.count == 3)
      let shown = parts[1].replacingOccurrences(of: "\\\\", with: "\\")
      let body = parts[2].components(separatedBy: "{ print in\n")[1]
        .components(separatedBy: "\n  }\n")[0]
      #expect(Self.lines(of: shown) == Self.lines(of: body))
      #expect(Self.lines(of: body).count <= 12)
    }
  }

  private static func lines(of text: String) -> [String] {
    text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
      .filter { !$0.isEmpty }
  }
}
