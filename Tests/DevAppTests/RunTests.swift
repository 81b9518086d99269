import Foundation
import Testing

@Suite struct RunTests {
  @Test func `lines come behind the name of their command, each on its stream`() async throws {
    let printed = try await Program.devApp(
      "run", "--", "sh", "-c", "echo out; echo error >&2; printf rest", "---", "echo", "--help me"
    ).run()
    #expect(printed.status == 0)
    #expect(Set(lines(printed)) == ["[sh] out", "[sh] rest", "[echo] --help me"])
    #expect(printed.error == "[sh] error\n")
  }

  @Test func `commands of the same program have numbers`() async throws {
    let printed = try await Program.devApp(
      "run", "--width", "1", "--", "/bin/echo", "a", "---", "echo", "b", "---", "printf", "c"
    ).run()
    #expect(lines(printed) == ["[echo#1] a", "[echo#2] b", "[printf] c"])
  }

  @Test func `groups come in one piece`() async throws {
    let printed = try await Program.devApp(
      "run", "--grouped", "--width", "2", "--", "sh", "-c", "echo 1; sleep 0.1; echo 2 >&2; echo 3",
      "---", "printf", "4"
    ).run()
    #expect(printed.status == 0)
    let text = printed.text
    #expect(text.contains("[sh]\n1\n2\n3\n"), "\(text)")
    #expect(text.contains("[printf]\n4\n"), "\(text)")
  }

  @Test func `the first failure ends the others, and those that are left do not begin`()
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
        DevApp run: 1 of 3 commands failed, 1 ended because of that, 1 not begun

        """)
  }

  @Test(arguments: [[], ["--grouped"]])
  func `--keep-going runs all and lists what failed`(option: [String]) async throws {
    var program = Program.devApp()
    program.arguments =
      ["run"] + option + ["--width", "1", "--keep-going", "--", "false", "---", "no-such-program"]
      + ["---", "sh", "-c", "kill -9 $$", "---", "echo", "late"]
    let printed = try await program.run()
    #expect(printed.status == 1)
    #expect(printed.text.hasSuffix(option.isEmpty ? "[echo] late\n" : "[echo]\nlate\n"))
    let told = printed.error.split(separator: "\n")
    #expect(told.count == 4)
    #expect(told[0] == "DevApp run: false: exit status 1")
    #expect(told[1].hasPrefix("DevApp run: no-such-program: no-such-program cannot be started: "))
    #expect(told[2] == "DevApp run: sh: signal SIGKILL (9)")
    #expect(told[3] == "DevApp run: 3 of 4 commands failed")
  }

  @Test(arguments: [
    (["run"], "no COMMAND; expected"), (["run", "--"], "no COMMAND; expected"),
    (["run", "--width", "2"], "no COMMAND; expected"),
    (["run", "--", "a", "---"], "COMMAND 2 is empty; expected a program"),
    (["run", "--", "a", "---", "---", "b"], "COMMAND 2 is empty; expected a program"),
    (["run", "--", "", "b"], "COMMAND 1 is empty; expected a program"),
    (["run", "ls"], "unexpected argument ls; expected --width"),
    (["run", "--width", "0", "--", "ls"], "the width 0; expected a number from 1"),
    (["run", "--width", "two"], "the width two; expected"),
    (["run", "--width"], "--width without"),
  ])
  func `wrong arguments get one line that says what was expected`(
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

  @Test(.timeLimit(.minutes(10)))
  func `Ctrl-C ends the commands`() async throws {
    let folder = try TemporaryFolder()
    let file = folder.url.appendingPathComponent("running")
    let printed = try await Program.devApp(
      "run", "--", "sh", "-c", "touch \"$1\"; sleep 3600", "sh", file.path
    ).run { process in
      await eventually { FileManager.default.fileExists(atPath: file.path) }
      kill(process, SIGINT)
    }
    #expect(printed.status == 130)
    #expect(printed.error == "DevApp run: interrupted\n")
  }

  @Test func `help goes to standard output`() async throws {
    let printed = try await Program.devApp("run", "--help").run()
    #expect(printed.status == 0)
    #expect(printed.text.hasPrefix("usage: DevApp run"))
  }

  private func lines(_ printed: Printed) -> [String] {
    printed.text.split(separator: "\n").map(String.init)
  }
}
