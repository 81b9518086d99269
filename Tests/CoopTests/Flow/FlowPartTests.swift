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

  @Test func `L12: named steps run with everything that they need`() async throws {
    let flow = try FlowFixture(Self.steps)
    let printed = try await flow.run("b")
    #expect(printed.ends == ["a: succeeded", "b: succeeded"], "\(printed.error)")
    #expect(try await flow.flow("status", "f.json").text.hasPrefix("run 1 of 'f' with b, began"))
    try flow.folder.write("", to: "log")
    #expect(try await flow.run("d", "b").status == 0)
    #expect(Set(flow.lines("log")) == ["a", "b", "d"])
  }

  @Test func `L12: --only and --from may be repeated`() async throws {
    let flow = try FlowFixture(Self.steps)
    #expect(try await flow.run("--only", "b", "--only", "d").status == 0)
    #expect(Set(flow.lines("log")) == ["b", "d"])
    try flow.folder.write("", to: "log")
    #expect(try await flow.run("--from", "b", "--only", "d").status == 0)
    #expect(Set(flow.lines("log")) == ["b", "c", "d"])
  }

  @Test func `L12: a manual step runs only if it is named, or a named step needs it`()
    async throws
  {
    let flow = try FlowFixture(
      """
      "a": {"run": "echo a >> log"}, "key": {"run": "echo key >> log", "manual": true},
      "deploy": {"run": "echo deploy >> log", "manual": true, "needs": ["a", "key"]}
      """)
    #expect(try await flow.run().ends == ["a: succeeded"])
    #expect(flow.lines("log") == ["a"])
    #expect(try await flow.run("deploy").status == 0)
    #expect(Set(flow.lines("log").dropFirst()) == ["a", "key", "deploy"])
    #expect(try await flow.run("--from", "a").ends == ["a: succeeded"])
  }

  @Test func `L12: a step without commands runs what it needs, and nothing itself`()
    async throws
  {
    let flow = try FlowFixture(
      """
      "app": {"run": "touch app", "outputs": ["app"]},
      "docs": {"run": "touch docs", "outputs": ["docs"]},
      "all": {"needs": ["app", "docs"]}, "none": {"run": "false"}
      """)
    let printed = try await flow.run("all")
    #expect(
      Set(printed.ends) == ["app: succeeded", "docs: succeeded", "all: succeeded"],
      "\(printed.error)")
    let second = try await flow.run("all")
    #expect(second.error == "coop flow: 'f': all steps are up to date\n")
    #expect(second.ends.isEmpty)
  }

  @Test func `L12: --force runs every step in a new run`() async throws {
    let flow = try FlowFixture(
      #""a": {"run": "touch a", "outputs": ["a"]}, "b": {"run": "touch b", "outputs": ["b"]}"#)
    #expect(try await flow.run().status == 0)
    #expect(try await flow.run("--force", "a").ends == ["a: succeeded"])
    #expect(Set(try await flow.run("--force").ends) == ["a: succeeded", "b: succeeded"])
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
        b: it needs 'a', which runs
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
