import Foundation
import TestSupport
import Testing

extension FlowPageTests {
  /// A flow whose first step runs until the file `go` exists.
  private func waiting() throws -> FlowFixture {
    try FlowFixture(
      """
      "a": {"run": "touch began; while ! test -e go; do sleep 0.05; done"},
      "b": {"run": "true", "needs": ["a"]}, "c": {"run": "true", "needs": ["b"]}
      """)
  }

  /// The words of the lines of the steps in `flow status`, without the times.
  private func status(_ flow: FlowFixture) async throws -> [String] {
    try await flow.flow("status", "f.json").text.split(separator: "\n").dropFirst().map { line in
      line.split(separator: " ").filter { !$0.contains(/[0-9]|^(ms|s|min)$/) }
        .joined(separator: " ")
    }
  }

  @Test func `A11: a flow whose process is killed is interrupted, with the same word everywhere`()
    async throws
  {
    let flow = try waiting()
    let journal = flow.journal
    _ = try await flow.program(["run", "f.json"]).run { process in
      // The beginning of a step is stored within a tenth of a second after it, with others.
      try await eventually {
        FlowFixture.stored("SELECT step FROM flow_step", in: journal) == ["a"]
      }
      _ = try await flow.serving { page in
        let stream = try EventStream(of: page)
        try await stream.change()
        func state() async throws -> String? {
          try await page.get(run, asJSON: true).json["state"] as? String
        }
        #expect(try await state() == "running")
        #expect(try await status(flow) == ["a running", "b waiting", "c waiting"])
        let printed = try await flow.flow("status", "f.json").text
        #expect(printed.contains(": running in process \(process)\n"), "\(printed)")
        let log = try await flow.flow("log", "f.json", "a")
        #expect(log.error.hasPrefix("coop flow: 'a' is running; --follow "), "\(log.error)")
        let html = try await page.get(run).text
        #expect(html.contains(#"data-before="▸ running, ">▸ running, "#))
        kill(process, SIGKILL)
        try await eventually { hasEnded(process) }
        while try await state() == "running" { try await stream.change() }
        #expect(try await state() == "interrupted")
        let list = try await page.get("/?state=interrupted", asJSON: true).json
        #expect((list["counts"] as? [String: Int])?["interrupted"] == 1)
        #expect((list["runs"] as? [Any])?.count == 1)
      }
    }
    #expect(try await status(flow) == ["a interrupted", "b not run", "c not run"])
    #expect(try await flow.flow("status", "f.json").text.contains(": interrupted\n"))
    let log = try await flow.flow("log", "f.json", "a")
    #expect(log.error == "coop flow: 'a' was interrupted; `coop flow run` runs it again\n")
    let listed = try await Program.coop("journal", flow.journal, "list").run()
    #expect(listed.text.hasSuffix("  interrupted: its process has ended\n"), "\(listed.text)")
    try flow.folder.write("", to: "go")
    #expect(try await flow.run().status == 0)
    #expect(try await status(flow) == ["a succeeded", "b succeeded", "c succeeded"])
  }

  @Test func `A11: a flow that Ctrl-C has ended is interrupted, and not ready`() async throws {
    let flow = try waiting()
    _ = try await flow.program(["run", "f.json"]).run { process in
      try await eventually { flow.exists("began") }
      kill(process, SIGINT)
    }
    let listed = try await Program.coop("journal", flow.journal, "list", "--json").run()
    #expect(listed.text.contains(#""state":"interrupted""#), "\(listed.text)")
    #expect(listed.text.contains(#""ownerHasEnded":false"#))
    let ready = try await Program.coop("journal", flow.journal, "list", "--state", "ready").run()
    #expect(ready.text == "no runs\n")
    for (age, isListed) in [("1d", true), ("0s", false)] {
      let recent = try await Program.coop("journal", flow.journal, "list", "--since", age).run()
      #expect((recent.text != "no runs\n") == isListed, "\(recent.text)")
    }
  }
}
