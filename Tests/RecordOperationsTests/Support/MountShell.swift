import Foundation
import TestPrograms

/// A shell that can mount file systems, which nothing but its own programs sees.
///
/// It needs a mount namespace. Root has the right to make one in most places but containers; others have it where the
/// system lets them make a user namespace.
enum MountShell {
  static let isAvailable: Bool = {
    guard let folder = try? TemporaryFolder() else { return false }
    let program = shell("mount -t tmpfs none \"$1\"", [folder.path])
    return (try? program.start().waitUntilExit()) == 0
  }()

  /// The program that is built with the tests, `RecordCrashes`.
  static var recordProgram: String {
    let tests = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    return tests.deletingLastPathComponent().appendingPathComponent("RecordCrashes").path
  }

  /// Runs a script.
  ///
  /// - Parameter arguments: The values of `$1` and so on.
  /// - Returns: The lines that it has written, errors among them.
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
