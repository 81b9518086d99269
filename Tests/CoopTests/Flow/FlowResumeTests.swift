import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct FlowResumeTests {
  /// Four steps in a row, of which the third kills the process that runs the flow, once.
  private static let steps = """
    "a": {"run": "echo a >> log"},
    "b": {"run": "echo b >> log", "needs": ["a"]},
    "c": {"run": "if mkdir once; then kill -9 $PPID; sleep 60; fi; echo c >> log", "needs": ["b"]},
    "d": {"run": "echo d >> log", "needs": ["c"]}
    """

  @Test func `L7: an interrupted run is resumed after its finished steps`() async throws {
    let flow = try FlowFixture(Self.steps)
    _ = try await flow.run()
    #expect(flow.lines("log") == ["a", "b"])
    let resumed = try await flow.run()
    #expect(resumed.status == 0, "\(resumed.error)")
    #expect(flow.lines("log") == ["a", "b", "c", "d"])
    let lines = resumed.error.split(separator: "\n").map(String.init)
    let line = lines.first { $0.contains("resuming") } ?? ""
    let message =
      /coop flow: resuming run 1 of 'f', interrupted at [0-9:]{8}: 2 of 4 steps are done/
    #expect(try message.wholeMatch(in: line) != nil, "\(line)")
    // The next run is a new one.
    let next = try await flow.run()
    #expect(!next.error.contains("resuming"))
    #expect(flow.lines("log").count == 8)
  }

  @Test func `L7: a step whose definition changed runs again, with the steps that need it`()
    async throws
  {
    let flow = try FlowFixture(Self.steps)
    _ = try await flow.run()
    try flow.write(Self.steps.replacing("echo b", with: "echo B"))
    let resumed = try await flow.run()
    #expect(flow.lines("log") == ["a", "b", "B", "c", "d"])
    let lines = resumed.error.split(separator: "\n").map(String.init)
    let line = lines.first { $0.contains("resuming") } ?? ""
    #expect(
      line.hasSuffix(": 1 of 4 steps are done; 'b' runs again because its definition changed"),
      "\(line)")
  }

  @Test func `L7: after a failure, a changed definition also repeats the steps that need it`()
    async throws
  {
    func steps(_ a: String, _ d: String) -> String {
      """
      "a": {"run": "echo \(a) >> log"}, "b": {"run": "echo b >> log", "needs": ["a"]},
      "c": {"run": "echo c >> log"}, "d": {"run": "\(d)", "needs": ["b", "c"]}
      """
    }
    let flow = try FlowFixture(steps("a1", "exit 1"))
    #expect(try await flow.run("--keep-going").status == 1)
    for (a, end) in [("a2", "exit 1"), ("a1", "exit 1"), ("a1", "true")] {
      try flow.folder.write("", to: "log")
      try flow.write(steps(a, end))
      let resumed = try await flow.run("--keep-going")
      // The last run has the same definition as the one before.
      #expect(flow.lines("log") == (end == "true" ? [] : [a, "b"]), "\(resumed.error)")
      #expect(resumed.error.contains("resuming run 1 of 'f', failed at "))
      #expect(resumed.status == (end == "true" ? 0 : 1))
    }
  }

  @Test func `L7: a failed run that is resumed and interrupted keeps all finished steps`()
    async throws
  {
    let flow = try FlowFixture(
      """
      "a": {"run": "echo a >> log"},
      "b": {"run": "test -e ok; echo b >> log", "needs": ["a"]},
      "c": {"run": "if mkdir once; then kill -9 $PPID; sleep 60; fi; echo c >> log", "needs": ["b"]}
      """)
    #expect(try await flow.run().status == 1)
    try flow.folder.write("", to: "ok")
    _ = try await flow.run()
    #expect(flow.lines("log") == ["a", "b"])
    let resumed = try await flow.run()
    #expect(resumed.status == 0, "\(resumed.error)")
    #expect(resumed.error.contains(": 2 of 3 steps are done\n"), "\(resumed.error)")
    #expect(flow.lines("log") == ["a", "b", "c"])
  }

  @Test func `L7: several changed definitions are named`() async throws {
    let flow = try FlowFixture(
      """
      "a": {"run": "true"}, "b": {"run": "true"}, "c": {"run": "exit 1", "needs": ["a", "b"]}
      """)
    _ = try await flow.run()
    try flow.write(
      """
      "a": {"run": ":"}, "b": {"run": ":"}, "c": {"run": "exit 1", "needs": ["a", "b"]}
      """)
    let resumed = try await flow.run()
    #expect(
      resumed.error.contains(
        ": 0 of 3 steps are done; 'a' and 'b' run again because their definitions changed\n"),
      "\(resumed.error)")
  }

  @Test func `L7: a step that has nothing to do with a change stays finished`() async throws {
    let flow = try FlowFixture(
      """
      "a": {"run": "echo a >> log"}, "b": {"run": "exit 1", "needs": ["a"]}
      """)
    _ = try await flow.run()
    try flow.write(
      """
      "a": {"run": "echo a >> log"}, "b": {"run": "echo b >> log", "needs": ["a"]}
      """)
    let resumed = try await flow.run()
    #expect(flow.lines("log") == ["a", "b"])
    #expect(resumed.ends == ["b: succeeded"])
  }

  @Test func `L7: --fresh and other values begin a new run`() async throws {
    let head = #""values": {"v": "1", "w": "1"},"#
    let flow = try FlowFixture(
      """
      "a": {"run": "echo $v >> log"}, "b": {"run": "exit 1", "needs": ["a"]}
      """, head: head)
    _ = try await flow.run()
    for arguments in [["--fresh"], ["--set", "w=2"]] {
      let printed = try await flow.program(["run", "f.json"] + arguments).run()
      #expect(!printed.error.contains("resuming"), "\(printed.error)")
    }
    #expect(flow.lines("log") == ["1", "1", "1"])
    let status = try await flow.flow("status", "f.json")
    #expect(status.text.hasPrefix("run 3 of 'f'"))
    // The last run with these values.
    let printed = try await flow.run()
    #expect(printed.error.contains("resuming run 2 of 'f', failed at "), "\(printed.error)")
  }

  @Test func `L7: a step runs again after a step that failed before`() async throws {
    let flow = try FlowFixture(
      """
      "a": {"run": "echo a >> log; test -e ok"}, "notify": {"run": "echo n >> log", "after": ["a"]}
      """)
    _ = try await flow.run()
    try flow.folder.write("", to: "ok")
    #expect(try await flow.run().status == 0)
    #expect(flow.lines("log") == ["a", "n", "a", "n"])
  }

  @Test func `L7: finished children stay finished`() async throws {
    let flow = try FlowFixture(
      """
      "names": {"run": "printf '1\\\\n2\\\\n3\\\\n'; echo names >> log"},
      "a": {"each": {"lines-of": "names"}, "width": 1,
        "run": "echo $each >> log; test $each != 2 -o -e ok"},
      "b": {"each": {"same-as": "a"}, "run": "echo b$each >> blog"}
      """)
    #expect(try await flow.run("--keep-going").status == 1)
    try flow.folder.write("", to: "ok")
    let resumed = try await flow.run()
    #expect(resumed.status == 0, "\(resumed.error)")
    #expect(flow.lines("log") == ["names", "1", "2", "3", "2"])
    #expect(flow.lines("blog").sorted() == ["b1", "b2", "b3"])
  }

  @Test func `more than ten interruptions without a finished step do not end a run`() async throws {
    let flow = try FlowFixture(
      """
      "a": {"run": "echo x >> log; if test $(wc -l < log) -lt 13; then kill -9 $PPID; fi"}
      """)
    for _ in 0..<12 { _ = try await flow.run() }
    let resumed = try await flow.run()
    #expect(resumed.status == 0, "\(resumed.error)")
    #expect(flow.lines("log").count == 13)
  }
}
