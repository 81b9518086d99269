import Foundation
import TestSupport
import Testing

/// A folder with an example of the article "Flow files", and with stand-ins for the programs that it
/// runs.
struct FlowExampleFixture {
  private struct MissingExample: Error {
    let name: String
  }

  let name: String
  let folder: TemporaryFolder

  /// - Parameters:
  ///   - name: The name of the example, without `.yaml`.
  ///   - programs: The stand-ins by name, as texts for `sh`. The first thing each of them does is to
  ///     append its name and arguments to the file `calls`. A name with `./` is a file in the folder;
  ///     the others precede all programs of the system.
  ///   - changes: Texts of the example and their replacements. `FOLDER` in a replacement is the path of
  ///     the folder.
  init(_ name: String, programs: [String: String], changes: [String: String] = [:]) throws {
    self.name = name
    folder = try TemporaryFolder()
    var text = try Self.example(name)
    for (old, new) in changes {
      #expect(text.contains(old), "\(name).yaml has no '\(old)'")
      text = text.replacing(old, with: new.replacing("FOLDER", with: folder.path))
    }
    try folder.write(text, to: "\(name).yaml")
    for (program, script) in programs {
      let path = program.hasPrefix("./") ? String(program.dropFirst(2)) : "bin/\(program)"
      let file = try folder.write(
        """
        #!/bin/sh -eu
        echo "\(program) $*" >> '\(folder.path)/calls'
        \(script)

        """, to: path)
      try FileManager.default.setAttributes(
        [.posixPermissions: 0o755], ofItemAtPath: file.path)
    }
  }

  /// The block of the article that begins with the name of the file.
  private static func example(_ name: String) throws -> String {
    let article = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent(
        "../../../../Documentation/CompositeOperations.docc/RunningFlowFiles.md")
    let blocks = try String(contentsOf: article.standardizedFileURL, encoding: .utf8)
      .components(separatedBy: "\n```yaml\n").dropFirst()
    guard let block = blocks.first(where: { $0.hasPrefix("# \(name).yaml ") }) else {
      throw MissingExample(name: name)
    }
    return block.components(separatedBy: "\n```\n")[0] + "\n"
  }

  /// Runs `coop flow run` with the example and further arguments.
  func run(_ arguments: String...) async throws -> ProgramResult {
    var program = Program.coop(in: folder.url)
    program.arguments = ["flow", "run", "\(name).yaml"] + arguments
    let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
    program.environment = ["TZ": "UTC", "PATH": "\(folder.path)/bin:\(path)"]
    return try await program.run()
  }

  /// The lines of a file in the folder.
  func lines(_ name: String) -> [String] {
    let text = try? String(contentsOf: folder.url.appendingPathComponent(name), encoding: .utf8)
    return (text ?? "").split(separator: "\n").map(String.init)
  }

  /// The calls of stand-ins since the last time that they were taken.
  func takeCalls() throws -> [String] {
    let calls = lines("calls")
    try folder.write("", to: "calls")
    return calls
  }
}

extension Trait where Self == ConditionTrait {
  /// Skips the test without libyaml.
  static var needsYAML: Self {
    #if canImport(CYAML)
      .enabled(if: true)
    #else
      .disabled("libyaml was missing at build time")
    #endif
  }
}
