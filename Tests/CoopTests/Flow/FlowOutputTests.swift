import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct FlowOutputTests {
  @Test func `L19: live output shows each line while its step still runs`() async throws {
    // The step ends its second line when the reader has seen a line that another step wrote after
    // the beginning of it.
    let flow = try FlowFixture(
      """
      "0": {"run": "\(wait("half")); echo now; \(wait("seen"))"},
      "a": {"run": "echo one; \(wait("go")); printf tw; touch half; \(wait("seen")); echo o >&2"},
      "b": {"each": ["x\\ny"], "run": "printf end", "needs": ["a"]}
      """, head: #""width": 2, "output": "live", "defaults": {"timeout": "60s"},"#)
    let reader = """
      while IFS= read -r l; do
        echo "$l"
        case $l in 'a | one') touch go;; '0 | now') touch seen;; esac
      done
      """
    var program = flow.program([])
    program.arguments = ["-c", "\"$0\" flow run f.json | { \(reader)\n}", program.executable.path]
    program.executable = URL(fileURLWithPath: "/bin/sh")
    let printed = try await program.run()
    #expect(printed.ends.filter { $0.hasPrefix("0") } == ["0 | now", "0: succeeded"])
    #expect(
      printed.ends.filter { !$0.hasPrefix("0") } == [
        "a | one", "a | two", "a: succeeded", "b[x·y] | end", "b[x·y]: succeeded",
        "b: succeeded",
      ])
    #expect(flow.output("a") == "one\ntwo\n")
  }

  /// A shell text that waits for a file.
  private func wait(_ name: String) -> String { "while ! test -e \(name); do sleep 0.01; done" }

  @Test func `L19: grouped output shows all lines of a step together when it ends`() async throws {
    // Each of two steps waits for the other one.
    let flow = try FlowFixture(
      """
      "a": {"run": "echo 1; touch a1; \(wait("b1")); echo 2"},
      "b": {"run": "\(wait("a1")); echo 1; touch b1; test -e again || { touch again; exit 3; }",
        "retries": 1},
      "c": {"run": "echo 'c'; exit 4", "only-if": "echo condition", "after": ["a", "b"]}
      """, head: #""width": 2,"#)
    let printed = try await flow.run("--output", "grouped")
    #expect(printed.status == 1)
    let shown = printed.ends.filter { $0.contains(" | ") }
    let (a, b) = (["a | 1", "a | 2"], ["b | 1", "b | 1"])
    let c = ["c | condition", "c | c"]
    #expect(shown == a + b + c || shown == b + a + c, "\(shown)")
    #expect(printed.ends.last == "c: failed, exit status 4")
  }

  @Test func `L19: output is quiet by default, and JSON has standard output alone`() async throws {
    let steps = #""a": {"run": "echo out"}, "b": {"run": "true"}"#
    let flow = try FlowFixture(steps)
    #expect(try await flow.run().ends.sorted() == ["a: succeeded", "b: succeeded"])
    try flow.write(steps, head: #""output": "grouped","#)
    #expect(try await flow.run().ends.sorted() == ["a | out", "a: succeeded", "b: succeeded"])
    #expect(
      try await flow.run("--output", "quiet").ends.sorted() == ["a: succeeded", "b: succeeded"])
    let printed = try await flow.run("--output", "live", "--json")
    #expect(printed.text.split(separator: "\n").allSatisfy { $0.hasPrefix(#"{"event":"#) })
    #expect(printed.error.contains("a | out\n"))
  }

  @Test func `L19: lines of several steps do not mix, and long ones are shown in parts`()
    async throws
  {
    let flow = try FlowFixture(
      """
      "a": {"each": ["1", "2", "3", "4"], "run": "yes abcdefghij$each | head -n 20000"},
      "long": {"run": "head -c 200000 /dev/zero | tr '\\\\0' x; echo; echo end"}
      """, head: #""width": 5,"#)
    let printed = try await flow.run("--output", "live")
    let lines = printed.text.split(separator: "\n")
    for each in 1...4 { #expect(lines.count { $0 == "a[\(each)] | abcdefghij\(each)" } == 20_000) }
    let long = lines.filter { $0.hasPrefix("long | ") }
    #expect(long.last == "long | end")
    #expect(long.dropLast().joined().count { $0 == "x" } == 200_000)
    #expect(lines.allSatisfy { $0.utf8.count < 140_000 })
    #expect(lines.count == 80_000 + long.count + 6)
  }
}
