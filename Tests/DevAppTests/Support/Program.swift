import Foundation
import TestPrograms

/// What a program printed and how it ended.
struct ProgramResult: Sendable {
  let status: Int32
  let output: Data
  let error: String

  var text: String { String(decoding: output, as: UTF8.self) }
}

/// The signals that ask a program to end.
let terminationSignals = [SIGINT, SIGTERM, SIGHUP]

#if os(Linux)
  /// Signals of a process, from one of the masks that the kernel tells: `SigIgn`, `SigCgt`.
  func signals(_ mask: String, of process: Int32) -> Set<Int32> {
    let status = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
    let line = status?.split(separator: "\n").first { $0.hasPrefix("\(mask):") }
    let bits = line?.split(separator: "\t").last.flatMap { UInt64($0, radix: 16) } ?? 0
    return Set((1...64).filter { bits & 1 << UInt64($0 - 1) != 0 })
  }
#endif

/// A program that a test runs as a person would.
struct Program {
  let executable: URL
  var arguments: [String]
  var folder: URL?
  var output: URL?
  /// What is added to the environment of the test.
  var environment: [String: String] = [:]
  /// Whether it leaves the processors to others: for work that has no end until a test ends it.
  var isNice = false

  /// The demo, from the folder where this test was built.
  static func devApp(_ arguments: String..., in folder: URL? = nil) -> Program {
    let tests = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    let folderOfTests =
      FileManager.default.fileExists(atPath: tests.path)
      ? tests.deletingLastPathComponent() : Bundle.main.bundleURL.deletingLastPathComponent()
    return Program(
      executable: folderOfTests.appendingPathComponent("DevApp"), arguments: arguments,
      folder: folder)
  }

  /// A program of the system, or nil where it is not installed.
  static func installed(_ name: String, _ arguments: String...) -> Program? {
    for folder in ["/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"] {
      let path = "\(folder)/\(name)"
      if FileManager.default.isExecutableFile(atPath: path) {
        return Program(executable: URL(fileURLWithPath: path), arguments: arguments)
      }
    }
    return nil
  }

  /// Runs the program to its end, without keeping a thread waiting.
  ///
  /// - Parameter during: Does something while it runs, with its process identifier.
  func run(during: (Int32) async throws -> Void = { _ in }) async throws -> ProgramResult {
    let program = TestProgram(
      isNice ? "/usr/bin/nice" : executable.path,
      isNice ? ["-n", "19", executable.path] + arguments : arguments, in: folder?.path,
      environment: ProcessInfo.processInfo.environment.merging(environment) { $1 })
    // Files, not pipes: nobody has to read them while the program runs.
    let files = try TemporaryFolder()
    let outputFile = output ?? files.url.appendingPathComponent("output")
    let errorFile = files.url.appendingPathComponent("error")
    for file in [outputFile, errorFile] where !FileManager.default.fileExists(atPath: file.path) {
      try Data().write(to: file)
    }
    let process = try program.start(
      output: FileHandle(forWritingTo: outputFile), error: FileHandle(forWritingTo: errorFile))
    async let status = process.end()
    do { try await during(process.processIdentifier) } catch {
      kill(process.processIdentifier, SIGKILL)
      throw error
    }
    return ProgramResult(
      status: await status,
      output: output == nil ? try Data(contentsOf: outputFile) : Data(),
      error: String(decoding: try Data(contentsOf: errorFile), as: UTF8.self))
  }
}

/// Returns when a condition is met, and keeps no thread of Swift's tasks busy with looking.
func eventually(_ condition: @escaping @Sendable () -> Bool) async {
  await withCheckedContinuation { continuation in
    Thread.detachNewThread {
      while !condition() { usleep(1_000) }
      continuation.resume()
    }
  }
}

/// A folder that goes away with this.
final class TemporaryFolder {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  var path: String { url.path }

  @discardableResult
  func write(_ contents: String, to name: String) throws -> URL {
    try write(Data(contents.utf8), to: name)
  }

  @discardableResult
  func write(_ contents: Data, to name: String) throws -> URL {
    let file = url.appendingPathComponent(name)
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try contents.write(to: file)
    return file
  }
}
