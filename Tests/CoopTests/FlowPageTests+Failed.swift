import Foundation
import TestSupport
import Testing

extension FlowPageTests {
  @Test
  func `A14: the page of a failed run begins with the step, the reason and the error in the log`()
    async throws
  {
    let script = """
      test -e again || echo 'error of the first attempt'; touch again; seq 100; \
      printf '\\\\033[31;1mERROR\\\\033[0m: no right\\\\n'; seq 101 160; exit 3
      """
    let flow = try FlowFixture(
      """
      "dump": {"run": "\(script)", "retries": 1},
      "quiet": {"run": "exit 4", "needs": ["dump"]}
      """)
    #expect(try await flow.run().status == 1)
    _ = try await flow.serving { page in
      let html = try await page.get(run).text
      let part = try #require(html.firstMatch(of: /<pre id="error-dump">([^<]*)<\/pre>/))
      let lines = part.1.split(separator: "\n")
      #expect(lines.first == "ERROR: no right" && lines.count == 20 && lines.last == "119")
      let error = try #require(html.range(of: "error-dump"))
      let graph = try #require(html.range(of: "id=\"graph\""))
      #expect(error.lowerBound < graph.lowerBound)
      let list = try await page.get("/").text
      #expect(list.contains(#"<span class="reason">1 step failed</span>"#))
    }
  }

  @Test func `A14: a line that begins as one of the engine does not begin an attempt`() async throws
  {
    let flow = try FlowFixture(
      #""test": {"run": "echo 'panic: no value'; echo '=== RUN   TestB'; echo passed; exit 1"}"#)
    #expect(try await flow.run().status == 1)
    _ = try await flow.serving { page in
      let html = try await page.get(run).text
      let part = try #require(html.firstMatch(of: /<pre id="error-test">([^<]*)<\/pre>/))
      #expect(part.1.hasPrefix("panic: no value\n=== RUN   TestB\npassed"), "\(part.1)")
    }
  }
}
