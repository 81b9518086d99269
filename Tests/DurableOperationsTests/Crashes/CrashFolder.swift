import DurableOperations
import Foundation
import TestSupport
import Testing

/// A folder for a journal and the processes that use it. It is removed with its contents when it is
/// deallocated.
final class CrashFolder: Sendable {
  let path: String

  init() throws {
    path = FileManager.default.temporaryDirectory.path + "/flows-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  var journal: String { path + "/flows.sqlite" }

  /// The lines that bodies have appended.
  var effects: [EffectLine] {
    get throws {
      guard let data = FileManager.default.contents(atPath: path + "/effects") else { return [] }
      return try String(decoding: data, as: UTF8.self).split(separator: "\n").map { line in
        // A key may contain spaces.
        let fields = line.split(separator: " ").map(String.init)
        return EffectLine(
          launch: try #require(fields.first.flatMap(Int.init)),
          key: fields.dropFirst().dropLast().joined(separator: " "),
          fence: try #require(fields.last.flatMap(Int.init)))
      }
    }
  }

  /// Starts the program `FlowCrashes`, which is built with the tests.
  ///
  /// - Parameters:
  ///   - launch: The number of the process in this folder.
  ///   - details: The further arguments.
  func start(
    _ work: String, launch: Int, _ details: [String] = [], output: FileHandle? = nil
  ) throws -> RunningProgram {
    let tests = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    let program = tests.deletingLastPathComponent().appendingPathComponent("FlowCrashes")
    try #require(
      FileManager.default.isExecutableFile(atPath: program.path),
      "\(program.path) is missing; run `swift build --build-tests`")
    return try TestProgram(program.path, [work, path, "\(launch)"] + details)
      .start(output: output, error: output)
  }

  /// Runs the program to its end.
  ///
  /// - Returns: The status, or the signal that ended it, and its output.
  func run(
    _ work: String, launch: Int, _ details: String...
  ) async throws -> (status: Int32, output: String) {
    let path = "\(path)/output-\(launch)"
    try Data().write(to: URL(fileURLWithPath: path))
    let output = try #require(FileHandle(forWritingAtPath: path))
    let status = try await start(work, launch: launch, details, output: output).end()
    try output.close()
    return (status, try String(contentsOfFile: path, encoding: .utf8))
  }
}

/// One run of a body.
struct EffectLine: Hashable, Sendable {
  /// The number of the process.
  let launch: Int
  /// The idempotency key.
  let key: String
  let fence: Int
}
