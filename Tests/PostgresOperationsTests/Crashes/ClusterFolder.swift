internal import Foundation
internal import TestSupport
internal import Testing

/// A folder for the processes of a cluster. It is removed with its contents when it is deallocated.
final class ClusterFolder: Sendable {
  let path: String
  private let address: String
  /// The length of a lease in milliseconds.
  let lease: Int

  init(_ address: String, lease: Int) throws {
    self.address = address
    self.lease = lease
    path = FileManager.default.temporaryDirectory.path + "/cluster-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// The lines that flows have appended.
  var lines: [[String]] {
    let data = FileManager.default.contents(atPath: path + "/effects") ?? Data()
    return String(decoding: data, as: UTF8.self).split(separator: "\n").map { line in
      line.split(separator: " ").map { String($0) }
    }
  }

  /// Starts the program `ClusterCrashes`, which is built with the tests.
  func start(_ work: String, _ details: String..., output: FileHandle? = nil) throws
    -> RunningProgram
  {
    let tests = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    let program = tests.deletingLastPathComponent().appendingPathComponent("ClusterCrashes")
    try #require(
      FileManager.default.isExecutableFile(atPath: program.path),
      "\(program.path) is missing; run `swift build --build-tests`")
    return try TestProgram(program.path, [work, address, path, "\(lease)"] + details)
      .start(output: output)
  }
}
