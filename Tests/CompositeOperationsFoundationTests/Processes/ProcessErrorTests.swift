import CompositeOperations
import CompositeOperationsFoundation
import CompositeOperationsTestKit
import Foundation
import Testing

@Suite(.timeLimit(.minutes(10))) struct ProcessErrorTests {
  @Test func `X3: a status that is not accepted is an error with the end of standard error`()
    async throws
  {
    let folder = try TestFolder()
    let error = try await #require(throws: ProcessExitError.self) {
      try await shell("echo out; echo 'no such thing' >&2; exit 3", "it's", in: folder.path)
        .run().get()
    }
    #expect(error.result.status == .exited(3))
    #expect(error.result.output.text == "out\n")
    #expect(error.lastErrorOutput == "no such thing\n")
    #expect(
      error.description == """
        /bin/sh -c 'echo out; echo '\\''no such thing'\\'' >&2; exit 3' sh 'it'\\''s' in \(folder.path) \
        ended with exit status 3:
          no such thing
        """)
  }

  @Test func `a signal is reported as the status`() async throws {
    let error = try await #require(throws: ProcessExitError.self) {
      try await shell("kill -KILL $$").run().get()
    }
    #expect(error.result.status == .signalled(.kill))
    #expect(
      error.description.hasSuffix("with signal SIGKILL (9) and wrote nothing to standard error"))
    #expect("\(ProcessSignal(rawValue: 63))" == "63")
  }

  @Test func `X3: a predicate decides which statuses are accepted`() async throws {
    let script = shell("exit $1", "1")
    #expect(try await script.accepting(exitCodes: 0, 1).run().get().status == .exited(1))
    await #expect(throws: ProcessExitError.self) {
      try await script.accepting(exitCodes: 0, 2).run().get()
    }
    await #expect(throws: ProcessExitError.self) {
      try await ProcessOperation("true").accepting { $0 != .exited(0) }.run().get()
    }
    let killed = shell("kill -TERM $$").accepting { $0 == .signalled(.terminate) }
    #expect(try await killed.run().get().status == .signalled(.terminate))
  }

  @Test func `the error has the end of standard error, however the output is kept`() async throws {
    let script = shell("seq 20000 >&2; echo last >&2; exit 1")
    let choices = [
      script, script.sendingErrorOutput(to: .kept(first: 3)),
      script.sendingErrorOutput(to: .kept(last: 3)), script.onErrorLine { _ in },
      script.mergingErrorOutput(), script.mergingErrorOutput().sendingOutput(to: .kept(last: 2)),
    ]
    for operation in choices {
      let error = try await #require(throws: ProcessExitError.self) {
        try await operation.run().get()
      }
      #expect(error.lastErrorOutput.hasSuffix("20000\nlast\n"))
      #expect(error.lastErrorOutput.utf8.count == 4_096)
      #expect(error.description.hasSuffix("\n  20000\n  last"))
      #expect(error.description.split(separator: "\n").count == 21)
    }
    let error = try await #require(throws: ProcessExitError.self) {
      try await script.sendingErrorOutput(to: .discarded).run().get()
    }
    #expect(error.lastErrorOutput.isEmpty)
  }

  @Test func `the description does not mention output that was not read`() async throws {
    let script = shell("echo told >&2; exit 1")
    let silent = shell("exit 1")
    let cases: [(ProcessOperation, String)] = [
      (silent, "status 1 and wrote nothing to standard error"),
      (silent.mergingErrorOutput(), "status 1 and wrote nothing to its outputs"),
      (script.sendingErrorOutput(to: .discarded), "status 1"),
      (script.sendingOutput(to: .discarded).mergingErrorOutput(), "status 1"),
    ]
    for (operation, end) in cases {
      let error = try await #require(throws: ProcessExitError.self) {
        try await operation.run().get()
      }
      #expect(error.description.hasSuffix(end), "\(error)")
    }
  }

  @Test func `a command with long arguments and control characters is shown on one line`()
    async throws
  {
    let arguments = [String(repeating: "x", count: 1_000), "a\n\u{1B}b", "", "ä/+", "e'e\t"]
    let error = try await #require(throws: ProcessExitError.self) {
      try await ProcessOperation("false", arguments: arguments).run().get()
    }
    let x = String(repeating: "x", count: 99)
    #expect(
      error.description.hasPrefix(#"false \#(x)… $'a\n\x1bb' '' ä/+ $'e\'e\t' ended with"#))
    let many = try await #require(throws: ProcessExitError.self) {
      try await ProcessOperation("false", arguments: (0..<1_000).map { "\($0)" }).run().get()
    }
    #expect(many.description.contains(" … ended with"))
    #expect(many.description.count < 700)
  }

  @Test func `X3: the error of a program that is not found lists the searched folders`()
    async throws
  {
    let operation = ProcessOperation("no-such-program", "x")
    let searched = try await launchError(of: operation.settingVariables(["PATH": "/a b::/c"]))
    #expect(searched.reason == .notFound(searched: ["/a b", ".", "/c"]))
    #expect(
      searched.description
        == "no-such-program x cannot be started: not found in PATH ('/a b', ., /c). "
        + "Install it, pass its path, or set PATH.")
    for environment in [
      operation.settingVariables(["PATH": nil]), operation.settingVariables(["PATH": ""]),
      operation.replacingVariables(with: [:]),
    ] {
      let error = try await launchError(of: environment)
      #expect(error.reason == .noPath)
      #expect(error.description.hasSuffix("Pass its path, or set PATH."))
    }
  }

  @Test func `the error of a file that cannot be executed states the reason`() async throws {
    let folder = try TestFolder()
    let plain = try folder.write("text", to: "plain")
    let noProgram = try folder.write("text", to: "no-program", permissions: 0o755)
    let script = try folder.write("#!/no/such/shell\n", to: "script", permissions: 0o755)
    let cases: [(String, ProcessLaunchError.Reason, String)] = [
      (folder.path(of: "missing"), .missing, "there is no file"),
      (plain + "/below", .missing, "Check the path"), (folder.path, .notAFile, "is not a file"),
      (plain, .notExecutable, "chmod +x"), (noProgram, .notAProgram, "such as sh"),
      (script, .noInterpreter, "Look at its first line"),
    ]
    for (path, reason, advice) in cases {
      let error = try await launchError(of: ProcessOperation(path))
      #expect(error.reason == reason)
      #expect(error.file == path)
      #expect(error.description.contains(path))
      #expect(error.description.contains(advice), "\(error)")
    }
    let found = try await launchError(
      of: ProcessOperation("plain").settingVariables(["PATH": "/nowhere:\(folder.path)"]))
    #expect(found.reason == .notExecutable)
    #expect(found.file == plain)
  }

  @Test func `an invalid working folder is an error that names it`() async throws {
    let folder = try TestFolder()
    let file = try folder.write("", to: "file")
    for (path, code) in [(folder.path(of: "none"), ENOENT), (file, ENOTDIR)] {
      for program in ["pwd", "/bin/pwd", "./pwd"] {
        let error = try await launchError(of: ProcessOperation(program, in: path))
        guard case .folder(path, let failure) = error.reason else { throw error }
        #expect(failure.code == code)
        #expect(error.description.contains("cannot run in \(path): "))
        #expect(error.description.hasSuffix("Use a folder that exists and is accessible."))
      }
    }
  }

  @Test func `a file that cannot be opened for input or output is an error with the remedy`()
    async throws
  {
    let folder = try TestFolder()
    let path = folder.path(of: "none/file")
    let input = try await launchError(of: ProcessOperation("cat").reading(.file(path)))
    #expect(input.description.hasSuffix("such file or directory. Use a readable file as input."))
    for destination in [ProcessOutput.Destination.file(path), .appended(to: path)] {
      for operation in [
        ProcessOperation("ls").sendingOutput(to: destination),
        ProcessOperation("ls").sendingErrorOutput(to: destination),
      ] {
        let error = try await launchError(of: operation)
        #expect(error.description.contains(path))
        #expect(error.description.hasSuffix("Create the folder first, or use another path."))
      }
    }
    let error = try await launchError(of: ProcessOperation("ls").sendingOutput(to: .file("/")))
    #expect(error.description.hasSuffix("Use the path of a file in that folder."))
  }

  @Test
  func `the error of an output that cannot be opened later either has no advice to try again`()
    async throws
  {
    let folder = try TestFolder()
    let link = folder.path(of: "link")
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "link")
    let cycle = try await launchError(of: ProcessOperation("ls").sendingOutput(to: .file(link)))
    #expect(
      cycle.description.hasSuffix("Check the symbolic links in the path, or use another path."))
    let long = folder.path(of: String(repeating: "x", count: 300))
    let name = try await launchError(of: ProcessOperation("ls").sendingOutput(to: .file(long)))
    #expect(name.description.hasSuffix("File name too long. Use a shorter path."))
    let program = try await launchError(of: ProcessOperation(folder.path(of: "link/ls")))
    #expect(!program.description.contains("ry again"), "\(program)")
  }

  @Test(.timeLimit(.minutes(10)))
  func `a folder and a pipe without a writer are errors as input`() async throws {
    let folder = try TestFolder()
    let unreadable = try await launchError(of: ProcessOperation("cat").reading(.file(folder.path)))
    #expect(unreadable.description.hasSuffix("Is a directory. Use a readable file as input."))
    let fifo = folder.path(of: "fifo")
    #expect(unsafe mkfifo(fifo, 0o600) == 0)
    let head = ProcessOperation("head", "-c", "4").reading(.file(fifo))
    let unwritten = try await launchError(of: head)
    #expect(unwritten.description.hasSuffix("Start its writer first."))
    let unread = try await launchError(of: head.sendingOutput(to: .file(fifo)).reading(.nothing))
    #expect(unread.description.hasSuffix("Start its reader first."))
    // A writer is enough, even if it has not written yet.
    let writer = opened(fifo, O_RDWR | O_NONBLOCK)
    defer { close(writer) }
    let launched = Gate()
    let run = head.onLaunch { _ in launched.open() }.start()
    try await launched.pass()
    #expect(wrote("text", to: writer))
    #expect(try await run.outcome.get().output.text == "text")
  }

  #if os(Linux)
    @Test(.timeLimit(.minutes(10)))
    func `a program that is open for writing is an error after a second of retries`() async throws {
      let folder = try TestFolder()
      let tool = try folder.write("#!/bin/sh\nexit 0\n", to: "tool", permissions: 0o755)
      let writer = opened(tool, O_WRONLY)
      let start = ContinuousClock.now
      let error = try await launchError(of: ProcessOperation(tool))
      #expect(start.duration(to: .now) >= .seconds(1))
      #expect(error.description.contains("The file is open for writing. Close it first"))
      close(writer)
      #expect(try await ProcessOperation(tool).run().get().status == .exited(0))
    }
  #endif

  @Test func `zero bytes, empty names and invalid variable names are errors`() async throws {
    let text = "a\0b"
    let ls = ProcessOperation("ls")
    let cases: [(ProcessOperation, ProcessLaunchError.Reason)] = [
      (ProcessOperation(""), .emptyName), (ProcessOperation(text), .zeroByte(in: .program)),
      (ProcessOperation("ls", "-l", text), .zeroByte(in: .argument(1))),
      (ProcessOperation("ls", in: text), .zeroByte(in: .folder)),
      (ls.settingVariables(["A": text]), .zeroByte(in: .variable("A"))),
      (ls.settingVariables([text: nil]), .zeroByte(in: .variable(text))),
      (ls.settingVariables(["": "x"]), .variableName("")),
      (ls.replacingVariables(with: ["A=B": "x"]), .variableName("A=B")),
      (ls.reading(.file(text)), .zeroByte(in: .path)),
      (ls.sendingOutput(to: .file(text)), .zeroByte(in: .path)),
      (ls.sendingErrorOutput(to: .appended(to: text)), .zeroByte(in: .path)),
    ]
    for (operation, reason) in cases {
      let error = try await launchError(of: operation)
      #expect(error.reason == reason)
      #expect(!error.description.contains("\0"))
    }
  }

  @Test func `arguments that are too long for the system are an error`() async throws {
    let argument = String(repeating: "x", count: 1 << 20)
    let error = try await launchError(
      of: ProcessOperation("true", arguments: Array(repeating: argument, count: 8)))
    #expect(error.reason == .tooLong)
    #expect(error.description.hasSuffix("Pass them in a file or as input."))
    #expect(error.description.utf8.count < 2_000)
  }

  private func launchError(of operation: ProcessOperation) async throws -> ProcessLaunchError {
    try await #require(throws: ProcessLaunchError.self) { try await operation.run().get() }
  }
}
