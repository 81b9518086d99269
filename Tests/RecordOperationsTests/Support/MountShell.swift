import Foundation
import TestSupport

/// A shell that can mount file systems that are visible only to its own programs.
///
/// It needs a mount namespace. Root can create one in most environments except containers. Other
/// users can create one if the system allows user namespaces.
enum MountShell {
  static let isAvailable: Bool = {
    guard let folder = try? TemporaryFolder() else { return false }
    let program = shell("mount -t tmpfs none \"$1\"", [folder.path])
    return (try? program.start().waitUntilExit()) == 0
  }()

  /// The path of the program `RecordCrashes`, which is built with the tests.
  static var recordProgram: String {
    let tests = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    return tests.deletingLastPathComponent().appendingPathComponent("RecordCrashes").path
  }

  /// Runs a script.
  ///
  /// - Parameter arguments: The values of `$1` and so on.
  /// - Returns: The lines of its output and its errors.
  static func lines(_ script: String, _ arguments: String...) async throws -> [String] {
    let folder = try TemporaryFolder()
    let path = folder.file("output")
    try Data().write(to: URL(fileURLWithPath: path))
    guard let output = FileHandle(forWritingAtPath: path) else { return [] }
    _ = try await shell("set -e\n" + script, arguments).start(output: output, error: output).end()
    return try String(contentsOfFile: path, encoding: .utf8)
      .split(separator: "\n").map(String.init)
  }

  private static func shell(_ script: String, _ arguments: [String]) -> TestProgram {
    TestProgram("/usr/bin/unshare", ["-rm", "/bin/sh", "-c", script, "sh"] + arguments)
  }
}
