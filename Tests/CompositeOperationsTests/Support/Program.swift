import Foundation
import TestSupport

/// A program that a test runs and awaits.
struct Program {
  struct End {
    let status: Int32
    /// The combined standard output and standard error.
    let output: String
  }

  let file: URL
  var arguments: [String] = []

  func run() async throws -> End {
    // A file needs no reader while the program runs; a pipe would.
    let log = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try Data().write(to: log)
    defer { try? FileManager.default.removeItem(at: log) }
    let output = try FileHandle(forWritingTo: log)
    let process = try TestProgram(file.path, arguments).start(output: output, error: output)
    return End(
      status: await process.end(),
      output: String(decoding: try Data(contentsOf: log), as: UTF8.self))
  }
}
