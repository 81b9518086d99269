import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct FlowCommandTests {
  @Test func `a value is an argument or a shell variable, and never a command`() async throws {
    let flow = try FlowFixture(
      #"""
      "list": {"run": ["sh", "-c", "printf %s \"$$1\" > list", "sh", "<${v}> $$ ${w}"]},
      "shell": {"run": "printf %s \"<$v>\" > shell"}
      """#, head: #""values": {"v": "", "w": "b"},"#)
    let value = #"$(touch bad) `touch bad` "; touch bad; ' \ * "#
    let printed = try await flow.run("--set", "v=\(value)")
    #expect(printed.status == 0, "\(printed.error)")
    #expect(flow.text("list") == "<\(value)> $ b")
    #expect(flow.text("shell") == "<\(value)>")
    #expect(!flow.exists("bad"))
  }

  @Test func `a shell text ends at the first error and at an unset variable`() async throws {
    let flow = try FlowFixture(
      """
      "a": {"run": "false; touch a"}, "b": {"run": "echo $no_such_variable; touch b"}
      """)
    #expect(try await flow.run("--keep-going").status == 1)
    #expect(!flow.exists("a") && !flow.exists("b"))
  }

  @Test func `command lists run in order, in a folder, with variables and an input`() async throws {
    let flow = try FlowFixture(
      #"""
      "a": {"in": "sub", "stdin": "in.txt", "env": {"A": "x${v}", "B": "2"}, "run": [
        ["sh", "-c", "cat > out; echo \"$$A$$B$$C\" >> out"],
        ["sh", "-c", "cat >> out; test -s out"]]}
      """#, head: #""values": {"v": "1"}, "env": {"B": "0", "C": "3"},"#)
    try flow.folder.write("input\n", to: "sub/in.txt")
    #expect(try await flow.run().status == 0)
    #expect(flow.text("sub/out") == "input\nx123\ninput\n")
  }

  @Test func `retries count as attempts, and the last one decides`() async throws {
    let flow = try FlowFixture(
      """
      "a": {"run": "echo x >> a; test $(wc -l < a) = 3", "retries": 2, "backoff": "1ms"}
      """)
    let printed = try await flow.run()
    #expect(printed.status == 0)
    #expect(flow.lines("a").count == 3)
    #expect(printed.text.hasPrefix("a: succeeded (3 attempts, "))
  }

  @Test func `a timeout ends an attempt`() async throws {
    let flow = try FlowFixture(
      """
      "a": {"run": ["sleep", "3600"], "timeout": "50ms", "retries": 1}
      """)
    let printed = try await flow.run()
    #expect(printed.status == 1)
    #expect(
      printed.error.contains("step 'a' failed: timeout of 50 ms after 2 attempts ("),
      "\(printed.error)")
  }

  @Test func `accepted statuses are a success, and 0 is one only if it is in the list`()
    async throws
  {
    let flow = try FlowFixture(
      """
      "a": {"run": "exit 9", "accept": [0, 9]}, "b": {"run": "exit 0", "accept": [9]}
      """)
    let printed = try await flow.run("--keep-going")
    #expect(Set(printed.ends) == ["a: succeeded", "b: failed, exit status 0"])
  }

  @Test(arguments: [
    ("exit 0", "a: succeeded"), ("exit 1", "a: skipped, only-if is not met"),
    ("exit 2", "a: failed, only-if ended with exit status 2"),
  ])
  func `only-if runs, skips or fails the step`(command: String, end: String) async throws {
    let flow = try FlowFixture(#""a": {"run": "true", "only-if": "\#(command)"}"#)
    let printed = try await flow.run()
    #expect(printed.ends == [end])
    #expect(printed.status == (end.contains("failed") ? 1 : 0))
  }

  @Test func `a program that cannot be started fails its step`() async throws {
    let flow = try FlowFixture(#""a": {"run": ["no-such-program"]}"#)
    let printed = try await flow.run()
    #expect(printed.status == 1)
    #expect(
      printed.error.contains("step 'a' failed: no-such-program cannot be started: "),
      "\(printed.error)")
  }
}
