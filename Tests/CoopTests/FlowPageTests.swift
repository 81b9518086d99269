import Foundation
import HTTPOperations
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)), .enabled(if: PageFixture.isPossible)) struct FlowPageTests {
  let run = "/run?id=f%231"

  @Test func `A9: a run shows its steps with states, needs, attempts and logs`() async throws {
    let flow = try FlowFixture(
      """
      "build": {"run": "echo built"},
      "test": {"run": "echo tested; echo broken; exit 3", "needs": ["build"], "retries": 1},
      "pack": {"run": "true", "needs": ["test"]},
      "docs": {"run": "true", "only-if": "false"},
      "notify": {"run": "echo told", "after": ["pack"]}
      """)
    #expect(try await flow.run("--keep-going").status == 1)
    let printed = try await flow.serving { page in
      let steps = try await page.steps(run)
      #expect(steps.map(\.name).sorted() == ["build", "docs", "notify", "pack", "test"])
      let states = Dictionary(uniqueKeysWithValues: steps.map { ($0.name, $0.state) })
      #expect(
        states == [
          "build": "succeeded", "test": "failed", "pack": "skipped", "docs": "skipped",
          "notify": "succeeded",
        ])
      let test = try #require(steps.first { $0.name == "test" })
      #expect(test.needs == ["build"] && test.attempts == 2 && test.reason == "exit status 3")
      #expect(test.log?.path == flow.folder.path + "/" + flow.log("test"))
      let bytes = try #require(flow.text(flow.log("test"))).utf8.count
      #expect(test.log?.size == bytes)
      #expect(steps.first { $0.name == "notify" }?.after == ["pack"])
      let html = try await page.get(run).text
      for part in [
        "<a href=\"#step-test\">test</a> (exit status 3)", "tested\nbroken\n=== attempt 2, ",
        "<svg viewBox", "✗ failed", "<title>pack: ↷ skipped</title>",
        "<details id=\"log-test\" open data-open>", "<details id=\"log-build\">",
        "href=\"/run/log?id=f%231&amp;step=test\">All \(bytes) bytes</a>",
        "<dt>Flow</dt><dd>f</dd>", "<details id=\"stored\"><summary>",
        "<td data-label=\"Needs\">build</td>", "<td data-label=\"Needs\">after pack</td>",
      ] { #expect(html.contains(part), "\(part)") }
      #expect(html.components(separatedBy: "<rect").count == 6)
      for (path, status) in [
        ("/run?id=f%231&step=tes", 404), ("/run/log?id=f%231&step=tes", 404),
        ("/run/log?id=f%231", 400), ("/run/log", 400),
      ] {
        #expect(try await page.get(path).status == status, "\(path)")
      }
      let log = try await page.get("/run/log?id=f%231&step=test")
      #expect(log.text == flow.text(flow.log("test")))
      #expect(flow.output("test") == "tested\nbroken\ntested\nbroken\n")
      #expect(log.headers["Content-Type"] == "text/plain; charset=utf-8")
    }
    #expect(printed.status == 130, "\(printed.error)")
  }

  @Test func `A9: a flow that runs shows which steps run, and which wait for what`() async throws {
    let flow = try FlowFixture(
      """
      "a": {"run": "echo begun; touch began; while ! test -e go; do sleep 0.05; done"},
      "b": {"run": "true", "needs": ["a"]}, "c": {"run": "true"}
      """, head: #""width": 1,"#)
    let folder = flow.folder.path
    let ran = try await flow.program(["run", "f.json"]).run { _ in
      try await eventually { FileManager.default.fileExists(atPath: folder + "/began") }
      _ = try await flow.serving { page in
        let stream = try EventStream(of: page, "/events?id=f%231")
        // Which step takes the only slot first is open.
        while try await page.steps(run).first(where: { $0.name == "a" })?.state != "running" {
          try await stream.change()
        }
        let states = try await page.steps(run).map { "\($0.name) \($0.state)" }.sorted()
        #expect(states[0...1] == ["a running", "b waiting"])
        #expect(["c ready", "c succeeded"].contains(states[2]))
        #expect(try await page.get(run).text.contains("begun</pre>"))
        try flow.folder.write("", to: "go")
        while try await page.steps(run).contains(where: { $0.state != "succeeded" }) {
          try await stream.change()
        }
      }
    }
    #expect(ran.status == 0, "\(ran.error)")
  }

  @Test func `A9: a step of a flow that was killed is shown as interrupted`() async throws {
    let flow = try FlowFixture(
      """
      "a": {"run": "echo x; while ! test -e go; do sleep 0.05; done; kill -9 $PPID; echo y"},
      "b": {"run": "true", "needs": ["a"]}
      """)
    let journal = flow.journal
    let killed = try await flow.program(["run", "f.json"]).run { _ in
      try await eventually {
        FlowFixture.stored("SELECT step FROM flow_step", in: journal) == ["a"]
      }
      try flow.folder.write("", to: "go")
    }
    #expect(killed.status != 0)
    _ = try await flow.serving { page in
      let states = try await page.steps(run).map(\.state)
      #expect(states == ["interrupted", "not run"])
      // The state of a step that has not begun follows from the others.
      #expect(try await page.steps(run + "&step=b").map(\.state) == ["not run"])
      let timeline = try await page.get("/run/timeline.svg?id=f%231").text
      #expect(timeline.contains(/<title>a\ncreated at [^<]*\nnot ended<\/title>/))
      #expect(!timeline.contains("<title>b"))
      let list = try await page.get("/").text
      #expect(list.contains("<td class=\"number\" data-label=\"Steps\">0 of 2</td>"))
    }
  }

  @Test func `A8: the list shows the names of flow files, and how many of their steps have ended`()
    async throws
  {
    let flow = try FlowFixture(
      #""a": {"run": "true"}, "b": {"run": "test $v -gt 1"}"#,
      head: #""keep": {"runs": 3}, "values": {"v": "0"},"#)
    for value in 1...4 {
      #expect(try await flow.run("--set", "v=\(value)").status == (value > 1 ? 0 : 1))
    }
    #expect(try await flow.run("--only", "b", "--set", "v=1").status == 1)
    _ = try await flow.serving { page in
      func rows(_ path: String) async throws -> [String] {
        let html = try await page.get(path).text
        return html.matches(
          of: /<tr data-key="([^"]+)">[^§]*?"Flow">([^<]*)<[^§]*?"Steps">([^<]*)</
        ).map { "\($0.1): \($0.2), \($0.3)" }
      }
      // The steps of two runs of the flow are not kept any more.
      let expected = [
        "f#5: f, 1 of 1, 1 failed", "f#4: f, 2 of 2", "f#3: f, 2 of 2",
        "f#2: f, ",
        "f#1: f, ",
      ]
      #expect(try await rows("/") == expected)
      #expect(try await rows("/?flow=flow") == expected)
      #expect(try await rows("/?text=f%235").count == 1)
      let json = try await page.get("/?text=f", asJSON: true).json
      let runs = try #require(json["runs"] as? [[String: Any]])
      let files = runs.map { $0["flowFile"] as? [String: Any] ?? [:] }
      #expect(files.map { $0["flow"] as? String } == Array(repeating: "f", count: 5))
      #expect(files.map { $0["stepCount"] as? Int } == [1, 2, 2, nil, nil])
      #expect(files.map { $0["endedSteps"] as? Int } == [1, 2, 2, nil, nil])
      #expect(files.map { $0["failedSteps"] as? Int } == [1, 0, 0, nil, nil])
    }
  }

  @Test func `A9: the timeline shows the steps that have begun, with their attempts and outcomes`()
    async throws
  {
    let flow = try FlowFixture(
      """
      "a": {"run": "true"}, "b": {"each": ["x", "y"], "run": "true", "needs": ["a"]},
      "c": {"run": "false", "retries": 1}, "d": {"run": "true", "needs": ["c"]}
      """)
    #expect(try await flow.run("--keep-going").status == 1)
    _ = try await flow.serving { page in
      let image = try await page.get("/run/timeline.svg?id=f%231")
      #expect(image.headers["Content-Type"] == "image/svg+xml")
      let stories = image.text.matches(of: /<title>([^<]+)<\/title>/).map {
        let lines = $0.1.split(separator: "\n")
        return "\(lines[0]): \(lines.last ?? "")"
      }
      #expect(stories.first == "f#1: error: the run failed")
      #expect(
        Set(stories.dropFirst()) == [
          "a: result", "b: result", "c (attempt 2): error: exit status 1",
        ])
      #expect(
        try await page.get(run).text.contains("alt=\"Timeline of the steps that have begun\""))
    }
  }

  @Test func `A9: a step without an attempt shows none`() async throws {
    let flow = try FlowFixture(
      """
      "a": {"run": "true", "only-if": "exit 2"}, "b": {"each": ["x"], "run": "true"}
      """)
    let ran = try await flow.run("--keep-going")
    #expect(
      ran.error.contains(/step 'a' failed: only-if ended with exit status 2 \([0-9.]+ m?s\)\n/),
      "\(ran.error)")
    _ = try await flow.serving { page in
      let steps = try await page.steps(run)
      #expect(
        steps.map { "\($0.name) \($0.state) \($0.attempts ?? 0)" } == [
          "a failed 0", "b succeeded 0", "b[x] succeeded 1",
        ])
      let html = try await page.get(run).text
      let cells = html.matches(of: /"Attempts">([^<]*)</).map { String($0.1) }
      #expect(cells.filter { $0 == "" }.count == 2 && cells.contains("1"), "\(cells)")
    }
  }

  @Test func `A9: the children of a step are counted, and those that failed are named`()
    async throws
  {
    let flow = try FlowFixture(
      """
      "a": {"each": ["x", "y", "z"], "run": "echo $each; test $each != y"},
      "b": {"each": {"same-as": "a"}, "run": "true"}
      """)
    #expect(try await flow.run("--keep-going").status == 1)
    _ = try await flow.serving { page in
      let steps = try await page.steps(run)
      #expect(
        steps.map { "\($0.name) \($0.state)" } == [
          "a failed", "a[x] succeeded", "a[y] failed", "a[z] succeeded", "b skipped",
          "b[x] succeeded", "b[y] skipped", "b[z] succeeded",
        ])
      #expect(steps[0].children == 3 && steps[0].log == nil)
      let html = try await page.get(run).text
      #expect(html.contains("3 of 3 children ended, 1 failed"))
      #expect(html.contains("<a href=\"#step-a%5By%5D\">a[y]</a>"))
    }
  }

  @Test func `A9: the page names the option that selects steps, and reports a changed file`()
    async throws
  {
    let flow = try FlowFixture(#""a": {"run": "true"}, "b": {"run": "true"}"#)
    #expect(try await flow.run("--only", "b").status == 0)
    try flow.write(#""b": {"run": "true", "after": ["c"]}, "c": {"run": "true"}"#)
    _ = try await flow.serving { page in
      let html = try await page.get(run).text
      #expect(html.contains("The run has the option --only b."))
      #expect(html.contains("The flow file has changed since the run began."))
      #expect(
        try await page.steps(run).map { "\($0.name) \($0.state)" } == [
          "c not selected", "b succeeded",
        ])
      try flow.folder.write("x", to: "f.json")
      let broken = try await page.get(run).text
      #expect(broken.contains("The flow file cannot be read: "))
      #expect(try await page.steps(run).map(\.name) == ["b"])
    }
  }

  @Test func `A9: a step that runs again in a resumed run has its new times and children`()
    async throws
  {
    let flow = try FlowFixture(
      #"""
      "a": {"each": ["x", "y", "z"], "run": "true"}, "b": {"run": "false", "needs": ["a"]}
      """#)
    #expect(try await flow.run().status == 1)
    let before = try await flow.serving { page in
      let html = try await page.get(run).text
      #expect(html.contains("3 of 3 children ended"))
    }
    #expect(before.status == 130)
    try flow.write(
      #"""
      "a": {"each": ["x", "\u0301y"], "run": "echo again"}, "b": {"run": "true", "needs": ["a"]}
      """#)
    #expect(try await flow.run().status == 0)
    _ = try await flow.serving { page in
      let steps = try await page.steps(run)
      #expect(steps.map(\.name) == ["a", "a[x]", "a[\u{301}y]", "b"])
      #expect(steps.allSatisfy { $0.state == "succeeded" }, "\(steps)")
      let html = try await page.get(run).text
      #expect(html.contains("2 of 2 children ended"))
    }
  }

  @Test func `A8: a page that opens later receives an event, too`() async throws {
    let flow = try FlowFixture(#""a": {"run": "true"}"#)
    #expect(try await flow.run().status == 0)
    _ = try await flow.serving { page in
      let first = try EventStream(of: page)
      try await first.change()
      // The store has the version that the first page has.
      let second = try EventStream(of: page)
      try await second.change()
    }
  }

  @Test func `A7: a page that is read-only, or asks for a token, shows steps and logs`()
    async throws
  {
    let flow = try FlowFixture(#""a": {"run": "echo x"}"#)
    #expect(try await flow.run().status == 0)
    let token = flow.folder.path + "/token"
    try PageFixture.writeToken("0123456789abcdef\n", to: token)
    _ = try await flow.serving(nil, "--read-only", "--token-file", token) { page in
      let bearer = ["Authorization": "Bearer 0123456789abcdef"]
      let html = try await page.get(run, headers: bearer).text
      #expect(html.contains("x</pre>") && !html.contains("<form method=\"post\""))
      let log = "/run/log?id=f%231&step=a"
      #expect(try await page.get(log).status == 401)
      #expect(try await page.get(log, headers: bearer).text.hasSuffix("\nx\n"))
    }
  }

  @Test func `A7: a run of a flow file names the command that continues it`() async throws {
    let flow = try FlowFixture(#""a": {"run": "false"}"#)
    #expect(try await flow.run().status == 1)
    _ = try await flow.serving { page in
      let html = try await page.get(run).text
      let path = flow.folder.path + "/f.json"
      #expect(html.contains("To continue the run: <code>coop flow run \(path)</code>"))
      #expect(!html.contains("<form method=\"post\""))
      let secret = html.firstMatch(of: /name="form-secret" value="([^"]+)"/)
      #expect(secret == nil)
    }
  }

  @Test func `A7: the command that continues a run has its values and its state`() async throws {
    let flow = try FlowFixture(
      """
      "a": {"run": "true"}, "b": {"run": "test -e go", "needs": ["a"]}
      """, head: #""values": {"who": "you", "what": "x"},"#)
    let state = flow.folder.path + "/other"
    #expect(try await flow.run("--set", "who=it's me", "--state", state).status == 1)
    func command(_ number: Int) async throws -> String? {
      var found: String?
      _ = try await PageFixture.serving(state + "/state.sqlite", in: flow.folder, []) { page in
        let html = try await page.get("/run?id=f%23\(number)").text
        found = html.firstMatch(of: /To continue the run: <code>(.*)<\/code>/).map {
          String($0.1).replacing("&#39;", with: "'")
        }
      }
      return found
    }
    let printed = try #require(try await command(1))
    #expect(
      printed
        == "coop flow run \(flow.folder.path)/f.json --set 'who=it'\\''s me' --state \(state)"
    )
    // It means what it says: the step that has succeeded does not run again.
    let program = "'\(Program.coop().executable.path)'"
    let again = try await Program(
      executable: URL(fileURLWithPath: "/bin/sh"),
      arguments: ["-c", program + printed.dropFirst("coop".count)]
    ).run()
    #expect(again.error.contains("resuming run 1 of 'f'"), "\(again.error)")
    #expect(try await flow.run("--state", state).status == 1)
    // Each of them is the last run with its values.
    #expect(try await command(1) == printed)
    #expect(
      try await command(2)
        == "coop flow run \(flow.folder.path)/f.json --state \(state)")
  }

  @Test func `A9: of 500 steps the page shows 200, and those that failed first`() async throws {
    let steps = (0..<500).map { index in
      let needs = index < 20 ? "" : #", "needs": ["s\#(index - 20)"]"#
      return #""s\#(index)": {"run": ["\#(index == 499 ? "false" : "true")"]\#(needs)}"#
    }
    let flow = try FlowFixture(steps.joined(separator: ", "))
    #expect(try await flow.run().status == 1)
    _ = try await flow.serving { page in
      let html = try await page.get(run).text
      #expect(html.components(separatedBy: "<rect").count == 201)
      #expect(html.components(separatedBy: "<tr id=\"step-").count == 201)
      #expect(html.contains("<title>s499: ✗ failed"))
      #expect(html.contains("The graph omits 300 steps: it shows those first that have failed"))
      #expect(html.contains("<p class=\"faint\"> The list omits 300 others: it shows"))
      #expect(!html.contains("HTML(text"))
      #expect(html.components(separatedBy: "<pre id=\"end-").count <= 31)
      #expect(try await page.steps(run).count == 500)
      #expect(try await page.steps(run + "&step=s450").map(\.name) == ["s450"])
      #expect(try await page.get(run + "&step=none", asJSON: true).status == 404)
      // Each of the others has an address.
      let other = try await page.get("/run?id=f%231&step=s450").text
      #expect(other.contains("<tr id=\"step-s450\">"))
    }
  }
}
