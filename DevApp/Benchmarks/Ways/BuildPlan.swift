import Foundation

/// A folder with targets for make and ninja, each of which runs a program that does nothing.
final class BuildPlan: Sendable {
  private let folder: URL

  var path: String { folder.path }

  init(count: Int) throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let targets = (0..<count).map { "t\($0)" }
    let all = targets.joined(separator: " ")
    let makefile = "all: \(all)\n\(all): ; @\(Programs.doingNothing)\n.PHONY: all \(all)\n"
    try Data(makefile.utf8).write(to: folder.appendingPathComponent("Makefile"))
    let rule = "rule run\n  command = \(Programs.doingNothing)\n"
    let builds = targets.map { "build \($0): run\n" }.joined()
    try Data((rule + builds).utf8).write(to: folder.appendingPathComponent("build.ninja"))
  }

  deinit { try? FileManager.default.removeItem(at: folder) }
}
