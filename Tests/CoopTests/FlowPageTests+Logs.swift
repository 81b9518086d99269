import Foundation
import TestSupport
import Testing

// The rule A10: the logs of the steps.
extension FlowPageTests {
  @Test func `A10: a log that grows is an event for the page of its run`() async throws {
    let flow = try FlowFixture(
      """
      "a": {"run": "echo begun; touch began; while ! test -e end; do sleep 0.05; done"}
      """)
    let folder = flow.folder.path
    let ran = try await flow.program(["run", "f.json"]).run { _ in
      try await eventually { FileManager.default.fileExists(atPath: folder + "/began") }
      _ = try await flow.serving { page in
        let stream = try EventStream(of: page, "/events?id=f%231")
        while try await page.steps(run).first?.state != "running" {
          try await stream.change()
        }
        let path = flow.folder.url.appendingPathComponent(flow.log("a"))
        let log = try FileHandle(forWritingTo: path)
        // The events of the beginning can come during the first rounds.
        for round in 1...5 {
          try log.seekToEnd()
          try log.write(contentsOf: Data("round \(round)\n".utf8))
          try await stream.change()
        }
        #expect(try await page.get(run).text.contains("begun\nround 1\nround 2\n"))
        try flow.folder.write("", to: "end")
      }
    }
    #expect(ran.status == 0, "\(ran.error)")
  }

  @Test func `A10: without the flow file, the logs of steps and children are served`() async throws
  {
    let flow = try FlowFixture(
      #""a": {"each": ["x", "y"], "run": "echo $each"}, "b": {"run": "echo b", "needs": ["a"]}"#)
    #expect(try await flow.run().status == 0)
    _ = try await flow.serving { page in
      func check(_ problem: String) async throws {
        for (step, log) in [("a[x]", "x\n"), ("b", "b\n")] {
          let name = step.replacing("[", with: "%5B").replacing("]", with: "%5D")
          #expect(try await page.get("/run/log?id=f%231&step=\(name)").text.hasSuffix("\n" + log))
          let shown = try await page.steps(run + "&step=\(name)")
          #expect(shown.map { "\($0.name) \($0.state)" } == ["\(step) succeeded"])
          let json = try await page.get(run + "&step=\(name)", asJSON: true).json
          let file = try #require(json["flowFile"] as? [String: Any])
          let notes = file["notes"] as? [String] ?? []
          #expect(notes.count == 1 && notes.allSatisfy { $0.contains(problem) }, "\(notes)")
        }
      }
      // Without the step of the child.
      try flow.write(#""c": {"run": "true"}"#)
      try await check("The flow file has changed since the run began.")
      try flow.remove("f.json")
      try await check("The flow file cannot be read: ")
    }
  }

  @Test func `A10: a run that is not the last shows its own logs`() async throws {
    let flow = try FlowFixture(
      #""a": {"run": "echo run $v"}"#, head: #""keep": {"runs": 3}, "values": {"v": "0"},"#)
    for value in 1...5 { #expect(try await flow.run("--set", "v=\(value)").status == 0) }
    _ = try await flow.serving { page in
      for number in 3...5 {
        let log = try await page.get("/run/log?id=f%23\(number)&step=a")
        #expect(log.text.hasSuffix("\nrun \(number)\n"))
      }
      #expect(try await page.get("/run/log?id=f%231&step=a").status == 404)
      #expect(try await page.get(run).text.contains("are not kept any more"))
    }
  }

  @Test func `A10: a run that is resumed after a later one shows its own logs`() async throws {
    let flow = try FlowFixture(
      #"""
      "a": {"run": "echo a; test -e good"}, "b": {"run": "echo b", "needs": ["a"]}
      """#)
    #expect(try await flow.run().status == 1)
    #expect(try await flow.run("--only", "b").status == 0)
    try flow.folder.write("", to: "good")
    let resumed = try await flow.run()
    #expect(resumed.status == 0 && resumed.error.contains("resuming run 1 "), "\(resumed.error)")
    _ = try await flow.serving { page in
      // The output of both processes of the run.
      let log = try await page.get("/run/log?id=f%231&step=a").text
      let lines = log.split(separator: "\n").filter { !$0.hasPrefix("=== ") }
      #expect(lines == ["a", "a"])
      let states = try await page.steps(run).map(\.state)
      #expect(states == ["succeeded", "succeeded"])
    }
  }

  @Test func `A10: a run of another machine says where its logs are`() async throws {
    let flow = try FlowFixture(#""a": {"run": "false"}"#)
    #expect(try await flow.run("--state", "s").status == 1)
    try flow.remove("s/runs")
    _ = try await flow.serving("s/state.sqlite") { page in
      let html = try await page.get(run).text
      #expect(html.contains("the folder of the logs is not on this machine: \(flow.folder.path)"))
      #expect(try await page.get("/run/log?id=f%231&step=a").status == 404)
    }
  }
}
