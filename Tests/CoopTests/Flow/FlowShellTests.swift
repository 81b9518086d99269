import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct FlowShellTests {
  @Test func `L16: a text runs in the shell of its step, of the defaults or of the file`()
    async throws
  {
    // The shell prints its last argument, the text.
    let flow = try FlowFixture(
      """
      "own": {"run": "a $v", "shell": ["printf", "own-${each}:%s", "${each}"], "each": ["x"]},
      "other": {"run": "b ${v}"},
      "list": {"run": ["echo", "list"]}
      """,
      head: """
        "values": {"v": "1"}, "shell": ["printf", "%s", "file"],
        "defaults": {"shell": ["printf", "default-${v}$$:%s"]},
        """)
    #expect(try await flow.run().status == 0)
    #expect(flow.output("own[x]") == "own-x:xown-x:a $v")
    #expect(flow.output("other") == "default-1$:b ${v}")
    #expect(flow.output("list") == "list\n")

    try flow.write(
      #""a": {"run": "a", "only-if": ":"}, "b": {"run": "exit 0", "shell": ["/bin/sh", "-c"]}"#,
      head: #""shell": ["sh", "-c", "test \"$$1\" = : || printf %s \"file $$1\"", "sh"],"#)
    #expect(try await flow.run().status == 0)
    #expect(flow.output("a") == "file a")
    #expect(flow.output("b") == "")
  }

  @Test func `L16: with pipefail, a command that fails in a pipe fails the step`() async throws {
    let steps = #""dump": {"run": "no-such-dump | gzip > dump.gz", "outputs": ["dump.gz"]}"#
    let flow = try FlowFixture(steps, head: #""shell": ["bash", "-euo", "pipefail", "-c"],"#)
    let printed = try await flow.run()
    #expect(printed.status == 1)
    #expect(printed.ends == ["dump: failed, exit status 127"])
  }

  @Test func `L16: values are variables of the shell, and no part of the text`() async throws {
    let flow = try FlowFixture(
      #""a": {"run": "echo \"$v\" ${v:+'${v}'}", "shell": ["bash", "-c"]}"#,
      head: #""values": {"v": "default"},"#)
    #expect(try await flow.run("--set", "v=$(touch bad); exit 3").status == 0)
    #expect(flow.output("a") == "$(touch bad); exit 3 ${v}\n")
    #expect(!flow.exists("bad"))
  }

  private static let plan = "text: its definition changed\n1 step is current\n"

  @Test func `L16: another shell runs the step again, if it has a text`() async throws {
    let steps = #"""
      "text": {"run": "echo > a", "outputs": ["a"]},
      "list": {"run": ["touch", "b"], "outputs": ["b"]}
      """#
    let flow = try FlowFixture(steps)
    #expect(try await flow.run().status == 0)
    #expect(try await flow.run("--dry-run").text == "nothing would run\n")
    try flow.write(steps, head: #""shell": ["/bin/sh", "-eu", "-c"],"#)
    #expect(try await flow.run("--dry-run").text == "nothing would run\n")
    try flow.write(steps, head: #""shell": ["/bin/sh", "-e", "-c"],"#)
    #expect(try await flow.run("--dry-run").text == Self.plan)
    try flow.write(steps, head: #""values": {"v": "e"}, "shell": ["/bin/sh", "-${v}", "-c"],"#)
    #expect(try await flow.run("--dry-run").text == Self.plan)
    #expect(try await flow.run().status == 0)
    #expect(try await flow.run("--dry-run").text == "nothing would run\n")
    #expect(
      try await flow.run("--dry-run", "--fresh", "--set", "v=x").text
        == Self.plan)
  }
}
