import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct RunTests {
  @Test func `each line has the name of its command as a prefix, and stays on its stream`()
    async throws
  {
    let printed = try await Program.devApp(
      "run", "--", "sh", "-c", "echo out; echo error >&2; printf rest", "---", "echo", "--help me"
    ).run()
    #expect(printed.status == 0)
    #expect(Set(lines(printed)) == ["[sh] out", "[sh] rest", "[echo] --help me"])
    #expect(printed.error == "[sh] error\n")
  }

  @Test func `commands of the same program are numbered`() async throws {
    let printed = try await Program.devApp(
      "run", "--width", "1", "--", "/bin/echo", "a", "---", "echo", "b", "---", "printf", "c"
    ).run()
    #expect(lines(printed) == ["[echo#1] a", "[echo#2] b", "[printf] c"])
  }

  @Test func `--grouped prints the output of each command as a whole`() async throws {
    let printed = try await Program.devApp(
      "run", "--grouped", "--width", "2", "--", "sh", "-c", "echo 1; sleep 0.1; echo 2 >&2; echo 3",
      "---", "printf", "4"
    ).run()
    #expect(printed.status == 0)
    let text = printed.text
    #expect(text.contains("[sh]\n1\n2\n3\n"), "\(text)")
    #expect(text.contains("[printf]\n4\n"), "\(text)")
  }

  @Test func `the first failure ends the running commands, and no further command begins`()
    async throws
  {
    let printed = try await Program.devApp(
      "run", "--width", "2", "--", "sleep", "3600", "---", "sh", "-c", "exit 3", "---", "echo",
      "late"
    ).run()
    #expect(printed.status == 1)
    #expect(printed.output.isEmpty)
    #expect(
      printed.error == """
        DevApp run: sh: exit status 3
        DevApp run: 1 of 3 commands failed, 1 terminated as a result, 1 not started

        """)
  }

  @Test(arguments: [[], ["--grouped"]])
  func `--keep-going runs all commands and lists the failures`(option: [String]) async throws {
    var program = Program.devApp()
    program.arguments =
      ["run"] + option + ["--width", "1", "--keep-going", "--", "false", "---", "no-such-program"]
      + ["---", "sh", "-c", "kill -9 $$", "---", "echo", "late"]
    let printed = try await program.run()
    #expect(printed.status == 1)
    #expect(printed.text.hasSuffix(option.isEmpty ? "[echo] late\n" : "[echo]\nlate\n"))
    let reported = printed.error.split(separator: "\n")
    #expect(reported.count == 4)
    #expect(reported[0] == "DevApp run: false: exit status 1")
    #expect(
      reported[1].hasPrefix("DevApp run: no-such-program: no-such-program cannot be started: "))
    #expect(reported[2] == "DevApp run: sh: signal SIGKILL (9)")
    #expect(reported[3] == "DevApp run: 3 of 4 commands failed")
  }

  @Test(arguments: [[], ["--grouped"]])
  func `--timeout terminates a command, which counts as failed`(option: [String]) async throws {
    var program = Program.devApp()
    program.arguments =
      ["run", "--timeout", "0.2"] + option + ["--", "sleep", "3600"]
    let printed = try await program.run()
    #expect(printed.status == 1)
    #expect(
      printed.error == """
        DevApp run: sleep: terminated by the timeout of 0.2 seconds
        DevApp run: 1 of 1 command failed

        """)
  }

  @Test(arguments: [
    (["run"], "no COMMAND; expected"), (["run", "--"], "no COMMAND; expected"),
    (["run", "--width", "2"], "no COMMAND; expected"),
    (["run", "--", "a", "---"], "COMMAND 2 is empty; expected a program"),
    (["run", "--", "a", "---", "---", "b"], "COMMAND 2 is empty; expected a program"),
    (["run", "--", "", "b"], "COMMAND 1 is empty; expected a program"),
    (["run", "ls"], "unexpected argument ls; expected --width"),
    (["run", "--width", "0", "--", "ls"], "invalid width 0; expected a number >= 1"),
    (["run", "--width", "two"], "invalid width two; expected"),
    (["run", "--width"], "--width without"),
    (["run", "--timeout", "0", "--", "ls"], "invalid timeout 0; expected seconds"),
    (["run", "--timeout", "nan", "--", "ls"], "invalid timeout nan; expected seconds"),
    (["run", "--timeout"], "--timeout without a number; expected seconds"),
  ])
  func `invalid arguments are reported in one line with the expected ones`(
    arguments: [String], message: String
  ) async throws {
    var program = Program.devApp()
    program.arguments = arguments
    let printed = try await program.run()
    #expect(printed.status == 64)
    #expect(printed.output.isEmpty)
    #expect(printed.error.contains(message), "\(printed.error)")
    #expect(printed.error.split(separator: "\n").count == 1)
  }

  @Test func `--trace and --timeline show the commands`() async throws {
    let folder = try TemporaryFolder()
    let trace = folder.url.appendingPathComponent("run.txt")
    let timeline = folder.url.appendingPathComponent("run.svg")
    let printed = try await Program.devApp(
      "run", "--trace", trace.path, "--timeline", timeline.path, "--", "true", "---", "echo", "a"
    ).run()
    #expect(printed.status == 0)
    for file in [trace, timeline] {
      let text = try String(contentsOf: file, encoding: .utf8)
      #expect(text.contains("true") && text.contains("echo"), "\(text)")
    }
  }

  @Test func `a trace that is written to a pipe is written once`() async throws {
    let devApp = Program.devApp().executable.path
    let line = "'\(devApp)' run --trace /dev/stdout -- true | cat"
    let printed = try await Program(
      executable: URL(fileURLWithPath: "/bin/sh"), arguments: ["-c", line]
    ).run()
    // Nothing precedes the first line, which begins with a time.
    #expect(printed.text.hasPrefix(" ") && printed.text.contains(" true "), "\(printed.text)")
  }

  /// A script that writes its process identifier and its child's into a file, prints `ready` and
  /// waits.
  private static let waitingScript = """
    sleep 3600 & echo $$ $! > "$1.new"; mv "$1.new" "$1"; echo ready; wait
    """

  @Test(.timeLimit(.minutes(10)), arguments: terminationSignals)
  func `Ctrl-C and other signals end the commands`(signal: Int32) async throws {
    let folder = try TemporaryFolder()
    let file = folder.url.appendingPathComponent("running")
    let printed = try await Program.devApp(
      "run", "--", "sh", "-c", Self.waitingScript, "sh", file.path
    ).run { process in
      try await eventually { FileManager.default.fileExists(atPath: file.path) }
      kill(process, signal)
    }
    #expect(printed.status == 128 + signal)
    #expect(printed.error == "DevApp run: interrupted\n")
    let left = try identifiers(in: file)
    #expect(left.count == 2)
    for identifier in left { #expect(!isAlive(identifier)) }
  }

  #if os(Linux)
    @Test(.timeLimit(.minutes(10)))
    func `a program that waits for a reader of its trace is ended by a signal`() async throws {
      let folder = try TemporaryFolder()
      let pipe = folder.url.appendingPathComponent("trace")
      #expect(unsafe mkfifo(pipe.path, 0o600) == 0)
      let go = folder.url.appendingPathComponent("go").path
      let printed = try await Program.devApp(
        "run", "--trace", pipe.path, "--",
        "sh", "-c", "while ! test -e '\(go)'; do sleep 0.01; done"
      ).run { process in
        // The program first catches the signal, and at the end of the flow no longer does.
        try await eventually { signals("SigCgt", of: process).contains(SIGTERM) }
        try folder.write("", to: "go")
        try await eventually { !signals("SigCgt", of: process).contains(SIGTERM) }
        kill(process, SIGTERM)
      }
      // The signal itself ended the program, because it is no longer caught.
      #expect(printed.status == SIGTERM)
    }
  #endif

  @Test(.timeLimit(.minutes(10)))
  func `a second Ctrl-C kills the commands`() async throws {
    let folder = try TemporaryFolder()
    let file = folder.url.appendingPathComponent("running")
    let output = folder.url.appendingPathComponent("output")
    var program = Program.devApp(
      "run", "--", "sh", "-c", "trap '' TERM; " + Self.waitingScript, "sh", file.path)
    program.output = output
    let printed = try await program.run { process in
      try await eventually {
        (try? String(contentsOf: output, encoding: .utf8))?.contains("ready") == true
      }
      try await eventually {
        if isAlive(process) { kill(process, SIGINT) }
        return !isAlive(process)
      }
    }
    #expect(printed.status == 130)
    // After the first signal alone, the program prints an error when it ends.
    #expect(printed.error.isEmpty)
    let left = try identifiers(in: file)
    #expect(left.count == 2)
    try await eventually { !left.contains(where: isAlive) }
  }

  @Test(.timeLimit(.minutes(10)))
  func `the commands end when the reader of their lines closes the pipe`() async throws {
    let folder = try TemporaryFolder()
    let file = folder.url.appendingPathComponent("running")
    let script = """
      sleep 3600 & echo $$ $! > "$1.new"; mv "$1.new" "$1"
      while :; do echo line; sleep 0.01; done
      """
    let program = Program(
      executable: URL(fileURLWithPath: "/bin/sh"),
      arguments: [
        "-c", #""$1" run -- sh -c "$2" sh "$3" | head -n 1"#, "sh",
        Program.devApp().executable.path, script, file.path,
      ])
    let printed = try await program.run()
    #expect(printed.text == "[sh] line\n")
    #expect(printed.error.contains("DevApp run: 1 of 1 command failed"), "\(printed.error)")
    let left = try identifiers(in: file)
    #expect(left.count == 2)
    try await eventually { !left.contains(where: isAlive) }
  }

  @Test(.timeLimit(.minutes(10)))
  func `--grouped prints what a command wrote before it was ended`() async throws {
    let folder = try TemporaryFolder()
    let file = folder.url.appendingPathComponent("running")
    let program = Program.devApp(
      "run", "--grouped", "--", "sh", "-c", "echo begun; touch \"$1\"; sleep 3600", "sh",
      file.path)
    let printed = try await program.run { process in
      try await eventually { FileManager.default.fileExists(atPath: file.path) }
      kill(process, SIGINT)
    }
    #expect(printed.status == 130)
    #expect(printed.text == "[sh]\nbegun\n")
  }

  @Test(.timeLimit(.minutes(10)))
  func `failures before a Ctrl-C are listed`() async throws {
    let folder = try TemporaryFolder()
    let file = folder.url.appendingPathComponent("running")
    let program = Program.devApp(
      "run", "--keep-going", "--width", "1", "--", "false", "---", "sh", "-c",
      "touch \"$1\"; sleep 3600", "sh", file.path, "---", "true")
    let printed = try await program.run { process in
      try await eventually { FileManager.default.fileExists(atPath: file.path) }
      kill(process, SIGINT)
    }
    #expect(printed.status == 130)
    #expect(
      printed.error == """
        DevApp run: false: exit status 1
        DevApp run: 1 of 3 commands failed, 1 terminated by the signal, 1 not started
        DevApp run: interrupted

        """)
  }

  @Test(arguments: [[], ["--grouped"]])
  func `output that is kept open is reported as cut off`(option: [String]) async throws {
    var program = Program.devApp()
    program.arguments = ["run"] + option + ["--", "sh", "-c", "sleep 3600 & echo $!"]
    let printed = try await program.run()
    #expect(printed.status == 0)
    #expect(printed.error.hasPrefix("[sh] output cut off"), "\(printed.error)")
    let words = printed.text.split { $0 == " " || $0.isNewline }
    kill(try #require(words.last.flatMap { Int32($0) }), SIGKILL)
  }

  @Test func `help goes to standard output`() async throws {
    let printed = try await Program.devApp("run", "--help").run()
    #expect(printed.status == 0)
    #expect(printed.text.hasPrefix("usage: DevApp run"))
  }

  private func lines(_ printed: ProgramResult) -> [String] {
    printed.text.split(separator: "\n").map(String.init)
  }

  private func identifiers(in file: URL) throws -> [Int32] {
    try String(contentsOf: file, encoding: .utf8).split { $0 == " " || $0.isNewline }
      .compactMap { Int32($0) }
  }
}

/// Whether a process with this identifier exists and, on Linux, has not ended.
private func isAlive(_ identifier: Int32) -> Bool {
  #if os(Linux)
    let line = try? String(contentsOfFile: "/proc/\(identifier)/stat", encoding: .utf8)
    let state = line?.split(separator: ")").last?.split(separator: " ").first
    return state.map { $0 != "Z" && $0 != "X" } ?? false
  #else
    return kill(identifier, 0) == 0
  #endif
}
