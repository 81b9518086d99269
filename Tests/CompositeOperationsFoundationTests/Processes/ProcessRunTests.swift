import CompositeOperations
import CompositeOperationsFoundation
import Foundation
import Testing

@Suite(.timeLimit(.minutes(10))) struct ProcessRunTests {
  @Test func `arguments are passed to the program unchanged`() async throws {
    let arguments = ["a b", "", "$HOME", "*", "'\"`;|&<>", "new\nline", "\\", "ä€😀", "-n"]
    let result = try await ProcessOperation("printf", arguments: ["[%s]"] + arguments).run().get()
    #expect(result.output.text == arguments.map { "[\($0)]" }.joined())
    #expect(result.errorOutput.text.isEmpty)
    #expect(result.status == .exited(0))
  }

  @Test func `arguments need not be UTF-8, and messages show their bytes`() async throws {
    let arguments: [[UInt8]] = [Array("[%s]".utf8), [0xFF, 0x66, 0x80], Array("ä".utf8), []]
    let operation = ProcessOperation("printf", rawArguments: arguments)
    let expected = arguments.dropFirst().map { Array("[".utf8) + $0 + Array("]".utf8) }.joined()
    #expect(try await operation.run().get().output.bytes == Array(expected))
    #expect(operation.arguments == ["[%s]", "\u{FFFD}f\u{FFFD}", "ä", ""])
    #expect(operation.rawArguments == arguments)
    let error = try await #require(throws: ProcessExitError.self) {
      try await ProcessOperation("false", rawArguments: arguments).run().get()
    }
    #expect(error.description.hasPrefix(#"false '[%s]' $'\xfff\x80' ä '' ended with"#))
    let zero = try await #require(throws: ProcessLaunchError.self) {
      try await ProcessOperation("true", rawArguments: [[1], [0]]).run().get()
    }
    #expect(zero.reason == .zeroByte(in: .argument(1)))
  }

  @Test func `an operation can run repeatedly`() async throws {
    let operation = ProcessOperation("echo", "again")
    for _ in 0..<3 { #expect(try await operation.run().get().output.text == "again\n") }
    #expect(operation.operationName == "echo")
    #expect(ProcessOperation("/bin/echo").operationName == "echo")
  }

  @Test func `outputs are kept separately, or merged in order`() async throws {
    let script = shell("echo 1; echo 2 >&2; echo 3; echo 4 >&2")
    let apart = try await script.run().get()
    #expect(apart.output.lines == ["1", "3"])
    #expect(apart.errorOutput.lines == ["2", "4"])
    let together = try await script.mergingErrorOutput().run().get()
    #expect(together.output.lines == ["1", "2", "3", "4"])
    #expect(together.errorOutput.bytes.isEmpty)
  }

  @Test func `the working folder applies only to the program`() async throws {
    let folder = try TestFolder()
    let before = FileManager.default.currentDirectoryPath
    let result = try await ProcessOperation("pwd", "-P", in: folder.path).run().get()
    #expect(result.output.lines == [folder.path])
    #expect(FileManager.default.currentDirectoryPath == before)
  }

  @Test func `a relative path is relative to the working folder`() async throws {
    let folder = try TestFolder()
    try folder.write("#!/bin/sh\necho found", to: "tool", permissions: 0o755)
    let result = try await ProcessOperation("./tool", in: folder.path).run().get()
    #expect(result.output.lines == ["found"])
  }

  @Test func `variables are inherited, set, removed or replaced`() async throws {
    let print = shell(#"echo "${HOME-none} ${A-none} ${B-none}""#)
    let home = try #require(ProcessInfo.processInfo.environment["HOME"])
    #expect(try await print.run().get().output.lines == ["\(home) none none"])
    let changed = print.settingVariables(["A": "x = y", "HOME": nil])
    #expect(try await changed.run().get().output.lines == ["none x = y none"])
    let twice = changed.settingVariables(["A": "z", "B": "ü"])
    #expect(try await twice.run().get().output.lines == ["none z ü"])
    let env = ProcessOperation("/usr/bin/env").replacingVariables(with: ["B": "1"])
    #expect(try await env.run().get().output.lines == ["B=1"])
    let more = env.settingVariables(["B": nil, "C": "2"])
    #expect(try await more.run().get().output.lines == ["C=2"])
    let nothing = env.replacingVariables(with: [:])
    #expect(try await nothing.run().get().output.bytes.isEmpty)
  }

  @Test func `variables that are not UTF-8 are inherited unchanged`() async throws {
    // Set in a child process, so that no other test sees the variable.
    let script = """
      export ODD="$(printf '\\377')"
      exec env ODD2=1 sh -c 'printf %s "$ODD"'
      """
    let result = try await shell(script).settingVariables(["A": "1"]).run().get()
    #expect(result.output.bytes == [0xFF])
  }

  @Test func `a name is searched in the PATH that the program receives`() async throws {
    let folder = try TestFolder()
    for (place, permissions) in [("first", 0o644), ("second", 0o755), ("third", 0o755)] {
      let path = folder.path(of: place)
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
      try folder.write("#!/bin/sh\necho \(place)", to: "\(place)/tool", permissions: permissions)
    }
    // A folder with the name is not a program.
    let path = folder.path(of: "zeroth/tool")
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    let places = ["zeroth", "first", "second", "third"].map { folder.path(of: $0) }
    let tool = ProcessOperation("tool")
      .settingVariables(["PATH": places.joined(separator: ":")])
    #expect(try await tool.run().get().output.lines == ["second"])
    let inFolder = ProcessOperation("tool", in: folder.path(of: "third"))
    for path in [".", "", ":/nowhere", "../third"] where !path.isEmpty {
      let result = try await inFolder.settingVariables(["PATH": path]).run().get()
      #expect(result.output.lines == ["third"], "\(path)")
    }
  }

  @Test func `a program reads nothing, bytes, a text or a file`() async throws {
    let cat = ProcessOperation("cat")
    #expect(try await cat.run().get().output.bytes.isEmpty)
    let bytes: [UInt8] = [0, 255, 10, 13, 0]
    #expect(try await cat.reading(.bytes(bytes)).run().get().output.bytes == bytes)
    #expect(try await cat.reading(.text("ä")).run().get().output.text == "ä")
    #expect(try await cat.reading(.text("")).run().get().output.bytes.isEmpty)
    let folder = try TestFolder()
    let file = try folder.write("in the file", to: "file")
    #expect(try await cat.reading(.file(file)).run().get().output.text == "in the file")
  }

  @Test func `large input and output are transferred at the same time`() async throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = SeededNumbers(seed: seed)
    // Many times the size of a pipe.
    let block = (0..<65_537).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    let input = Array(repeatElement(block, count: 100).joined())
    let result = try await ProcessOperation("cat").reading(.bytes(input)).run().get()
    #expect(result.output.bytes == input, "seed \(seed)")
    #expect(result.output.isComplete)
  }

  @Test func `a program that does not read all of its input is not an error`() async throws {
    let input = [UInt8](repeating: 10, count: 4 << 20)
    for _ in 0..<20 {
      let result = try await ProcessOperation("true").reading(.bytes(input)).run().get()
      #expect(result.status == .exited(0))
    }
    let closes = shell("exec <&-; echo closed").reading(.bytes(input))
    #expect(try await closes.run().get().output.lines == ["closed"])
    let head = ProcessOperation("head", "-c", "5").reading(.bytes(input))
    #expect(try await head.run().get().output.bytes.count == 5)
  }

  @Test func `output is written to a file, appended to it, or discarded`() async throws {
    let folder = try TestFolder()
    let file = folder.path(of: "file")
    let script = shell("echo out; echo error >&2")
    let apart = script.sendingOutput(to: .file(file)).sendingErrorOutput(to: .discarded)
    let result = try await apart.run().get()
    #expect(result.output.bytes.isEmpty && result.errorOutput.bytes.isEmpty)
    #expect(try folder.text(of: "file") == "out\n")
    _ = try await apart.run().get()
    #expect(try folder.text(of: "file") == "out\n")
    let merged = script.sendingOutput(to: .appended(to: file)).mergingErrorOutput()
    _ = try await merged.run().get()
    #expect(try folder.text(of: "file") == "out\nout\nerror\n")
    let both = script.sendingOutput(to: .file(file)).sendingErrorOutput(to: .file(file))
    _ = try await both.run().get()
    #expect(try folder.text(of: "file") == "out\nerror\n")
  }

  @Test func `output can be inherited from this process`() async throws {
    let link = ProcessOperation("readlink", "/proc/self/fd/1").sendingErrorOutput(to: .inherited)
    let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/2")
    let script = shell("readlink /proc/$$/fd/2").sendingErrorOutput(to: .inherited)
    #expect(try await script.run().get().output.lines == [own])
    #expect(try await link.run().get().output.lines.first?.hasPrefix("pipe:") == true)
    #expect(try await link.sendingOutput(to: .inherited).run().get().output.bytes.isEmpty)
  }

  @Test func `a program inherits no other descriptor and ignores no signal`() async throws {
    let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: "/dev/null"))
    // Without close-on-exec, as code that ignores child processes opens it.
    #expect(fcntl(file.fileDescriptor, F_SETFD, 0) == 0)
    // The fourth descriptor is the folder that `ls` lists.
    let result = try await ProcessOperation("ls", "/proc/self/fd").run().get()
    #expect(result.output.lines == ["0", "1", "2", "3"])
    let before = signal(SIGUSR2, SIG_IGN)
    defer { signal(SIGUSR2, before) }
    let end = try await shell("kill -USR2 $$; echo survived").accepting { _ in true }.run().get()
    #expect(end.status == .signalled(.user2))
    try file.close()
  }
}
