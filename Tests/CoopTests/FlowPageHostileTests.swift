import Foundation
import HTTPOperations
import SQLiteSupport
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)), .enabled(if: PageFixture.isPossible)) struct FlowPageHostileTests {
  private let run = "/run?id=f%231"

  private static let markup = [
    "<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "</main><b>", "&lt;b&gt;",
    "' onmouseover='x", "javascript:alert(1)", "\u{202E}gpj.exe", "a\u{7}c", "\u{200B}\u{FEFF}",
    "\u{E0041}", "]]>", "<!--", "-->", "{{7*7}}", "a\r\nSet-Cookie: a=b", "</title><b>",
    "</svg><b>", "</text><b>", "</pre><b>", "</td></tr></table><b>", "</details><b>",
    "../../etc/passwd", "/etc/passwd", "%2e%2e%2f", "x\" onload=\"y", "\u{1B}[31mred",
    "<svg/onload=alert(1)>", "<![CDATA[<b>", "<style>*{}", "\u{2028}\u{2029}",
  ]

  /// Whether a page has nothing but text from the names and the logs.
  private func check(_ html: String) {
    for part in [
      "<script>alert", "<img src=x", "<b>", "\u{202E}", "\u{0}", "\u{7}", "\u{200B}", "\u{E0041}",
      "\u{1B}", "<!--", "<svg/onload", "<![CDATA", "<style>*", " onload=\"y", "\u{2028}",
    ] { #expect(!html.contains(part), "\(part)") }
    for tag in ["main", "body", "html"] {
      #expect(html.components(separatedBy: "</\(tag)>").count == 2, "\(tag)")
    }
    #expect(
      html.components(separatedBy: "<table").count == html.components(separatedBy: "</table").count)
  }

  @Test func `A9: names of steps and children are text and never markup`() async throws {
    let values = try #require(
      String(data: JSONEncoder().encode(Self.markup), encoding: .utf8))
    let flow = try FlowFixture(#""a": {"each": \#(values), "run": ["printf", "%s", "${each}"]}"#)
    let ran = try await flow.run()
    #expect(ran.status == 0, "\(ran.error)")
    // A journal that another program has written can have steps with any name.
    let connection = try SQLiteConnection.open(
      flow.journal, for: .writing, SQLiteConfiguration(access: .existing))
    for text in Self.markup {
      try connection.execute(
        "INSERT INTO flow_step VALUES ('f', 1, ?1, NULL, 'failed', ?1, 1, NULL, 1, 2)",
        [.text(text)])
    }
    try flow.write(#""a": {"run": "true"}, "b": {"run": "true", "needs": ["a"]}"#)
    _ = try await flow.serving { page in
      let answer = try await page.get(run)
      check(answer.text)
      #expect(answer.text.contains("&lt;script&gt;alert(1)&lt;/script&gt;"))
      #expect(answer.text.contains(#"<span class="hidden">U+202E</span>gpj.exe"#))
      let steps = try await page.steps(run)
      #expect(Set(Self.markup).isSubset(of: steps.map(\.name)))
      #expect(steps.count == 2 + 2 * Self.markup.count)
      for text in Self.markup {
        let query = FlowPageHostileTests.query(step: "a[\(text)]")
        check(try await page.get("/run?" + query).text)
        let log = try await page.get("/run/log?" + query)
        #expect(log.text.hasSuffix("\n" + text) && log.headers["Set-Cookie"] == nil)
        #expect(log.headers["X-Content-Type-Options"] == "nosniff")
      }
    }
  }

  private static func query(step: String) -> String {
    let allowed = CharacterSet(charactersIn: "abcdefghijklmnopqrstuvwxyz")
    return "id=f%231&step=" + (step.addingPercentEncoding(withAllowedCharacters: allowed) ?? "")
  }

  private static let logs: [(bytes: [UInt8], shown: String)] = [
    (Array("\u{1B}[31mred\u{1B}[0m\n".utf8), ">red</pre>"),
    (Array("\u{1B}]0;title\u{7}x".utf8), ">x</pre>"),
    (Array("\u{1B}]8;;http://evil.example\u{1B}\\link\u{1B}]8;;\u{1B}\\".utf8), ">link</pre>"),
    (Array("\u{1B}(Bplain".utf8), ">plain</pre>"),
    (Array("\u{1B}[2J\u{1B}[1;1Hx".utf8), ">x</pre>"),
    (Array("\u{9B}31mx".utf8), ">x</pre>"), (Array("\u{1B}".utf8), "></pre>"),
    (Array("\u{1B}[".utf8), "></pre>"), (Array("\u{1B}]never ends".utf8), ">never ends</pre>"),
    (Array("10 %\r20 %\r30 %\n".utf8), ">30 %</pre>"), (Array("a\r\nb\r\n".utf8), ">a\nb</pre>"),
    ([0x61, 0, 0x62], #"a<span class="hidden">U+0000</span>b"#),
    ([0xFF, 0xFE, 0x41], ">\u{FFFD}\u{FFFD}A</pre>"), ([0xC3], ">\u{FFFD}</pre>"),
    ([0xED, 0xA0, 0x80], "\u{FFFD}"), (Array("\u{202E}x".utf8), #"U+202E</span>x"#),
    (Array("a\u{8}b".utf8), "U+0008"), (Array("\u{FEFF}x".utf8), "U+FEFF"),
    (Array("\u{7F}".utf8), "U+007F"), (Array("</pre><b>x".utf8), "&lt;/pre&gt;&lt;b&gt;x"),
    (Array("<script>alert(1)</script>".utf8), "&lt;script&gt;"),
    (Array("&amp;".utf8), ">&amp;amp;</pre>"), ([0x0A, 0x0A], ">\n</pre>"),
    ([], "<p class=\"faint\">It is empty.</p>"),
    (
      Array(String(repeating: "x", count: 1_000_000).utf8),
      "…\n" + String(repeating: "x", count: 4_096)
    ),
    (
      Array((1...100).map { "line \($0)\n" }.joined().utf8),
      ">…\n" + (81...100).map { "line \($0)" }.joined(separator: "\n") + "</pre>"
    ),
    (
      Array(String(repeating: "é", count: 5_000).utf8), "…\n" + String(repeating: "é", count: 2_048)
    ),
    (
      Array(("x" + String(repeating: "é", count: 5_000)).utf8),
      "…\n" + String(repeating: "é", count: 2_048)
    ),
  ]

  @Test func `A10: logs are text and never markup, and only their ends are in the page`()
    async throws
  {
    let flow = try FlowFixture(#""a": {"run": "echo x"}"#)
    #expect(try await flow.run().status == 0)
    _ = try await flow.serving { page in
      for (bytes, shown) in Self.logs {
        try flow.folder.write(Data(bytes), to: flow.log("a"))
        let html = try await page.get(run).text
        check(html)
        #expect(html.contains(shown), "\(shown)")
        #expect(html.utf8.count < 100_000)
        let size =
          bytes.count == 1
          ? "1 byte" : "\(bytes.count.formatted(.number.locale(Locale(identifier: "en_US")))) bytes"
        #expect(html.contains(">All \(size)</a>") == !bytes.isEmpty, "\(size)")
        #expect(try await page.steps(run).first?.log?.size == bytes.count)
      }
    }
  }

  @Test func `A10: only the logs of steps are served, and no links are followed`() async throws {
    let flow = try FlowFixture(
      #""a": {"run": "echo x"}, "b": {"each": ["../../secret"], "run": "echo y"}"#)
    #expect(try await flow.run().status == 0)
    try flow.folder.write("SECRET", to: "secret")
    try flow.folder.write("SECRET", to: ".flow/f/runs/1/secret.log")
    _ = try await flow.serving { page in
      for step in [
        "../../etc/passwd", "/etc/passwd", "..%2F..%2Fsecret", "%2e%2e/secret", "a/../../secret",
        "secret", "..", ".", "", "a%00", "a.log", "%2Fetc%2Fpasswd", "..%5Csecret", "a%2500",
        "%252e%252e%252fsecret", "b", "b[../../secret]/../..", "logs/secret",
        "....//....//secret", "a%0A",
      ] {
        let answer = try await page.get("/run/log?id=f%231&step=\(step)")
        #expect([400, 404].contains(answer.status), "\(step): \(answer.status)")
        #expect(!answer.text.contains("SECRET") && !answer.text.contains("root:"), "\(step)")
      }
      for id in ["..%231", "f%2F..%2Ff%231", "%231", "f%232", "f", "f%231x"] {
        #expect(try await page.get("/run/log?id=\(id)&step=a").status == 404, "\(id)")
      }
      // A child with such a name has a log, whose name is escaped.
      let child = try await page.get("/run/log?id=f%231&step=b%5B..%2F..%2Fsecret%5D")
      #expect(child.text.hasSuffix("\ny\n"))
      let manager = FileManager.default
      let log = flow.folder.path + "/" + flow.log("a")
      try manager.removeItem(atPath: log)
      try manager.createSymbolicLink(atPath: log, withDestinationPath: flow.folder.path + "/secret")
      #expect(try await page.get("/run/log?id=f%231&step=a").status == 404)
      let html = try await page.get(run).text
      #expect(html.contains("the log is a symbolic link") && !html.contains("SECRET"))
      try manager.removeItem(atPath: log)
      let made = unsafe mkfifo(log, 0o600)
      #expect(made == 0)
      #expect(try await page.get("/run/log?id=f%231&step=a").status == 404)
      // The folder of the logs, too.
      let logs = flow.folder.path + "/.flow/f/runs/1"
      try flow.folder.write("SECRET", to: "others/a.log")
      try manager.removeItem(atPath: logs)
      try manager.createSymbolicLink(
        atPath: logs, withDestinationPath: flow.folder.path + "/others")
      #expect(try await page.get("/run/log?id=f%231&step=a").status == 404)
      #expect(try await !page.get(run).text.contains("SECRET"))
    }
  }

  @Test(.enabled(if: Program.installed("curl") != nil))
  func `A10: a log of 200 MB is shown and sent without reading it into memory`() async throws {
    let flow = try FlowFixture(#""a": {"run": "echo x"}"#)
    #expect(try await flow.run().status == 0)
    let size = 200_000_000
    _ = try await flow.serving { page in
      let address = page.url("/run/log?id=f%231&step=a").absoluteString
      let curl = try #require(
        Program.installed("curl", "-s", "-o", "/dev/null", "-w", "%{size_download}", address))
      // The first answers need memory of their own, so the log is still short.
      let short = try #require(flow.text(flow.log("a"))).utf8.count
      for _ in 0..<3 {
        _ = try await page.get(run)
        #expect(try await curl.run().text == "\(short)")
      }
      #if os(Linux)
        func peak() throws -> Int {
          let status = try String(
            contentsOfFile: "/proc/\(page.process)/status", encoding: .utf8)
          let line = try #require(status.firstMatch(of: /VmHWM:\s+([0-9]+) kB/))
          return try #require(Int(line.1))
        }
        let before = try peak()
      #endif
      let log = try FileHandle(forWritingTo: flow.folder.url.appendingPathComponent(flow.log("a")))
      try log.truncate(atOffset: UInt64(size - 5))
      try log.seekToEnd()
      try log.write(contentsOf: Data("\nend\n".utf8))
      try log.close()
      let html = try await page.get(run).text
      #expect(html.contains(">…\nend</pre>"))
      #expect(html.contains("All 200,000,000 bytes"))
      #expect(try await curl.run().text == "\(size)")
      #if os(Linux)
        #expect(try peak() - before < 8_000)
      #endif
    }
  }
}
