import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct FlowPartTests {
  private static let steps = """
    "a": {"run": "echo a >> log"}, "b": {"run": "echo b >> log; touch b", "needs": ["a"],
      "outputs": ["b"]}, "c": {"run": "echo c >> log", "needs": ["b"]},
    "d": {"run": "echo d >> log"}
    """

  @Test func `L12: --from runs a step and all steps that need it`() async throws {
    let flow = try FlowFixture(Self.steps)
    #expect(try await flow.run().status == 0)
    try flow.folder.write("", to: "log")
    let printed = try await flow.run("--from", "b")
    #expect(printed.status == 0, "\(printed.error)")
    #expect(flow.lines("log") == ["b", "c"])
    #expect(try await flow.flow("status", "f.json").text.hasPrefix("run 2 of 'f' with --from b,"))
    // Also those that need it indirectly.
    try flow.folder.write("", to: "log")
    #expect(try await flow.run("--from", "a").status == 0)
    #expect(flow.lines("log") == ["a", "b", "c"])
  }

  @Test func `L12: --only runs one step`() async throws {
    let flow = try FlowFixture(Self.steps)
    let printed = try await flow.run("--only", "b")
    #expect(printed.status == 0, "\(printed.error)")
    #expect(flow.lines("log") == ["b"])
    #expect(printed.ends == ["b: succeeded"])
  }

  @Test func `L12: --dry-run runs nothing and prints what would run and why`() async throws {
    let flow = try FlowFixture(Self.steps)
    #expect(
      try await flow.run("--dry-run").text == """
        a: it has no outputs
        b: it has not succeeded yet
        c: it has no outputs
        d: it has no outputs

        """)
    #expect(!flow.exists("log") && !flow.exists(".flow"))
    #expect(try await flow.run("--dry-run", "--only", "c").text == "c: selected by an option\n")
    _ = try await flow.run()
    #expect(
      try await flow.run("--dry-run").text == """
        a: it has no outputs
        c: it has no outputs
        d: it has no outputs

        """)
  }

  @Test func `L12: a run of some steps does not end an interrupted run of all steps`()
    async throws
  {
    let flow = try FlowFixture(
      """
      "a": {"run": "echo a >> log"}, "b": {"run": "echo b >> log; test -e ok", "needs": ["a"]},
      "c": {"run": "echo c >> log", "needs": ["b"]}
      """)
    #expect(try await flow.run().status == 1)
    try flow.folder.write("", to: "ok")
    #expect(try await flow.run("--only", "b").status == 0)
    let resumed = try await flow.run()
    #expect(resumed.error.contains("resuming run 1 of 'f', failed at "), "\(resumed.error)")
    #expect(flow.lines("log") == ["a", "b", "b", "c"])
  }

  @Test func `L12: a run of some steps does not replace a run that was killed`() async throws {
    let flow = try FlowFixture(
      """
      "a": {"run": "echo a >> log"},
      "b": {"run": "echo b >> log; if mkdir once; then kill -9 $PPID; sleep 60; fi", "needs": ["a"]},
      "c": {"run": "echo c >> log"}
      """, head: #""width": 1,"#)
    _ = try await flow.run()
    try flow.folder.write("", to: "log")
    #expect(try await flow.run("--only", "c").status == 0)
    let resumed = try await flow.run()
    #expect(resumed.status == 0, "\(resumed.error)")
    #expect(resumed.error.contains("resuming run 1 of 'f', interrupted at "), "\(resumed.error)")
    #expect(!flow.lines("log").contains("a") && flow.lines("log").contains("b"))
  }
}
