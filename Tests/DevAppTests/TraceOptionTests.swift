import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct TraceOptionTests {
  @Test(arguments: [
    ("trace.json", "\"traceEvents\""), ("trace.otlp.json", "\"resourceSpans\""),
    ("trace.mmd", "flowchart TD"), ("trace.dot", "digraph"), ("trace.txt", "Critical path"),
  ])
  func `--trace writes a trace in the format of the file name`(
    name: String, mark: String
  ) async throws {
    let folder = try TemporaryFolder()
    try Data("same".utf8).write(to: folder.url.appendingPathComponent("a"))
    try Data("same".utf8).write(to: folder.url.appendingPathComponent("b"))
    let files = try TemporaryFolder()
    let file = files.url.appendingPathComponent(name)
    let found = try await Program.devApp(
      "duplicates", "--json", "--trace", file.path, folder.url.path
    ).run()
    #expect(found.status == 0)
    let text = try String(contentsOf: file, encoding: .utf8)
    for part in name == "trace.json" ? ["duplicates", "scan", "compare"] : [mark, "compare"] {
      #expect(text.contains(part), "\(name)")
    }
    let tour = try await Program.devApp("tour", "--trace", file.path).run()
    #expect(tour.status == 0)
    #expect(try String(contentsOf: file, encoding: .utf8).contains("A race"))
  }

  @Test(arguments: [("timeline.html", "<!doctype html>"), ("timeline.svg", "<svg")])
  func `--timeline writes an HTML page or an SVG image`(name: String, beginning: String)
    async throws
  {
    let folder = try TemporaryFolder()
    let file = folder.url.appendingPathComponent(name)
    for command in [["tour"], ["duplicates", "--trace", "/dev/null", folder.path]] {
      var program = Program.devApp()
      program.arguments = command.prefix(1) + ["--timeline", file.path] + command.dropFirst()
      #expect(try await program.run().status == 0)
      let text = try String(contentsOf: file, encoding: .utf8)
      #expect(text.lowercased().hasPrefix(beginning) || text.contains(beginning))
    }
  }

  @Test(
    arguments: [
      (["duplicates", "--trace"], 64, "--trace without a FILE"),
      (["tour", "--timeline", "x.json"], 64, "expected a name that ends in .html or .svg"),
      (["tour", "--trace", "/no/such/folder/t.json"], 1, "/no/such/folder/t.json"),
      (["tour", "--trace", "/no/such/folder/t.txt"], 1, "/no/such/folder/t.txt"),
      (["tour", "--timeline", "/no/such/folder/t.svg"], 1, "/no/such/folder/t.svg"),
    ] as [([String], Int32, String)])
  func `files that cannot be written are reported by name`(
    arguments: [String], status: Int32, message: String
  )
    async throws
  {
    var program = Program.devApp()
    program.arguments = arguments
    let printed = try await program.run()
    #expect(printed.status == status)
    #expect(printed.error.contains(message), "\(printed.error)")
  }

  @Test(.enabled(if: FileManager.default.fileExists(atPath: "/dev/full")))
  func `a full disk is reported`() async throws {
    let folder = try TemporaryFolder()
    for name in ["full.json", "full.txt"] {
      let path = folder.url.appendingPathComponent(name).path
      try FileManager.default.createSymbolicLink(
        atPath: path, withDestinationPath: "/dev/full")
      let printed = try await Program.devApp("tour", "--trace", path).run()
      #expect(printed.status == 1)
      #expect(printed.error.contains(path) && printed.error.contains("No space left"))
    }
  }

  @Test func `progress is printed in lines if there is no terminal`() async throws {
    let folder = try TemporaryFolder()
    for name in ["a", "b"] {
      let path = folder.url.appendingPathComponent(name).path
      #expect(FileManager.default.createFile(atPath: path, contents: nil))
      let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
      try file.truncate(atOffset: 1 << 40)
      try file.close()
    }
    var program = Program.devApp("duplicates", folder.url.path)
    program.isNice = true
    let printed = try await program.run { process in
      try await eventually {
        let reported = try? String(contentsOfFile: "/proc/\(process)/fd/2", encoding: .utf8)
        return reported?.contains("compare") == true || hasEnded(process)
      }
      kill(process, SIGINT)
    }
    #expect(printed.error.contains("compare"), "\(printed.error)")
    #expect(!printed.error.contains("\u{1B}"))
  }
}
