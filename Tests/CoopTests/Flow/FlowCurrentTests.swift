import Foundation
import SQLiteSupport
import TestSupport
import Testing

/// The rule of what is current, in resumed runs and in new ones.
@Suite(.timeLimit(.minutes(10))) struct FlowCurrentTests {
  @Test func `L6: an input that is corrected after a failure makes its step run again`()
    async throws
  {
    let flow = try FlowFixture(
      """
      "clean": {"run": "grep -v '^#' data > clean", "inputs": ["data"], "outputs": ["clean"]},
      "sum": {"run": "! grep x clean && cp clean sum", "needs": ["clean"], "inputs": ["clean"],
        "outputs": ["sum"]}
      """)
    try flow.folder.write("1\nx3\n", to: "data")
    #expect(try await flow.run().status == 1)
    try flow.folder.write("1\n3\n", to: "data")
    let resumed = try await flow.run()
    #expect(resumed.status == 0, "\(resumed.error)")
    #expect(resumed.error.contains("resuming run 1 of 'f', failed at "))
    #expect(flow.text("sum") == "1\n3\n")
  }

  @Test func `L6: an output that is removed after a failure makes its step run again`()
    async throws
  {
    let flow = try FlowFixture(
      """
      "clean": {"run": "cp data clean", "inputs": ["data"], "outputs": ["clean"]},
      "sum": {"run": "test -e ok; cp clean sum", "needs": ["clean"], "outputs": ["sum"]}
      """)
    try flow.folder.write("1\n", to: "data")
    #expect(try await flow.run().status == 1)
    try flow.remove("clean")
    try flow.folder.write("", to: "ok")
    let resumed = try await flow.run()
    #expect(resumed.status == 0, "\(resumed.error)")
    #expect(resumed.ends == ["clean: succeeded", "sum: succeeded"])
  }

  @Test func `L6: a step runs if the set of children that it needs is another one`()
    async throws
  {
    let flow = try FlowFixture(
      """
      "part": {"each": "in/*", "run": "mkdir -p out/in; cp $each out/$each",
        "inputs": ["${each}"], "outputs": ["out/${each}"]},
      "all": {"run": "cat in/* > all; echo all >> log", "needs": ["part"], "outputs": ["all"]}
      """)
    for name in ["1", "2"] { try flow.folder.write(name, to: "in/\(name)") }
    #expect(try await flow.run().status == 0)
    #expect(try await flow.run("--dry-run").text == "nothing would run\n")
    try flow.remove("in/2")
    #expect(
      try await flow.run("--dry-run").text
        == "all: the children of 'part' are others\n1 step is current\n")
    #expect(try await flow.run().status == 0)
    #expect(flow.text("all") == "1")
    // The same set as before. The record of the child is still there, and its output, too.
    try flow.folder.write("two", to: "in/2")
    #expect(try await flow.run().status == 0)
    #expect(flow.text("all") == "1two")
    #expect(flow.lines("log").count == 3)
  }

  @Test func `L6: a new need makes a step run, and a removed one, too`() async throws {
    func steps(_ needs: String) -> String {
      """
      "a": {"run": "touch a", "outputs": ["a"]}, "b": {"run": "touch b", "outputs": ["b"]},
      "c": {"run": "touch c", "needs": [\(needs)], "outputs": ["c"]}
      """
    }
    let flow = try FlowFixture(steps(#""a""#))
    #expect(try await flow.run().status == 0)
    for needs in [#""a", "b""#, #""a""#] {
      try flow.write(steps(needs))
      let reason = "c: its need 'b' is new, or no longer one\n2 steps are current\n"
      #expect(try await flow.run("--dry-run").text == reason)
      #expect(try await flow.run().status == 0)
      #expect(try await flow.run("--dry-run").text == "nothing would run\n")
    }
  }

  @Test func `L6: what a step has used is known after a failure of its own run`() async throws {
    // `a` changes its output, and `c` fails before it uses that. Then `a` is current.
    let flow = try FlowFixture(
      """
      "a": {"run": "cat in > a", "inputs": ["in"], "outputs": ["a"]},
      "c": {"run": "test ! -e stop; cat a > c", "needs": ["a"], "outputs": ["c"]}
      """)
    try flow.folder.write("1", to: "in")
    #expect(try await flow.run().status == 0)
    try flow.folder.write("22", to: "in")
    try flow.folder.write("", to: "stop")
    #expect(try await flow.run().status == 1)
    try flow.remove("stop")
    let printed = try await flow.run("--fresh")
    #expect(printed.ends == ["c: succeeded"], "\(printed.error)")
    #expect(flow.text("c") == "22")
  }

  @Test func `L6: an earlier version's successes are not believed, and a message says so`()
    async throws
  {
    let flow = try FlowFixture(#""a": {"run": "touch a", "outputs": ["a"]}"#)
    #expect(try await flow.run().status == 0)
    let journal = try SQLiteConnection.open(
      flow.journal, for: .writing, SQLiteConfiguration(access: .existing))
    try journal.execute("DELETE FROM flow_success")
    try journal.execute("CREATE TABLE stamp (flow TEXT, step TEXT, run INTEGER)")
    try journal.execute("INSERT INTO stamp VALUES ('f', 'a', 1)")
    let printed = try await flow.run()
    #expect(printed.ends == ["a: succeeded"])
    #expect(printed.error.contains("successes of an earlier version, which do not count"))
    #expect(try await !flow.run().error.contains("earlier version"))
  }

  // MARK: Runs

  @Test func `L7: after resume-within, a new run begins, and a message says why`() async throws {
    let flow = try FlowFixture(
      #""a": {"run": "echo a >> log"}, "b": {"run": "test -e ok", "needs": ["a"]}"#,
      head: #""resume-within": "0s","#)
    #expect(try await flow.run().status == 1)
    let second = try await flow.run()
    let line = String(second.error.split(separator: "\n").first ?? "")
    let message =
      /coop flow: run 1 failed .+ ago, more than resume-within \(0 .*s\): beginning run 2/
    #expect(try message.wholeMatch(in: line) != nil, "\(line)")
    #expect(flow.lines("log") == ["a", "a"])
    // The name of a run says that it is wanted.
    #expect(try await flow.run("--run", "x").status == 1)
    try flow.folder.write("", to: "ok")
    let named = try await flow.run("--run", "x")
    #expect(named.error.contains("resuming run 3 (x) of 'f', failed at "), "\(named.error)")
    #expect(flow.lines("log") == ["a", "a", "a"])
  }

  @Test func `L7: a named run is continued until it has succeeded, and then it is over`()
    async throws
  {
    let flow = try FlowFixture(
      """
      "dump": {"run": "cat live > dump; echo d >> log"},
      "ship": {"run": "test ! -e down; cp dump remote", "needs": ["dump"]}
      """)
    try flow.folder.write("mon", to: "live")
    try flow.folder.write("", to: "down")
    #expect(try await flow.run("--run", "mon").status == 1)
    // The next night: a run with another name is another run, and makes its own dump.
    try flow.remove("down")
    try flow.folder.write("tue", to: "live")
    #expect(try await flow.run("--run", "tue").status == 0)
    #expect(flow.text("remote") == "tue")
    // What belongs to the first run still does.
    let first = try await flow.run("--run", "mon")
    #expect(first.status == 0)
    #expect(first.ends == ["ship: succeeded"])
    let again = try await flow.run("--run", "mon")
    #expect(again.status == 0)
    #expect(again.error.contains("run 1 (mon) of 'f' has succeeded at "), "\(again.error)")
    #expect(again.ends.isEmpty)
    #expect(flow.lines("log") == ["d", "d"])
    #expect(try await flow.flow("status", "f.json").text.hasPrefix("run 2 (tue) of 'f', began"))
  }

  @Test func `L7: a succeeded run runs what is not current any more`() async throws {
    let flow = try FlowFixture(
      #""a": {"run": "cp in out; echo a >> log", "inputs": ["in"], "outputs": ["out"]}"#)
    try flow.folder.write("1", to: "in")
    #expect(try await flow.run("--run", "x").status == 0)
    try flow.folder.write("22", to: "in")
    let again = try await flow.run("--run", "x")
    #expect(again.ends == ["a: succeeded"], "\(again.error)")
    #expect(flow.text("out") == "22")
    #expect(try await flow.flow("status", "f.json").text.hasPrefix("run 1 (x) of 'f'"))
  }

  @Test func `L7: a name with other values is refused`() async throws {
    let flow = try FlowFixture(#""a": {"run": "false"}"#, head: #""values": {"v": "1"},"#)
    #expect(try await flow.run("--run", "x").status == 1)
    let other = try await flow.run("--run", "x", "--set", "v=2")
    #expect(other.status == 1)
    #expect(
      other.error.contains(
        #"run 'x' has other values or steps: {"v":"1"}; expected the same ones"#),
      "\(other.error)")
  }

  @Test func `L7: the newest run with the same values and steps is continued`() async throws {
    let flow = try FlowFixture(
      #""a": {"run": "echo a$v >> log"}, "b": {"run": "test -e ok", "needs": ["a"]}"#,
      head: #""values": {"v": "1"},"#)
    #expect(try await flow.run().status == 1)
    #expect(try await flow.run("--set", "v=2").status == 1)
    #expect(try await flow.run("a").status == 0)
    try flow.folder.write("", to: "ok")
    let first = try await flow.run()
    #expect(first.error.contains("resuming run 1 of 'f'"), "\(first.error)")
    #expect(flow.lines("log") == ["a1", "a2", "a1"])
  }
}
