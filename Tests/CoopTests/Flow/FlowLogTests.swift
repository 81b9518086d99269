import Foundation
import SQLiteSupport
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct FlowLogTests {
  @Test func `L4: each run has its logs, as long as it is kept`() async throws {
    let flow = try FlowFixture(
      """
      "a": {"run": "echo out$n; echo error$n >&2"}
      """, head: #""keep": {"runs": 3}, "values": {"n": "1"},"#)
    for number in 1...4 { #expect(try await flow.run("--set", "n=\(number)").status == 0) }
    for number in 2...4 {
      #expect(flow.output("a", inRun: number) == "out\(number)\nerror\(number)\n")
    }
    #expect(!flow.exists(".flow/f/runs/1"))
    let runs = FlowFixture.stored("SELECT DISTINCT run || '' FROM flow_step", in: flow.journal)
    #expect(runs == ["2", "3", "4"])
    #expect(try await flow.flow("log", "f.json", "a").text.hasSuffix("\nout4\nerror4\n"))
  }

  /// A program that writes what `coop flow log --follow` prints to a file.
  private static func follow(_ step: String, in flow: FlowFixture) -> Program {
    var program = flow.program(["log", "-f", "f.json", step])
    program.arguments =
      ["-c", "exec \"$0\" \"$@\" > followed", program.executable.path] + program.arguments
    program.executable = URL(fileURLWithPath: "/bin/sh")
    return program
  }

  @Test func `L4: a log is followed until its step has ended`() async throws {
    let flow = try FlowFixture(
      #"""
      "a": {"run": "until test -e begin; do sleep 0.01; done"},
      "b": {"run": "echo one; until test -e go; do sleep 0.01; done; echo two; false", "retries": 1,
        "needs": ["a"]},
      "c": {"run": "until test -e end; do sleep 0.01; done"}
      """#)
    #expect(try await flow.flow("log", "--follow", "f.json", "x").status == 1)
    let none = try await flow.flow("log", "--follow", "f.json", "b")
    #expect(none.status == 1)
    #expect(none.error.contains("'b' has no log"), "\(none.error)")
    let ran = try await flow.program(["run", "f.json", "--keep-going"]).run { _ in
      try await eventually { flow.exists(flow.log("a")) }
      let followed = try await Self.follow("b", in: flow).run { _ in
        // The step has not begun.
        try flow.folder.write("", to: "begin")
        try await eventually { flow.text("followed")?.hasSuffix("\none\n") == true }
        try flow.folder.write("", to: "go")
      }
      #expect(followed.status == 0, "\(followed.error)")
      #expect(flow.text("followed") == flow.text(flow.log("b")))
      #expect(
        flow.lines("followed").filter { !$0.hasPrefix("===") } == ["one", "two", "one", "two"])
      // The run is still in progress.
      try flow.folder.write("", to: "end")
    }
    #expect(ran.status == 1)
    let later = try await flow.flow("log", "-f", "f.json", "b")
    #expect(later.text == flow.text(flow.log("b")))
  }

  @Test func `L4: the log of a command of on is shown, and followed until the run has ended`()
    async throws
  {
    let flow = try FlowFixture(
      #""a": {"run": "true"}"#,
      head: #"""
        "on": {"success": "echo one; touch began; until test -e go; do sleep 0.01; done; echo two"},
        """#)
    let none = try await flow.flow("log", "f.json", "on success")
    #expect(none.error.contains("'on success' has no log: it has not run yet"), "\(none.error)")
    let other = try await flow.flow("log", "f.json", "on failure")
    #expect(
      other.error.hasSuffix("has no log: 'on' of the file has no command for it\n"),
      "\(other.error)")
    _ = try await flow.program(["run", "f.json"]).run { _ in
      try await eventually { flow.exists("began") }
      let shown = try await flow.flow("log", "f.json", "on success")
      #expect(shown.text.hasPrefix("=== on success, ") && shown.text.hasSuffix("\none\n"))
      let followed = try await Self.follow("on success", in: flow).run { _ in
        try await eventually { flow.text("followed")?.hasSuffix("\none\n") == true }
        try flow.folder.write("", to: "go")
      }
      #expect(followed.status == 0, "\(followed.error)")
      #expect(flow.text("followed")?.hasSuffix("\none\ntwo\n") == true)
    }
    #expect(try await flow.flow("log", "f.json", "on success").text.hasSuffix("\none\ntwo\n"))
    let unknown = try await flow.flow("log", "f.json", "on sucess")
    #expect(unknown.error == "f.json: unknown step 'on sucess'\n", "\(unknown.error)")
  }

  @Test func `L4: a log of a killed flow is followed to its end`() async throws {
    let flow = try FlowFixture(
      #""a": {"run": "echo one; touch began; until test -e go; do sleep 0.01; done; echo two; kill -9 $PPID"}"#
    )
    _ = try await flow.program(["run", "f.json"]).run { _ in
      try await eventually { flow.exists("began") }
      let followed = try await Self.follow("a", in: flow).run { _ in
        try await eventually { flow.text("followed")?.hasSuffix("\none\n") == true }
        try flow.folder.write("", to: "go")
      }
      #expect(followed.status == 0, "\(followed.error)")
      #expect(flow.text("followed")?.hasSuffix("\none\ntwo\n") == true)
    }
  }

  @Test func `L4: a run that is too old keeps no logs, except the one that is continued`()
    async throws
  {
    let flow = try FlowFixture(
      #""a": {"run": "echo $n; test $n != 1"}"#,
      head: #""keep": {"days": 2}, "resume-within": "8760h", "values": {"n": "1"},"#)
    for number in 1...2 { _ = try await flow.run("--set", "n=\(number)") }
    let state = try SQLiteConnection.open(
      flow.journal, for: .writing, SQLiteConfiguration(access: .existing))
    try state.execute("UPDATE flow_run SET began = began - 3 * 86400000")
    #expect(try await flow.run("--set", "n=1").status == 1)
    #expect(flow.output("a", inRun: 1) == "1\n1\n")
    #expect(!flow.exists(".flow/f/runs/2"))
  }

  @Test func `L4: a line with the attempt, the time and the command precedes each output`()
    async throws
  {
    let flow = try FlowFixture(
      #"""
      "a": {"run": [["printf", "no end"], ["sh", "-c", "echo '1\n2'; exit 3"]], "retries": 1,
        "only-if": "echo condition"}
      """#)
    let printed = try await flow.run("--json")
    let expected =
      [
        "=== only-if, TIME: /bin/sh -eu -c 'echo condition'", "condition",
      ]
      + (1...2).flatMap { attempt in
        [
          "=== attempt \(attempt), TIME: printf 'no end'", "no end",
          #"=== attempt \#(attempt), TIME: sh -c $'echo \'1\n2\'; exit 3'"#, "1", "2",
        ]
      }
    let time = /[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}/
    let log = (flow.text(flow.log("a")) ?? "").replacing(time, with: "TIME")
    #expect(log.split(separator: "\n").map(String.init) == expected, "\(log)")
    // The last lines are those of the command that failed.
    #expect(printed.text.contains(#""lines":["1","2"]"#), "\(printed.text)")
  }

  @Test func `L4: a failed step shows its status, attempts and last 20 lines`() async throws {
    let flow = try FlowFixture(
      """
      "upload": {"run": "for i in $(seq 30); do echo line $i; done; exit 22", "retries": 1,
        "backoff": "1ms"}
      """)
    let printed = try await flow.run()
    let lines = printed.error.split(separator: "\n").map(String.init)
    let head =
      /coop flow: step 'upload' failed: exit status 22 after 2 attempts \([0-9. a-z]+\); its last lines:/
    #expect(try head.wholeMatch(in: lines[0]) != nil, "\(printed.error)")
    #expect(lines.dropFirst().prefix(20).map(\.self) == (11...30).map { "  line \($0)" })
    #expect(lines.dropFirst(21).first?.hasPrefix("coop flow: 'f': 1 failed (") == true)
  }

  @Test func `L4: a step without output shows no lines`() async throws {
    let flow = try FlowFixture(#""a": {"run": "exit 2"}"#)
    let printed = try await flow.run()
    let line = /coop flow: step 'a' failed: exit status 2 after 1 attempt \([0-9. a-z]+\)\n.*\n/
    #expect(try line.wholeMatch(in: printed.error) != nil, "\(printed.error)")
  }

  @Test func `L4: the logs of children do not leave the folder of logs`() async throws {
    let flow = try FlowFixture(
      #"""
      "a": {"each": ["../../x", "b c"], "run": "printf %s \"$each\""}
      """#)
    #expect(try await flow.run().status == 0)
    let names = try FileManager.default.contentsOfDirectory(
      atPath: flow.folder.path + "/.flow/f/runs/1")
    #expect(Set(names) == ["a[..%2F..%2Fx].log", "a[b%20c].log"])
    #expect(try await flow.flow("log", "f.json", "a[../../x]").text.hasSuffix("\n../../x"))
  }

  @Test func `flow log reports a step that is unknown or has not run`() async throws {
    let flow = try FlowFixture(
      #"""
      "build": {"run": "true"}, "each": {"each": ["1"], "run": "true"}, "all": {"needs": ["build"]}
      """#)
    let unknown = try await flow.flow("log", "f.json", "biuld")
    #expect(unknown.status == 1)
    #expect(unknown.error == "f.json: unknown step 'biuld'; did you mean 'build'?\n")
    let missing = try await flow.flow("log", "f.json", "build")
    #expect(
      missing.error
        == "coop flow: 'build' has no log: it has not run yet, or its last run is not kept any more\n"
    )
    #expect(try await flow.run("--run", "one").status == 0)
    let each = try await flow.flow("log", "f.json", "each", "--run", "one")
    #expect(
      each.error
        == "coop flow: 'each' has no log in run 'one': each of its children has one; name a child, 'each[VALUE]'\n"
    )
    let group = try await flow.flow("log", "f.json", "all")
    #expect(
      group.error == "coop flow: 'all' has no log: it has no command; name a step that it needs\n")
  }

  @Test func `a folder of the state that cannot be made is an error with the reason`() async throws
  {
    let flow = try FlowFixture(#""build": {"run": "true"}"#)
    try flow.folder.write("", to: ".flow")
    let printed = try await flow.run()
    #expect(printed.status == 1)
    #expect(
      printed.error.contains("/.flow/f cannot be made: Not a directory; --state FOLDER puts"),
      "\(printed.error)")
  }
}
