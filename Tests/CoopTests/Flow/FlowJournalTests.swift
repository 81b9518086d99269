import CompositeOperations
import Foundation
import SQLiteSupport
import SystemSupport
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct FlowJournalTests {
  @Test func `L5: the end of a step is stored before a step that needs it begins`() async throws {
    // The second step kills the process that runs the flow.
    let flow = try FlowFixture(
      """
      "a": {"run": "echo a >> log"},
      "b": {"run": "if mkdir once; then kill -9 $PPID; fi; echo b >> log", "needs": ["a"]}
      """)
    let killed = try await flow.run()
    #expect(killed.status == 128 + SIGKILL || killed.status == -SIGKILL || killed.status == SIGKILL)
    let resumed = try await flow.run()
    #expect(resumed.status == 0, "\(resumed.error)")
    #expect(resumed.ends == ["b: succeeded"])
    #expect(flow.lines("log").filter { $0 == "a" }.count == 1)
    #expect(resumed.error.contains("coop flow: resuming run 1 of 'f', interrupted at "))
    #expect(resumed.error.contains(": 1 of 2 steps are done\n"))
  }

  @Test func `L5: a killed run that another one replaces has ended`() async throws {
    let flow = try FlowFixture(#""a": {"run": "if mkdir once; then kill -9 $PPID; fi"}"#)
    #expect(try await flow.run().status != 0)
    let fresh = try await flow.run("--fresh")
    #expect(fresh.status == 0, "\(fresh.error)")
    #expect(
      FlowFixture.stored(
        "SELECT number || ' ' || state || ' ' || coalesce(reason, '') FROM flow_run ORDER BY number",
        in: flow.journal)
        == ["1 cancelled run 2 replaces it", "2 succeeded "])
  }

  @Test func `L5: the error of a run counts its steps, and not their children`() async throws {
    let flow = try FlowFixture(
      #""a": {"each": ["x", "y"], "run": "false"}, "b": {"run": "false"}"#)
    #expect(try await flow.run("--keep-going").status == 1)
    let reasons = FlowFixture.stored("SELECT reason FROM flow_run", in: flow.journal)
    #expect(reasons == ["2 steps failed"])
  }

  @Test(arguments: ["result", "error", "running"])
  func `L5: a state that is also a journal is taken over with its runs`(state: String) async throws
  {
    let flow = try FlowFixture(
      #""a": {"run": "echo a >> log; touch out", "outputs": ["out"]}, "b": {"run": "echo b >> log", "needs": ["a"]}"#
    )
    #expect(try await flow.run().status == 0)
    let connection = try SQLiteConnection.open(
      flow.journal, for: .writing, SQLiteConfiguration(access: .existing))
    for column in ["state", "reason", "updated", "cancelled", "process"] {
      try connection.execute("ALTER TABLE flow_run DROP COLUMN \(column)")
    }
    try connection.execute("ALTER TABLE flow_process DROP COLUMN run")
    try connection.execute("DROP TABLE flow_left")
    for table in ["step", "event", "owner"] {
      try connection.execute("CREATE TABLE \(table) (id TEXT)")
    }
    try connection.execute("CREATE TABLE run (id TEXT, state TEXT, reason TEXT, updated INTEGER)")
    try connection.execute(
      "INSERT INTO run VALUES ('f#1', ?1, NULL, unixepoch() * 1000)", [.text(state)])
    try connection.execute("PRAGMA application_id = \(0x434F_464C)")
    let status = try await flow.program(["status", "f.json"]).run()
    #expect(status.status == 1)
    #expect(
      status.error.hasSuffix(
        "state.sqlite was written by an earlier version; the next run takes it over\n"),
      "\(status.error)")
    let printed = try await flow.run()
    #expect(printed.status == 0, "\(printed.error)")
    // A run that has not succeeded is continued after its last success.
    #expect(flow.lines("log") == (state == "result" ? ["a", "b", "b"] : ["a", "b"]))
    #expect(
      FlowFixture.stored(
        "SELECT name FROM sqlite_schema WHERE name NOT LIKE '%flow%'", in: flow.journal)
        == ["sqlite_sequence"])
    #expect(
      FlowFixture.stored("SELECT number || state FROM flow_run ORDER BY number", in: flow.journal)
        == (state == "result" ? ["1succeeded", "2succeeded"] : ["1succeeded"]))
  }

  @Test func `L5: the state of the first version is taken over`() async throws {
    let flow = try FlowFixture(#""a": {"run": "echo a >> log; touch out", "outputs": ["out"]}"#)
    #expect(try await flow.run().status == 0)
    let connection = try SQLiteConnection.open(
      flow.journal, for: .writing, SQLiteConfiguration(access: .existing))
    try connection.execute("ALTER TABLE flow_process DROP COLUMN run")
    try connection.execute("DROP TABLE flow_left")
    try connection.execute("PRAGMA user_version = 1")
    #expect(try await flow.flow("status", "f.json").status == 0)
    #expect(try await flow.run().status == 0)
    #expect(flow.lines("log") == ["a"])
    #expect(try await flow.run("--force").status == 0)
  }

  @Test func `L5: a cancellation that a killed process has not seen counts for the next one`()
    async throws
  {
    let flow = try FlowFixture(
      #""a": {"run": "echo a >> log; if mkdir once; then kill -9 $PPID; fi"}"#)
    #expect(try await flow.run().status != 0)
    try SQLiteConnection.open(
      flow.journal, for: .writing, SQLiteConfiguration(access: .existing)
    ).execute("UPDATE flow_run SET cancelled = 1, reason = 'enough'")
    let next = try await flow.run()
    #expect(next.status == 0)
    #expect(!next.error.contains("resuming"), "\(next.error)")
    #expect(
      FlowFixture.stored(
        "SELECT number || ' ' || state || ' ' || coalesce(reason, '') FROM flow_run",
        in: flow.journal)
        == ["1 cancelled enough", "2 succeeded "])
  }

  @Test func `L5: the state of a newer version and a file of another program are refused`()
    async throws
  {
    let flow = try FlowFixture(#""a": {"run": "echo a >> log"}"#)
    #expect(try await flow.run().status == 0)
    func change(_ sql: String) throws {
      try SQLiteConnection.open(
        flow.journal, for: .writing, SQLiteConfiguration(access: .existing)
      ).execute(sql)
    }
    try change("PRAGMA user_version = 7")
    for command in [try await flow.run(), try await flow.program(["status", "f.json"]).run()] {
      #expect(command.status == 1)
      #expect(
        command.error.contains("state.sqlite has version 7 of its schema"), "\(command.error)")
    }
    try change("PRAGMA application_id = 1234")
    let other = try await flow.run()
    #expect(other.status == 1)
    #expect(other.error.contains("is a database of another program"), "\(other.error)")
    #expect(flow.lines("log") == ["a"])
  }

  @Test func `L5: a cancellation in the state ends the run`() async throws {
    let flow = try FlowFixture(
      #""a": {"run": "touch began; while :; do sleep 0.01; done"}, "b": {"run": "true", "needs": ["a"]}"#
    )
    let began = flow.folder.path + "/began"
    let printed = try await flow.program(["run", "f.json"]).run { _ in
      try await eventually { FileManager.default.fileExists(atPath: began) }
      try SQLiteConnection.open(
        flow.journal, for: .writing, SQLiteConfiguration(access: .existing)
      ).execute("UPDATE flow_run SET cancelled = 1, reason = 'enough'")
    }
    #expect(printed.status == 1)
    #expect(
      printed.error.contains("cancelled by another program; the same command begins a new run"),
      "\(printed.error)")
    #expect(
      FlowFixture.stored("SELECT state || ' ' || reason FROM flow_run", in: flow.journal)
        == ["cancelled enough"])
  }

  @Test func `L9: a run is shown as running while its process lives`() async throws {
    let flow = try FlowFixture(
      #""a": {"run": "touch began; while ! test -e go; do sleep 0.01; done"}"#)
    _ = try await flow.program(["run", "f.json"]).run { process in
      try await eventually { flow.exists("began") }
      let running = try await flow.flow("status", "f.json").text
      #expect(running.contains(": running in process \(process)\n"), "\(running)")
      kill(process, SIGKILL)
      try await eventually { hasEnded(process) }
      let killed = try await flow.flow("status", "f.json").text
      #expect(killed.contains(": interrupted\n"), "\(killed)")
    }
    // It ends the command that is left.
    try flow.folder.write("", to: "go")
    #expect(try await flow.run().status == 0)
  }

  @Test func `L9: a program that asks whether the flow runs does not keep it from running`()
    async throws
  {
    let flow = try FlowFixture(#""a": {"run": "true"}"#)
    try flow.folder.write("", to: ".flow/f/run.lock")
    let lock = flow.folder.path + "/.flow/f/run.lock"
    let isOver = Lock(false)
    async let _ = Task.detached {
      while !isOver.withLock(\.self) {
        _ = FileLock.isHeld(lock)
        await Task.yield()
      }
    }.value
    defer { isOver.withLock { $0 = true } }
    for _ in 0..<5 {
      let printed = try await flow.run("--fresh")
      #expect(printed.status == 0, "\(printed.error)")
    }
  }

  @Test func `L9: a second run fails with status 75, and no lock remains after SIGKILL`()
    async throws
  {
    let flow = try FlowFixture(
      """
      "a": {"run": "touch began; while ! test -e go; do sleep 0.01; done"}
      """)
    let began = flow.folder.path + "/began"
    _ = try await flow.program(["run", "f.json"]).run { process in
      try await eventually { FileManager.default.fileExists(atPath: began) || hasEnded(process) }
      let second = try await flow.run()
      #expect(second.status == 75)
      let message =
        /coop flow: run lock: 'f' is already running \(pid ([0-9]+) since [0-9]{2}:[0-9]{2}\)\n/
      let match = try message.wholeMatch(in: second.error)
      #expect(match.map { $0.1 == "\(process)" } == true, "\(second.error)")
      kill(process, SIGKILL)
    }
    try flow.folder.write("", to: "go")
    #expect(try await flow.run().status == 0)
  }

  @Test func `L9: a second path of the folder is the same flow`() async throws {
    let flow = try FlowFixture(
      """
      "a": {"run": "touch began; while ! test -e go; do sleep 0.01; done"}
      """)
    let began = flow.folder.path + "/began"
    _ = try flow.folder.link("link", to: ".")
    _ = try flow.folder.link("state", to: ".flow/f")
    try flow.folder.write("", to: "other/file")
    _ = try flow.folder.link("other/state.sqlite", to: flow.journal)
    try flow.folder.write("", to: "below/deep/file")
    _ = try flow.folder.link("deep", to: "below/deep")
    _ = try flow.folder.link("below/f.json", to: "../f.json")
    let first = try await flow.program(["run", "f.json"]).run { process in
      try await eventually { FileManager.default.fileExists(atPath: began) || hasEnded(process) }
      #expect(try await flow.flow("run", "link/f.json").status == 75)
      #expect(try await flow.flow("run", "f.json", "--state", "state").status == 75)
      #expect(try await flow.flow("run", "f.json", "--state", "other").status == 75)
      // This is `below/f.json`, whose folder is `below`.
      try flow.folder.write("", to: "below/go")
      #expect(try await flow.flow("run", "deep/../f.json").status == 0)
      #expect(flow.exists("below/began"))
      try flow.folder.write("", to: "go")
    }
    #expect(first.status == 0)
  }

  @Test func `L9: flows with different names or states run at the same time`() async throws {
    let flow = try FlowFixture(
      """
      "a": {"run": "touch began; while ! test -e go; do sleep 0.01; done"}
      """)
    try flow.folder.write(#"{"flow": "g", "steps": {"a": {"run": "touch go"}}}"#, to: "g.json")
    let began = flow.folder.path + "/began"
    let first = try await flow.program(["run", "f.json"]).run { process in
      try await eventually { FileManager.default.fileExists(atPath: began) || hasEnded(process) }
      let second = try await flow.flow("run", "g.json", "--state", "other")
      #expect(second.status == 0, "\(second.error)")
    }
    #expect(first.status == 0)
    #expect(flow.exists("other/state.sqlite"))
  }

  #if os(Linux)
    /// Whether a test may mount a folder where only its processes see it.
    private static let mayMount =
      FileManager.default.isExecutableFile(atPath: "/usr/bin/unshare") && getuid() == 0

    @Test(.enabled(if: mayMount))
    func `L12: status, log and --dry-run read a read-only folder`() async throws {
      let flow = try FlowFixture(
        #""a": {"run": "touch a", "outputs": ["a"]}, "b": {"run": "test -e x", "needs": ["a"]}"#)
      #expect(try await flow.run().status == 1)
      let coop = "'\(Program.coop().executable.path)' flow"
      func printed(_ prefix: String) async throws -> String {
        let script =
          prefix
            + """
            \(coop) status f.json; echo $?; \(coop) log f.json a; echo $?
            \(coop) run f.json --dry-run; echo $?
            """
        let result = try await Program(
          executable: URL(fileURLWithPath: "/usr/bin/unshare"),
          arguments: ["-m", "sh", "-ec", script], folder: flow.folder.url
        ).run()
        return result.text + result.error
      }
      let expected = try await printed("")
      #expect(expected.hasSuffix("b: it has no outputs\n1 step is current\n0\n"), "\(expected)")
      let readOnly = "mount --bind . .; mount -o remount,ro,bind .; cd .\n"
      #expect(try await printed(readOnly + "! touch x 2> /dev/null\n") == expected)
      // A run stores its state elsewhere.
      let state = try TemporaryFolder()
      let run = try await printed(
        readOnly + "\(coop) run f.json a --state \(state.path)/s 2>&1 || true\nexit\n")
      #expect(run.contains("a: failed, exit status 1"), "\(run)")
    }
  #endif

  @Test func `L9: a folder has the state of one flow`() async throws {
    let flow = try FlowFixture(#""a": {"run": "true"}"#)
    try flow.folder.write(#"{"flow": "g", "steps": {"a": {"run": "true"}}}"#, to: "g.json")
    #expect(try await flow.run("--state", "s").status == 0)
    for arguments in [["run"], ["run", "--dry-run"], ["status"]] {
      let second = try await flow.program(arguments + ["g.json", "--state", "s"]).run()
      #expect(second.status == 1)
      #expect(
        second.error.hasSuffix(
          "/s/state.sqlite has the runs of the flow 'f'; expected another folder for 'g'\n"),
        "\(second.error)")
    }
    try flow.folder.write(#"{"flow": "f", "steps": {"a": {"run": "true"}}}"#, to: "other/f.json")
    let copy = try await flow.flow("run", "other/f.json", "--state", "s")
    #expect(copy.status == 1)
    #expect(
      copy.error.contains("has the runs of \(flow.folder.path)/f.json; expected another folder"))
    let status = try await flow.flow("status", "f.json", "--state", "s")
    #expect(status.text.hasPrefix("run 1 of 'f', began at "), "\(status.text)")
  }

  @Test func `L3: all problems of the file are reported before a step begins`() async throws {
    let flow = try FlowFixture(
      """

      "test": {"run": "touch a", "outputs": ["${w}"]},
      "b": {"run": "true", "needs": ["tests"], "outputs": ["c"]},
      "d": {"run": "true", "needs": ["e"]}, "e": {"run": "true", "after": ["d"]}
      """, head: #""values": {"w": "a"},"#)
    let printed = try await flow.run("--set", "w=c")
    #expect(printed.status == 1)
    #expect(printed.output.isEmpty)
    #expect(!flow.exists("a") && !flow.exists(".flow"))
    #expect(
      printed.error == """
        f.json:3:32: unknown step 'tests' in needs of 'b'; did you mean 'test'?
        f.json:3:54: duplicate output c of steps 'test' and 'b'
        f.json:4:1: cycle: 'd' needs 'e', which runs after 'd'

        """)
  }

  @Test func `--json prints an event on each line`() async throws {
    let flow = try FlowFixture(
      #""a": {"run": "true"}, "b": {"run": "echo why; exit 3", "needs": ["a"]}"#)
    let printed = try await flow.run("--json")
    struct Event: Decodable {
      let event: String
      let run: Int
      let step: String?
      let state: String?
      let lines: [String]?
      let log: String?
    }
    let decoder = JSONDecoder()
    let events = try printed.text.split(separator: "\n").map {
      try decoder.decode(Event.self, from: Data($0.utf8))
    }
    let names = events.map {
      [$0.event, $0.step, $0.state].compactMap(\.self).joined(separator: " ")
    }
    #expect(
      names == [
        "run-began", "step-began a", "step-ended a succeeded", "step-began b",
        "step-ended b failed", "run-ended failed",
      ])
    #expect(events.allSatisfy { $0.run == 1 })
    #expect(events.compactMap(\.lines) == [["why"]])
    let log = try #require(events.compactMap(\.log).first)
    #expect(try String(contentsOfFile: log, encoding: .utf8).hasSuffix("\nwhy\n"))
  }

  @Test func `L7: each event of --json has the name of its run`() async throws {
    let flow = try FlowFixture(#""a": {"run": "touch a", "outputs": ["a"]}"#)
    struct Event: Decodable {
      let event: String
      let run: Int
      let name: String?
    }
    func events(_ options: String...) async throws -> [Event] {
      let printed = try await flow.program(["run", "f.json", "--json"] + options).run()
      return try printed.text.split(separator: "\n").map {
        try JSONDecoder().decode(Event.self, from: Data($0.utf8))
      }
    }
    var found = try await events("--run", "one")
    #expect(found.map(\.event) == ["run-began", "step-began", "step-ended", "run-ended"])
    #expect(found.allSatisfy { $0.run == 1 && $0.name == "one" })
    // Also if nothing runs.
    found = try await events("--run", "two")
    #expect(found.map(\.name) == ["two", "two"])
    found = try await events()
    #expect(found.map(\.name) == [nil, nil])
  }

  @Test func `--json prints events also for a run with nothing to do`() async throws {
    let flow = try FlowFixture(#""a": {"run": "touch a", "outputs": ["a"]}"#)
    #expect(try await flow.run().status == 0)
    let lines = try await flow.run("--json").text.split(separator: "\n")
    #expect(lines.count == 2)
    #expect(lines[0].contains(#""event":"run-began""#))
    #expect(lines[1].contains(#""event":"run-ended""#) && lines[1].contains(#""up to date":1"#))
  }

  @Test func `--trace and --timeline show the steps`() async throws {
    let flow = try FlowFixture(#""build": {"run": "true"}, "test": {"run": "exit 1"}"#)
    let printed = try await flow.run("--keep-going", "--trace", "t.txt", "--timeline", "t.html")
    #expect(printed.status == 1)
    for file in ["t.txt", "t.html"] {
      let text = flow.text(file) ?? ""
      #expect(text.contains("build") && text.contains("test"), "\(text.prefix(2_000))")
    }
  }

  @Test func `flow show prints a diagram, and flow schema a JSON schema`() async throws {
    let flow = try FlowFixture(
      """
      "a": {"run": "true"}, "b": {"run": "true", "needs": ["a"]},
      "c": {"run": "true", "after": ["b"]}
      """)
    #expect(
      try await flow.flow("show", "f.json").text == """
        flowchart TD
          n0["a"]
          n1["b"]
          n2["c"]
          n0 --> n1
          n1 -.-> n2

        """)
    let schema = try await flow.flow("schema")
    #expect(try JSONSerialization.jsonObject(with: schema.output) is [String: Any])
  }

  @Test func `flow status shows how the steps of the last run ended`() async throws {
    let flow = try FlowFixture(
      """
      "a": {"run": "true"}, "b": {"run": "exit 4"}, "c": {"run": "true", "needs": ["b"]}
      """)
    let none = try await flow.flow("status", "f.json")
    #expect(none.text == "'f' has not run yet\n")
    _ = try await flow.run("--keep-going")
    let lines = try await flow.flow("status", "f.json").text.split(separator: "\n")
    #expect(lines.count == 4)
    #expect(lines[0].hasPrefix("run 1 of 'f', began at ") && lines[0].hasSuffix(": failed"))
    #expect(lines[1].hasPrefix("a  succeeded  "))
    #expect(lines[2] == "b  failed     exit status 4")
    #expect(lines[3] == "c  skipped    a step that it needs has not succeeded")
  }
}
