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
    try flow.folder.write("", to: ".flow/f/journal.sqlite")
    try flow.folder.write("", to: "a")
    let printed = try await flow.run()
    #expect(printed.ends == ["a: succeeded"])
    #expect(
      printed.error.contains(
        ".flow/f has the journal of an earlier version, of which nothing counts: all steps run"))
    #expect(try await !flow.run().error.contains("earlier version"))
  }

  @Test func `L6: the file of the standard input is an input`() async throws {
    let flow = try FlowFixture(
      #""a": {"run": ["tee", "out"], "stdin": "in", "outputs": ["out"]}"#)
    try flow.folder.write("1", to: "in")
    #expect(try await flow.run().status == 0)
    try flow.folder.write("22", to: "in")
    #expect(try await flow.run("--dry-run").text == "a: in is newer\n")
    #expect(try await flow.run().status == 0)
    #expect(flow.text("out") == "22")
  }

  @Test func `L6: a step with outputs runs again if a step in its after made something new`()
    async throws
  {
    let flow = try FlowFixture(
      """
      "part": {"each": "in/*", "run": "test ! -e fail; mkdir -p out/in; cp $each out/$each",
        "inputs": ["${each}"], "outputs": ["out/${each}"]},
      "all": {"run": "cat out/in/* > all; echo all >> log", "after": ["part"], "outputs": ["all"]}
      """)
    try flow.folder.write("1", to: "in/1")
    #expect(try await flow.run().status == 0)
    #expect(try await flow.run("--dry-run").text == "nothing would run\n")
    try flow.folder.write("2", to: "in/2")
    #expect(try await flow.run().status == 0)
    #expect(flow.text("all") == "12")
    // It also runs after a failure, and again after the next one.
    try flow.folder.write("", to: "fail")
    try flow.folder.write("3", to: "in/3")
    for count in [3, 4] {
      #expect(try await flow.run("--fresh").status == 1)
      #expect(flow.lines("log").count == count)
    }
    try flow.remove("fail")
    #expect(try await flow.run().status == 0)
    #expect(flow.text("all") == "123")
    #expect(try await flow.run("--dry-run").text == "nothing would run\n")
  }

  @Test func `L6: a definition is compared by bytes`() async throws {
    func steps(_ name: String) -> String {
      #""a": {"run": ["touch", "\#(name)", "out"], "outputs": ["out"]}"#
    }
    let flow = try FlowFixture(steps("caf\u{E9}"))
    #expect(try await flow.run().status == 0)
    try flow.write(steps("cafe\u{301}"))
    #expect(try await flow.run("--dry-run").text == "a: its definition changed\n")
  }

  @Test func `L6: an error before the commands of a step fails it`() async throws {
    // The name is not UTF-8, and the input of the other step is a pattern that finds it.
    let flow = try FlowFixture(
      #"""
      "a": {"run": "mkdir -p d; touch d/$(printf 'lat\\351')"},
      "b": {"run": "true", "needs": ["a"], "inputs": ["d/*"], "outputs": ["*.none"]}
      """#)
    let printed = try await flow.run()
    #expect(printed.status == 1, "\(printed.error)")
    #expect(printed.ends.contains { $0.hasPrefix("b: failed, ") }, "\(printed.text)")
  }

  @Test func `L6: a step without outputs that failed again is not done`() async throws {
    let flow = try FlowFixture(
      """
      "load": {"run": "echo load >> log; test ! -e broken"},
      "last": {"run": "test -e ok", "needs": ["load"]}
      """)
    #expect(try await flow.run().status == 1)
    try flow.folder.write("", to: "broken")
    #expect(try await flow.run("--only", "load").status == 1)
    try flow.remove("broken")
    try flow.folder.write("", to: "ok")
    let resumed = try await flow.run()
    #expect(resumed.ends == ["load: succeeded", "last: succeeded"], "\(resumed.error)")
    #expect(flow.lines("log").count == 3)
  }

  @Test func `L6: a step runs after one that ran again before the flow was killed`() async throws {
    let flow = try FlowFixture(
      """
      "a": {"run": "echo a >> log"}, "b": {"run": "echo b >> log", "after": ["a"]},
      "last": {"run": "test -e ok", "after": ["b"]}
      """)
    #expect(try await flow.run().status == 1)
    // As if `a` had succeeded again, and the flow was killed then.
    let journal = try SQLiteConnection.open(
      flow.journal, for: .writing, SQLiteConfiguration(access: .existing))
    try journal.execute("UPDATE flow_success SET number = 100 WHERE step = 'a'")
    try flow.folder.write("", to: "ok")
    let resumed = try await flow.run()
    #expect(resumed.ends == ["b: succeeded", "last: succeeded"], "\(resumed.error)")
  }

  @Test func `L10: the rows of a step are the same when the run is continued`() async throws {
    let flow = try FlowFixture(
      #"""
      "rows": {"run": ["cat", "rows.csv"]},
      "a": {"each": {"rows-of": "rows"}, "run": ["echo", "${each.n}", "${each.text}"]},
      "last": {"run": "test -e ok", "needs": ["a"]}
      """#)
    try flow.folder.write("n,text\n1,\"two\nlines\"\n2,x\r\n", to: "rows.csv")
    #expect(try await flow.run().status == 1)
    try flow.folder.write("", to: "ok")
    let resumed = try await flow.run()
    #expect(resumed.ends == ["last: succeeded"], "\(resumed.error)")
  }

  @Test func `L12: a step whose children are unknown does not wait for them forever`()
    async throws
  {
    let flow = try FlowFixture(
      """
      "names": {"run": ["echo", "x"]}, "a": {"each": {"lines-of": "names"}, "run": "true"},
      "b": {"each": {"same-as": "a"}, "run": "true"}
      """)
    let printed = try await flow.run("--only", "b")
    #expect(printed.ends == ["b: skipped, not all of its children ran"])
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

  @Test func `L7: an interrupted run is as old as its last sign of life`() async throws {
    let flow = try FlowFixture(
      #""a": {"run": "if mkdir once; then kill -9 $PPID; sleep 60; fi"}"#)
    _ = try await flow.run()
    let journal = try SQLiteConnection.open(
      flow.journal, for: .writing, SQLiteConfiguration(access: .existing))
    // The engine notes a later time when it finds that the process has ended.
    for table in ["flow_life SET time", "flow_size SET began", "flow_step SET began"] {
      try journal.execute("UPDATE \(table) = 1700000000000")
    }
    let printed = try await flow.run()
    #expect(printed.error.contains("run 1 was interrupted "), "\(printed.error)")
    #expect(printed.error.contains("more than resume-within (12 h): beginning run 2"))
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
    #expect(try await flow.flow("status", "f.json").text.hasPrefix("run 1 (mon) of 'f', began"))
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
