import CompositeOperations
import Foundation
import Testing

private let hasBuildTools = ["/usr/bin/cc", "/usr/bin/make"].allSatisfy {
  FileManager.default.isExecutableFile(atPath: $0)
}

/// Compares the build tool of an article with `make -j2`.
@Suite struct FolderBuildTests {
  private static let files = [
    "VERSION": "#define VERSION 1\n",
    "a.h": "#include \"b.h\"\nint a(void);\n", "b.h": "int b(void);\n",
    "a.c": "#include \"a.h\"\nint a(void) { return b(); }\n",
    "b.c": "#include \"b.h\"\n#include \"version.h\"\nint b(void) { return VERSION; }\n",
    "main.c": "#include \"a.h\"\nint main(void) { return a(); }\n",
    "Makefile": """
    program: a.o b.o main.o
    \tcc -o program a.o b.o main.o
    a.o: a.c a.h b.h | version.h
    \tcc -c a.c -o a.o
    b.o: b.c b.h version.h
    \tcc -c b.c -o b.o
    main.o: main.c a.h b.h | version.h
    \tcc -c main.c -o main.o
    version.h: VERSION
    \tcp VERSION version.h
    """,
  ]

  @Test(.enabled(if: hasBuildTools, "requires /usr/bin/cc and /usr/bin/make"))
  func `the build tool of the article runs the same commands as make`() async throws {
    let folders = ["ours", "make"].map { name in
      FileManager.default.temporaryDirectory
        .appendingPathComponent("\(name)-\(UUID().uuidString)")
    }
    defer { for folder in folders { try? FileManager.default.removeItem(at: folder) } }
    for folder in folders {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
      for (name, text) in Self.files {
        try Data(text.utf8).write(to: folder.appendingPathComponent(name))
      }
    }
    for change in [nil, nil, "a.c", "b.h", "a.h", "VERSION", "main.o"] as [String?] {
      for folder in folders {
        guard let change else { continue }
        let file = folder.appendingPathComponent(change)
        try Data(contentsOf: file).write(to: file)
      }
      let ours = try await build(folders[0])
      let theirs = try await make(folders[1])
      #expect(ours.sorted() == theirs.sorted(), "after a change of \(change ?? "nothing")")
      // A file is created after the files that it depends on.
      let copy = ours.firstIndex { $0.hasPrefix("cp") }
      let link = ours.firstIndex { $0.hasPrefix("cc -o") }
      #expect(copy == nil || copy == 0)
      #expect(link == nil || link == ours.count - 1)
    }
    #expect(try await Self.status(of: folders[0]) == 1)
  }

  /// Returns the commands that the tool of the article runs, in the order in which they begin.
  private func build(_ folder: URL) async throws -> [String] {
    let commands = Log<String>()
    let build = FolderBuild(folder: folder) { command in
      commands.add(command.joined(separator: " "))
      let end = try await Program(
        file: URL(fileURLWithPath: "/bin/sh"),
        arguments: ["-c", "cd '\(folder.path)' && \(command.joined(separator: " "))"]
      ).run()
      #expect(end.status == 0, "\(end.output)")
    }
    try await build.graph().run().get()
    return commands.entries
  }

  private func make(_ folder: URL) async throws -> [String] {
    let end = try await Program(
      file: URL(fileURLWithPath: "/usr/bin/make"), arguments: ["-j2", "-C", folder.path]
    ).run()
    #expect(end.status == 0, "\(end.output)")
    return end.output.split(separator: "\n").map(String.init)
      .filter { $0.hasPrefix("cc ") || $0.hasPrefix("cp ") }
  }

  private static func status(of folder: URL) async throws -> Int32 {
    try await Program(file: folder.appendingPathComponent("program")).run().status
  }

  @Test func `the article shows the build tool that is tested`() throws {
    let page = try #require(
      try Checkout.text(
        of: "Documentation/CompositeOperations.docc/DependingOnOtherOperations.md"))
    let file = try #require(
      try Checkout.text(of: "Tests/CompositeOperationsTests/Flows/FolderBuild.swift"))
    let tool = try #require(file.firstRange(of: "struct FolderBuild"))
    #expect(page.contains(file[tool.lowerBound...]))
  }
}
