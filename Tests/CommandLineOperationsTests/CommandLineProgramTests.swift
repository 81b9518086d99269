import CommandLineOperations
import SystemSupport
import Testing

@Suite struct CommandLineProgramTests {
  private struct Failure: Error, CustomStringConvertible { let description = "it is broken" }

  /// A program with a command that exits with the number of its arguments, and others.
  private let program = CommandLineProgram(
    "tool", usage: "usage: tool COMMAND",
    commands: [
      .init("count", usage: "usage: tool count") { Int32($0.count) },
      .init(
        "list", usage: "usage: tool list",
        subcommands: [.init("all", usage: "usage: tool list all") { 100 + Int32($0.count) }]
      ) { 10 + Int32($0.count) },
      .init("fail", usage: "usage: tool fail") { _ in throw Failure() },
      .init("reject", usage: "usage: tool reject") { arguments in
        throw UsageError("reject: unexpected \(arguments.first ?? "nothing")")
      },
    ])

  @Test(
    arguments: [
      (["count"], 0), (["count", "a", "b"], 2), (["count", "count", "list"], 2), (["list"], 10),
      (["list", "a", "all"], 12), (["list", "all"], 100), (["list", "all", "a"], 101),
    ] as [([String], Int32)])
  func `the first arguments select the command, which receives the others`(
    arguments: [String], status: Int32
  ) async {
    #expect(await program.status(of: arguments.map { RawPath($0) }[...]) == status)
  }

  @Test func `arguments that are not UTF-8 reach the command`() async throws {
    let echo = CommandLineProgram(
      "tool", usage: "",
      commands: [.init("echo", usage: "") { Int32($0.first?.bytes.last ?? 0) }])
    #expect(try await echo.run("echo", RawPath(bytes: [0x66, 0xFF])).status == 0xFF)
  }

  @Test func `a missing or unknown command is a usage error that lists the commands`() async throws
  {
    #expect(
      try await program.run()
        == .init(status: 64, error: "tool: no command; expected count, list, fail or reject\n"))
    #expect(
      try await program.run("dance", "count")
        == .init(
          status: 64,
          error: "tool: unknown command dance; expected count, list, fail or reject\n"))
    #expect(
      try await program.run(RawPath(bytes: [0xFF, 0x0A])).error
        == "tool: unknown command $'\\xff\\n'; expected count, list, fail or reject\n")
    let single = CommandLineProgram(
      "one", usage: "", commands: [.init("count", usage: "") { _ in 0 }])
    #expect(try await single.run().error == "one: no command; expected count\n")
  }

  @Test(arguments: ["--help", "-h", "help"])
  func `help without a command prints the usage of the program`(argument: String) async throws {
    #expect(
      try await program.run(RawPath(argument), "x")
        == .init(status: 0, output: "usage: tool COMMAND\n"))
  }

  @Test(arguments: ["--help", "-h"])
  func `help after a command prints its usage instead of running it`(argument: String) async throws
  {
    let help = RawPath(argument)
    #expect(
      try await program.run("count", "a", help) == .init(status: 0, output: "usage: tool count\n"))
    #expect(
      try await program.run("fail", help, "a") == .init(status: 0, output: "usage: tool fail\n"))
    #expect(
      try await program.run("list", help, "all") == .init(status: 0, output: "usage: tool list\n"))
    #expect(
      try await program.run("list", "all", help)
        == .init(status: 0, output: "usage: tool list all\n"))
    #expect(try await program.run("count", "--", help) == .init(status: 2))
  }

  @Test func `an error is printed after the name, and its kind is the status`() async throws {
    #expect(
      try await program.run("fail") == .init(status: 1, error: "tool: it is broken\n"))
    #expect(
      try await program.run("reject", "a")
        == .init(status: 64, error: "tool: reject: unexpected a\n"))
  }

  #if os(Linux)
    @Test func `help that cannot be written is an error with its reason`() async throws {
      let full = try FileDescriptor.open("/dev/full", .writeOnly)
      defer { try? full.close() }
      let error = try CapturedStream()
      for arguments in [["--help"], ["count", "--help"]] as [ArraySlice<RawPath>] {
        let status = await program.status(
          of: arguments, output: StandardOutput(full), errorOutput: StandardError(error.descriptor))
        #expect(status == 1)
      }
      let line = "tool: No space left on device\n"
      #expect(try error.text == line + line)
    }
  #endif

  @Test func `the status of a signal is that of a shell`() {
    #expect(ExitStatus.signalled(by: 2) == 130)
    #expect(ExitStatus.signalled(by: 15) == 143)
  }
}
