import Foundation

/// A program that a test runs to its end.
struct Program {
  struct End {
    let status: Int32
    /// Of both kinds.
    let output: String
  }

  let file: URL
  var arguments: [String] = []

  func run() async throws -> End {
    // A file, not a pipe: nobody has to read it while the program runs.
    let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try Data().write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let output = try FileHandle(forWritingTo: file)
    let process = Process()
    process.executableURL = self.file
    process.arguments = arguments
    process.standardOutput = output
    process.standardError = output
    process.standardInput = FileHandle.nullDevice
    let (exits, exit) = AsyncStream<Void>.makeStream()
    process.terminationHandler = { _ in exit.finish() }
    try process.run()
    for await _ in exits {}
    return End(
      status: process.terminationStatus,
      output: String(decoding: try Data(contentsOf: file), as: UTF8.self))
  }
}
