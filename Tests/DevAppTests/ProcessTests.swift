import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct ProcessTests {
  @Test(arguments: [
    ([], "no command; expected"), (["dance"], "unknown command dance; expected"),
    (["a\nb"], "unknown command $'a\\nb'; expected"),
    (["duplicates"], "no PATH; expected"), (["duplicates", ""], "an empty PATH; expected"),
    (["duplicates", "--fast", "."], "unknown option --fast; expected"),
    (["tour", "twice"], "unexpected argument twice; expected --trace or --timeline"),
  ])
  func `invalid arguments are reported in one line with the expected ones`(
    arguments: [String], message: String
  ) async throws {
    let program = Program(executable: Program.devApp().executable, arguments: arguments)
    let printed = try await program.run()
    #expect(printed.status == 64)
    #expect(printed.output.isEmpty)
    #expect(printed.error.contains(message))
    #expect(printed.error.split(separator: "\n").count == 1)
  }

  @Test func `a missing path is reported in one line`() async throws {
    let printed = try await Program.devApp("duplicates", "/no/such/folder").run()
    #expect(printed.status == 1)
    #expect(printed.output.isEmpty)
    #expect(
      printed.error
        == "DevApp duplicates: /no/such/folder: No such file or directory; "
        + "expected a file or a folder to search\n")
  }

  @Test func `help goes to standard output`() async throws {
    for arguments in [
      ["--help"], ["-h"], ["help"], ["duplicates", "--help"], ["tour", "--help"], ["issues", "-h"],
      ["run", "--help"],
    ] {
      let program = Program(executable: Program.devApp().executable, arguments: arguments)
      let printed = try await program.run()
      #expect(printed.status == 0)
      #expect(printed.text.hasPrefix("usage: DevApp"))
    }
  }

  @Test(arguments: [(">&-", 1), (">&- 2>&-", 1), ("<&- >&- 2>&-", 1), ("<&-", 0)])
  func `closed standard descriptors are not reused for other files`(closed: String, status: Int32)
    async throws
  {
    let folder = try TemporaryFolder()
    try folder.write("contents", to: "a")
    let command =
      "'\(Program.devApp().executable.path)' duplicates --json '\(folder.path)' \(closed)"
    let shell = Program(
      executable: URL(fileURLWithPath: "/bin/sh"), arguments: ["-c", command])
    for _ in 0..<20 { #expect(try await shell.run().status == status) }
  }

  #if os(Linux)
    @Test func `a signal that the parent ignores is ignored`() async throws {
      let folder = try sparseFiles()
      let command =
        "trap '' INT; exec '\(Program.devApp().executable.path)' duplicates '\(folder.path)'"
      var shell = Program(executable: URL(fileURLWithPath: "/bin/sh"), arguments: ["-c", command])
      shell.isNice = true
      let printed = try await shell.run { process in
        try await wait(untilOpen: folder.path + "/a", in: process)
        #expect(signals("SigIgn", of: process).contains(SIGINT))
        kill(process, SIGTERM)
      }
      #expect(printed.status == 128 + SIGTERM)
    }

    @Test func `a full disk is an error`() async throws {
      let folder = try TemporaryFolder()
      try folder.write("contents", to: "a")
      try folder.write("contents", to: "b")
      for arguments in [["duplicates", folder.path], ["duplicates", "--json", folder.path]] {
        var program = Program(executable: Program.devApp().executable, arguments: arguments)
        program.output = URL(fileURLWithPath: "/dev/full")
        let printed = try await program.run()
        #expect(printed.status == 1)
        #expect(printed.error.contains("cannot be written: No space left on device"))
      }
    }

    @Test(.timeLimit(.minutes(10)), arguments: terminationSignals)
    func `a signal ends the run immediately, as cancelled`(number: Int32) async throws {
      let folder = try sparseFiles()
      var program = Program.devApp("duplicates", "--json", folder.path)
      program.isNice = true
      let printed = try await program.run { process in
        try await wait(untilOpen: folder.path + "/a", in: process)
        kill(process, number)
      }
      #expect(printed.status == 128 + number)
      #expect(printed.output.isEmpty)
      #expect(printed.error.hasSuffix("DevApp duplicates: interrupted\n"))
    }

    @Test func `a file that changes while it is compared is reported`() async throws {
      let folder = try sparseFiles()
      var program = Program.devApp("duplicates", "--json", folder.path)
      program.isNice = true
      let printed = try await program.run { process in
        try await wait(untilOpen: folder.path + "/a", in: process)
        let file = try FileHandle(forWritingTo: folder.url.appendingPathComponent("a"))
        try file.write(contentsOf: Data("x".utf8))
        try file.close()
      }
      #expect(printed.status == 0)
      let report = try Report(printed)
      #expect(report.groups.isEmpty)
      #expect(report.changed.map(\.path) == [folder.path + "/a"])
    }

    /// Creates two equal files that take long to compare but almost no disk space.
    private func sparseFiles() throws -> TemporaryFolder {
      let folder = try TemporaryFolder()
      for name in ["a", "b"] {
        let file = try FileHandle(forWritingTo: folder.write("", to: name))
        try file.truncate(atOffset: 1 << 40)
        try file.close()
      }
      return folder
    }

    /// Waits until a process has a file open or has ended. Only the second reading of a file, from
    /// its beginning to its end, takes long enough to be seen.
    private func wait(untilOpen path: String, in process: Int32) async throws {
      let descriptors = "/proc/\(process)/fd"
      try await eventually {
        let manager = FileManager.default
        guard let open = try? manager.contentsOfDirectory(atPath: descriptors) else {
          return !manager.fileExists(atPath: "/proc/\(process)")
        }
        return open.contains {
          (try? manager.destinationOfSymbolicLink(atPath: "\(descriptors)/\($0)")) == path
        }
      }
    }
  #endif
}
