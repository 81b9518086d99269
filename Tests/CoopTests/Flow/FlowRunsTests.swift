import Foundation
import SystemSupport
import TestSupport
import Testing

/// Runs of one flow that are in progress at the same time.
struct FlowRunsTests {
  /// A flow whose command for each day waits until the file `go-DAY` exists.
  private func waiting(_ members: String = #""outputs": ["out-${day}"],"#) throws -> FlowFixture {
    try FlowFixture(Self.steps(members), head: Self.head)
  }

  private static let head = #""values": {"day": "1"},"#

  private static func steps(_ members: String = #""outputs": ["out-${day}"],"#) -> String {
    """
    "a": {\(members) "run": "echo ${day} | tee out-${day}; touch began-${day}; while ! test -e go-${day}; do sleep 0.01; done"}
    """
  }

  private func wait(for name: String, of flow: FlowFixture, or process: Int32) async throws {
    try await eventually { flow.exists(name) || hasEnded(process) }
  }

  @Test func `L7: runs of different names run at once, each with its own logs`() async throws {
    let flow = try waiting()
    for day in 2...3 { try flow.folder.write("", to: "go-\(day)") }
    let first = try await flow.program(["run", "f.json", "--run", "one"]).run { process in
      try await wait(for: "began-1", of: flow, or: process)
      let second = try await flow.run("--run", "two", "--set", "day=2")
      #expect(second.status == 0, "\(second.error)")
      let unnamed = try await flow.run("--set", "day=3")
      #expect(unnamed.status == 0, "\(unnamed.error)")
      let status = try await flow.flow("status", "f.json").text
      #expect(status.contains("run 3 of 'f'"), "\(status)")
      let one = try await flow.flow("status", "f.json", "--run", "one").text
      #expect(
        one.contains("run 1 (one) of 'f'") && one.hasPrefix("run 1 (one) of 'f', began at "),
        "\(one)")
      let two = try await flow.flow("log", "f.json", "a", "--run", "two").text
      #expect(two.hasSuffix("\n2\n"), "\(two)")
      let other = try await flow.flow("log", "f.json", "a", "--run", "other")
      #expect(other.error.contains("'a' has no log in run 'other'"), "\(other.error)")
      try flow.folder.write("", to: "go-1")
    }
    #expect(first.status == 0, "\(first.error)")
    for run in 1...3 {
      #expect(flow.output("a", inRun: run) == "\(run)\n")
    }
    let states = FlowFixture.stored(
      "SELECT number || ' ' || coalesce(name, '') || ' ' || state FROM flow_run", in: flow.journal)
    #expect(states == ["1 one succeeded", "2 two succeeded", "3  succeeded"])
  }

  /// The members of a run that `coop flow runs --json` prints.
  private struct Listed: Decodable, Equatable {
    var flow = "f"
    let run: Int
    var name: String?
    var values: [String: String]
    var selection: String?
    let state: String
    var reason: String?
    var process: Int32?
  }

  private func listed(_ flow: FlowFixture) async throws -> [Listed] {
    let printed = try await flow.flow("runs", "f.json", "--json")
    #expect(printed.status == 0, "\(printed.error)")
    return try printed.text.split(separator: "\n").map {
      try JSONDecoder().decode(Listed.self, from: Data($0.utf8))
    }
  }

  @Test func `L7: all runs are listed with names, values, states and processes`() async throws {
    let flow = try waiting()
    let none = try await flow.flow("runs", "f.json")
    #expect(none.text == "'f' has not run yet\n" && none.status == 0)
    #expect(try await listed(flow).isEmpty)
    for day in 2...3 { try flow.folder.write("", to: "go-\(day)") }
    try flow.write(#""a": {"run": "exit 3"}"#, head: #""values": {"day": "0"},"#)
    #expect(try await flow.run("--only", "a").status == 1)
    #expect(try await flow.run().status == 1)
    #expect(try await flow.run("--fresh").status == 1)
    try flow.write(Self.steps(), head: Self.head)
    var expected = [
      Listed(
        run: 1, values: ["day": "0"], selection: "--only a", state: "failed",
        reason: "1 step failed"),
      Listed(run: 2, values: ["day": "0"], state: "failed", reason: "1 step failed"),
      Listed(run: 3, values: ["day": "0"], state: "failed", reason: "1 step failed"),
    ]
    _ = try await flow.program(["run", "f.json", "--run", "one"]).run { process in
      try await wait(for: "began-1", of: flow, or: process)
      #expect(try await flow.run("--run", "two", "--set", "day=2").status == 0)
      expected += [
        Listed(run: 4, name: "one", values: ["day": "1"], state: "running", process: process),
        Listed(run: 5, name: "two", values: ["day": "2"], state: "succeeded"),
      ]
      #expect(try await listed(flow) == expected)
      let lines = try await flow.flow("runs", "f.json").text.split(separator: "\n")
      #expect(lines.count == 6 && lines[0].hasPrefix("run  name  began "), "\(lines)")
      #expect(lines[4].hasPrefix("  4  one   "), "\(lines)")
      #expect(lines[4].hasSuffix("  running in process \(process)  day=1"), "\(lines)")
      #expect(lines[1].hasSuffix("  day=0 with --only a"), "\(lines)")
      kill(process, SIGKILL)
      try await eventually { hasEnded(process) }
    }
    expected[3] = Listed(run: 4, name: "one", values: ["day": "1"], state: "interrupted")
    #expect(try await listed(flow) == expected)
    #expect(
      try await flow.flow("status", "f.json", "--run", "one").text.contains(": interrupted\n"))
    try flow.folder.write("", to: "go-1")
    #expect(try await flow.run("--run", "one").status == 0)
    expected[3] = Listed(run: 4, name: "one", values: ["day": "1"], state: "succeeded")
    #expect(try await listed(flow) == expected)
  }

  @Test func `L7: a run that another one replaces is listed with that run`() async throws {
    let flow = try waiting()
    _ = try await flow.program(["run", "f.json"]).run { process in
      try await wait(for: "began-1", of: flow, or: process)
      kill(process, SIGKILL)
    }
    try flow.folder.write("", to: "go-1")
    #expect(try await flow.run("--fresh").status == 0)
    let replaced = try #require(try await listed(flow).first)
    #expect(replaced.state == "cancelled" && replaced.reason == "run 2 replaces it")
    let printed = try await flow.flow("runs", "f.json").text
    #expect(printed.contains("  cancelled: run 2 replaces it  day=1\n"), "\(printed)")
  }

  @Test func `L7: a run with the name of a run in progress ends with status 75`() async throws {
    let flow = try waiting()
    let first = try await flow.program(["run", "f.json", "--run", "one"]).run { process in
      try await wait(for: "began-1", of: flow, or: process)
      for arguments in [["--run", "one"], ["--run", "one", "--fresh", "--set", "day=2"]] {
        let second = try await flow.program(["run", "f.json"] + arguments).run()
        #expect(second.status == 75)
        #expect(
          second.error.hasPrefix(
            "coop flow: run lock: run 'one' of 'f' is already running (pid \(process) since "),
          "\(second.error)")
      }
      try flow.folder.write("", to: "go-1")
    }
    #expect(first.status == 0, "\(first.error)")
  }

  /// The outputs of a run in progress, the outputs of another run, and the file that they share.
  static let outputs: [(String, String, String?)] = [
    (#"["x"]"#, #"["x"]"#, "x"), (#"["x"]"#, #"["y"]"#, nil), (#"["x"]"#, #"["xy"]"#, nil),
    (#"["d"]"#, #"["d/x"]"#, "d/x"), (#"["d/x"]"#, #"["./d"]"#, "d"),
    (#"["d/*.txt"]"#, #"["d/x.txt"]"#, "d/x.txt"), (#"["d/*.txt"]"#, #"["d/x.csv"]"#, nil),
    (#"["d/x.txt"]"#, #"["d/*.txt"]"#, "d/*.txt"), (#"["d/*-1"]"#, #"["d/*-2"]"#, nil),
    (#"["d/a*"]"#, #"["d/*b"]"#, "d/*b"), (#"["d/a*"]"#, #"["d/b*"]"#, nil),
    (#"["*.app"]"#, #"["Foo.app/Contents/*.plist"]"#, "Foo.app/Contents/*.plist"),
    (#"["d/**/*-1"]"#, #"["d/*-2"]"#, "d/*-2"), (#"["file-link"]"#, #"["d/file"]"#, "d/file"),
    (#"["d/*"]"#, #"["d/x/y"]"#, "d/x/y"), (#"["x"]"#, "[]", nil),
    (#"["link/x"]"#, #"["d/x"]"#, "d/x"), (#"["caf\u00e9"]"#, #"["cafe\u0301"]"#, nil),
  ]

  @Test(arguments: outputs)
  func `L7: a run that would write the outputs of a run in progress ends with status 75`(
    first: String, second: String, file: String?
  ) async throws {
    let flow = try FlowFixture("")
    try flow.folder.write("", to: "d/file")
    _ = try flow.folder.link("link", to: "d")
    _ = try flow.folder.link("file-link", to: "d/file")
    func write(_ outputs: String) throws {
      try flow.write(
        #""a": {"outputs": \#(outputs), "run": "touch began; while ! test -e go; do sleep 0.01; done; mkdir -p d; touch x y xy d/x.txt d/x.csv; false"}"#
      )
    }
    try write(first)
    _ = try await flow.program(["run", "f.json", "--run", "one"]).run { process in
      try await wait(for: "began", of: flow, or: process)
      try write(second)
      try flow.remove("began")
      // Without a conflict, the second run begins, too, until it is terminated.
      let result = try await flow.program(["run", "f.json", "--run", "two"]).run { second in
        try await wait(for: "began", of: flow, or: second)
        if !hasEnded(second) { kill(second, SIGTERM) }
      }
      if let file {
        #expect(result.status == 75, "\(result.error)")
        let path = flow.folder.url.resolvingSymlinksInPath().path + "/" + file
        #expect(result.error.contains("(one) of 'f' is in progress (pid \(process) since "))
        #expect(result.error.contains("and uses \(path), too"), "\(result.error)")
      } else {
        #expect(result.status == 143, "\(result.error)")
      }
      try flow.folder.write("", to: "go")
    }
  }

  @Test func `L7: children and outputs that a part of a flow reads are compared, too`() async throws
  {
    let flow = try FlowFixture(
      """
      "all": {"each": ["x", "y"], "outputs": ["${each}.out"], "run": "touch ${each}.out began; while ! test -e go; do sleep 0.01; done"},
      "y": {"outputs": ["other"], "run": "touch other", "needs": ["all"]}
      """)
    _ = try await flow.program(["run", "f.json", "--run", "one", "all"]).run { process in
      try await wait(for: "began", of: flow, or: process)
      let reader = try await flow.run("--only", "y")
      #expect(reader.status == 75, "\(reader.error)")
      #expect(reader.error.contains("/x.out, too"), "\(reader.error)")
      try flow.write(#""a": {"outputs": ["y.out"], "run": "touch y.out"}"#)
      let writer = try await flow.run("--run", "two")
      #expect(writer.status == 75, "\(writer.error)")
      try flow.folder.write("", to: "go")
    }
  }

  @Test func `L7: a killed run is continued while another run is in progress`() async throws {
    let flow = try waiting()
    let first = try await flow.program(["run", "f.json", "--run", "one"]).run { process in
      try await wait(for: "began-1", of: flow, or: process)
      _ = try await flow.program(["run", "f.json", "--run", "two", "--set", "day=2"]).run { other in
        try await wait(for: "began-2", of: flow, or: other)
        kill(other, SIGKILL)
        try await eventually { hasEnded(other) }
      }
      try flow.remove("began-2")
      let again = try await flow.program(["run", "f.json", "--run", "two", "--set", "day=2"]).run {
        try await wait(for: "began-2", of: flow, or: $0)
        try flow.folder.write("", to: "go-2")
      }
      #expect(again.status == 0, "\(again.error)")
      #expect(again.error.contains("terminating 1 command of an earlier run"), "\(again.error)")
      try flow.folder.write("", to: "go-1")
    }
    #expect(first.status == 0, "\(first.error)")
    // The command of the first run has run once, and to its end.
    #expect(flow.text(flow.log("a"))?.contains("attempt 2") == false)
  }

  @Test func `L7: the successes of a failed run count after a run with other values`() async throws
  {
    let flow = try FlowFixture(
      """
      "load": {"outputs": ["out-${day}"], "run": "echo load ${day} >> log; touch out-${day}"},
      "check": {"needs": ["load"], "run": "test -e ok-${day}"}
      """, head: #""values": {"day": "1"},"#)
    try flow.folder.write("", to: "ok-2")
    #expect(try await flow.run("--run", "one").status == 1)
    #expect(try await flow.run("--run", "two", "--set", "day=2").status == 0)
    try flow.folder.write("", to: "ok-1")
    let again = try await flow.run("--run", "one")
    #expect(again.status == 0, "\(again.error)")
    #expect(flow.lines("log") == ["load 1", "load 2"])
  }

  @Test func `L8: a flow in a copy of the folder leaves the commands of the original alone`()
    async throws
  {
    let flow = try waiting()
    let first = try await flow.program(["run", "f.json", "--run", "one"]).run { process in
      try await wait(for: "began-1", of: flow, or: process)
      // The copy has the command in its state, too.
      try await eventually {
        FlowFixture.stored("SELECT pid FROM flow_process", in: flow.journal).count == 1
          || hasEnded(process)
      }
      let copied = try TemporaryFolder()
      let script = "cp -a '\(flow.folder.path)/.' '\(copied.path)' && touch '\(copied.path)/go-2'"
      let shell = URL(fileURLWithPath: "/bin/sh")
      // Stopped, so that it does not write its state meanwhile.
      kill(process, SIGSTOP)
      let copy = try await Program(executable: shell, arguments: ["-c", script]).run()
      kill(process, SIGCONT)
      #expect(copy.status == 0, "\(copy.error)")
      var second = Program.coop(in: copied.url)
      second.arguments = ["flow", "run", "f.json", "--run", "two", "--set", "day=2"]
      let ended = try await second.run()
      #expect(ended.status == 0, "\(ended.error)")
      #expect(!ended.error.contains("terminating"), "\(ended.error)")
      try flow.folder.write("", to: "go-1")
    }
    #expect(first.status == 0, "\(first.error)")
  }

  /// `mv` copies a folder to another file system, and then removes it.
  @Test(arguments: ["stamp", "content"])
  func `L8: a folder that was copied names the commands of the original, and why steps run`(
    comparison: String
  ) async throws {
    let flow = try FlowFixture(
      """
      "in": {"inputs": ["data"], "outputs": ["in"], "run": "touch in"},
      "a": {"run": "touch began; until test -e go; do sleep 0.01; done", "needs": ["in"]}
      """, head: #""compare": "\#(comparison)","#)
    try flow.folder.write("", to: "data")
    let copied = try TemporaryFolder()
    let before = try await flow.program(["run", "f.json"]).run { process in
      try await wait(for: "began", of: flow, or: process)
      try await eventually {
        !FlowFixture.stored("SELECT pid FROM flow_process WHERE step = 'a'", in: flow.journal)
          .isEmpty
          || hasEnded(process)
      }
      kill(process, SIGKILL)
    }
    let left = try #require(
      FlowFixture.stored("SELECT pid || '' FROM flow_process", in: flow.journal).first
        .flatMap { Int32($0) }, "\(before.error)")
    defer { kill(-left, SIGKILL) }
    let script = "cp -a '\(flow.folder.path)/.' '\(copied.path)' && touch '\(copied.path)/go'"
    let copy = try await Program(
      executable: URL(fileURLWithPath: "/bin/sh"), arguments: ["-c", script]
    ).run()
    #expect(copy.status == 0, "\(copy.error)")
    func run(_ options: String...) async throws -> ProgramResult {
      var program = Program.coop(in: copied.url)
      program.arguments = ["flow", "run", "f.json"] + options
      return try await program.run()
    }
    let planned = try await run("--dry-run").text
    let reason = "in: its output in is another file with the same size and time, such as a copy\n"
    #expect(planned.hasPrefix(comparison == "stamp" ? reason : "a: "), "\(planned)")
    let printed = try await run()
    #expect(printed.status == 0, "\(printed.error)")
    let message =
      "'a' runs as process \(left), begun by the flow of another state, of which this one is a copy; if "
    #expect(printed.error.contains(message), "\(printed.error)")
    #expect(printed.error.contains("end it: kill -- -\(left)\n"), "\(printed.error)")
    #expect(kill(left, 0) == 0)
  }

  @Test func `L7: a run that has succeeded does nothing after runs with other values`() async throws
  {
    let flow = try FlowFixture(
      """
      "common": {"outputs": ["common"], "run": "echo common >> log; touch common"},
      "load": {"needs": ["common"], "outputs": ["out-${day}"], "run": "echo load ${day} >> log; touch out-${day}"},
      "mail": {"needs": ["load"], "run": "echo mail ${day} >> log"}
      """, head: #""values": {"day": "1"},"#)
    let days = ["1", "2", "3"]
    for day in days {
      #expect(try await flow.run("--run", "day-\(day)", "--set", "day=\(day)").status == 0)
    }
    let log = ["common"] + days.flatMap { ["load \($0)", "mail \($0)"] }
    #expect(flow.lines("log") == log)
    for day in days {
      let again = try await flow.run("--run", "day-\(day)", "--set", "day=\(day)")
      #expect(again.status == 0 && again.error.contains("has succeeded"), "\(again.error)")
      #expect(flow.lines("log") == log, "day-\(day)")
    }
    // Of a new run, what has outputs is up to date; with the same values, the last success counts.
    #expect(try await flow.run("--fresh", "--set", "day=2").status == 0)
    #expect(flow.lines("log") == log + ["mail 2"])
    try flow.folder.write("", to: "out-2")
    #expect(try await flow.run("--run", "day-2", "--set", "day=2").status == 0)
    #expect(flow.lines("log") == log + ["mail 2", "load 2", "mail 2"])
    // Another definition with the same values replaces it.
    let stored = "SELECT run FROM flow_success WHERE step = 'load' ORDER BY run"
    #expect(FlowFixture.stored(stored, in: flow.journal).count == 3)
  }

  @Test func `L7: a step after a group runs if a member used older successes`() async throws {
    let flow = try FlowFixture(
      """
      "a": {"outputs": ["a.out"], "compare": "content", "run": "echo ${mode} > a.out"},
      "b": {"outputs": ["b.out"], "run": "test -e ok; touch b.out"},
      "all": {"needs": ["a", "b"]},
      "g": {"needs": ["all"], "outputs": ["g.out"], "run": "cat a.out b.out > g.out"}
      """, head: #""values": {"mode": "debug"},"#)
    #expect(try await flow.run("--run", "one", "--keep-going").status == 1)
    try flow.folder.write("", to: "ok")
    #expect(try await flow.run("a", "--set", "mode=release").status == 0)
    #expect(try await flow.run("--run", "two", "--set", "mode=release").status == 0)
    #expect(flow.text("g.out") == "release\n")
    // The highest number is not that of the step that is older afterwards.
    let order = "SELECT step FROM flow_success WHERE run > 1 ORDER BY number"
    #expect(FlowFixture.stored(order, in: flow.journal) == ["a", "b", "g"])
    let again = try await flow.run("--run", "one")
    #expect(again.status == 0, "\(again.error)")
    #expect(flow.text("g.out") == "debug\n")
  }

  @Test func `L7: a run in progress is not too old to be continued`() async throws {
    let flow = try FlowFixture(
      #""a": {"run": "touch began; while ! test -e go; do sleep 0.01; done"}"#,
      head: #""resume-within": "1ms","#)
    let first = try await flow.program(["run", "f.json", "--run", "one"]).run { process in
      try await wait(for: "began", of: flow, or: process)
      let second = try await flow.run()
      #expect(second.status == 75, "\(second.error)")
      try flow.folder.write("", to: "go")
    }
    #expect(first.status == 0, "\(first.error)")
  }

  @Test func `L9: a lock of a run that cannot be read is an error`() async throws {
    let flow = try waiting()
    let first = try await flow.program(["run", "f.json", "--run", "one"]).run { process in
      try await wait(for: "began-1", of: flow, or: process)
      try flow.folder.write("", to: ".flow/f/runs/1/lock")
      let second = try await flow.run("--run", "two", "--set", "day=2")
      #expect(second.status == 1)
      #expect(
        second.error.contains(
          "/runs/1/lock cannot be read, so it is unknown which files this run in progress uses"),
        "\(second.error)")
      try flow.folder.write("", to: "go-1")
    }
    #expect(first.status == 0, "\(first.error)")
  }

  @Test func `L9: a process waits while another one begins a run, and says so`() async throws {
    let flow = try FlowFixture(#""a": {"run": "true"}"#)
    #expect(try await flow.run().status == 0)
    let path = flow.folder.path + "/.flow/f/run.lock"
    var lock = try FileLock.acquire(path, creating: false)
    #expect(lock != nil)
    let coop = Program.coop().executable.path
    var shell = try #require(
      Program.installed("sh", "-c", "'\(coop)' flow run f.json --fresh 2> err"))
    shell.folder = flow.folder.url
    let result = try await shell.run { process in
      try await eventually { flow.text("err")?.isEmpty == false || hasEnded(process) }
      withExtendedLifetime(lock) {}
      lock = nil
    }
    #expect(result.status == 0)
    #expect(flow.text("err")?.contains("which begins a run of 'f'\n") == true)
  }

  @Test func `L9: while the commands of on run, the run is in progress`() async throws {
    let flow = try FlowFixture(
      #""a": {"outputs": ["out"], "run": "touch out"}"#,
      head: #""on": {"success": "touch began; while ! test -e go; do sleep 0.01; done"},"#)
    for _ in 1...2 {
      let first = try await flow.program(["run", "f.json"]).run { process in
        try await wait(for: "began", of: flow, or: process)
        let second = try await flow.run()
        #expect(second.status == 75, "\(second.error)")
        try flow.folder.write("", to: "go")
      }
      #expect(first.status == 0, "\(first.error)")
      try flow.remove("go")
      try flow.remove("began")
    }
  }
}
