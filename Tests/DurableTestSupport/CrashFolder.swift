package import Foundation
package import TestSupport

/// A folder for a journal and the processes that use it. It is removed with its contents when it is
/// deallocated.
package final class CrashFolder: Sendable {
  package let path: String

  package init() throws {
    path = FileManager.default.temporaryDirectory.path + "/flows-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  package var journal: String { path + "/flows.sqlite" }

  /// Lets every user write the files in the folder.
  package func share() throws {
    let effects = path + "/effects"
    if !FileManager.default.fileExists(atPath: effects) {
      try Data().write(to: URL(fileURLWithPath: effects))
    }
    let files = try FileManager.default.contentsOfDirectory(atPath: path)
    for (path, mode) in [(path, 0o777)] + files.map({ (path + "/" + $0, 0o666) }) {
      try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }
  }

  /// The lines that bodies have appended.
  package var effects: [EffectLine] {
    get throws {
      guard let data = FileManager.default.contents(atPath: path + "/effects") else { return [] }
      return try String(decoding: data, as: UTF8.self).split(separator: "\n").map { line in
        // A key may contain spaces.
        let fields = line.split(separator: " ").map(String.init)
        guard let launch = fields.first.flatMap({ Int($0) }),
          let fence = fields.last.flatMap({ Int($0) })
        else { throw TestProgram.Failure("the line '\(line)' of the effects has no numbers") }
        return EffectLine(
          launch: launch, key: fields.dropFirst().dropLast().joined(separator: " "), fence: fence)
      }
    }
  }

  /// Starts the program `FlowCrashes`, which is built with the tests.
  ///
  /// - Parameters:
  ///   - launch: The number of the process in this folder.
  ///   - details: The further arguments.
  ///   - journal: Another path of the journal, relative to the folder.
  ///   - user: The number of the user that the process becomes; nil for the user of this process.
  package func start(
    _ work: String, launch: Int, _ details: [String] = [], journal: String? = nil,
    user: Int? = nil, output: FileHandle? = nil
  ) throws -> RunningProgram {
    let tests = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    let program = tests.deletingLastPathComponent().appendingPathComponent("FlowCrashes")
    guard FileManager.default.isExecutableFile(atPath: program.path) else {
      throw TestProgram.Failure("\(program.path) is missing; run `swift build --build-tests`")
    }
    var environment = ProcessInfo.processInfo.environment
    environment["JOURNAL"] = journal
    environment["USER_ID"] = user.map(String.init)
    return try TestProgram(
      program.path, [work, path, "\(launch)"] + details, in: path, environment: environment
    ).start(output: output, error: output)
  }

  /// Runs the program to its end.
  ///
  /// - Returns: The status, or the signal that ended it, and its output.
  package func run(
    _ work: String, launch: Int, _ details: String...
  ) async throws -> (status: Int32, output: String) {
    let path = "\(path)/output-\(launch)"
    try Data().write(to: URL(fileURLWithPath: path))
    guard let output = FileHandle(forWritingAtPath: path) else {
      throw TestProgram.Failure("\(path) cannot be written")
    }
    let status = try await start(work, launch: launch, details, output: output).end()
    try output.close()
    return (status, try String(contentsOfFile: path, encoding: .utf8))
  }
}

/// One run of a body.
package struct EffectLine: Hashable, Sendable {
  /// The number of the process.
  package let launch: Int
  /// The idempotency key.
  package let key: String
  package let fence: Int

  package init(launch: Int, key: String, fence: Int) {
    (self.launch, self.key, self.fence) = (launch, key, fence)
  }
}
