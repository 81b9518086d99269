import Foundation

/// Programs of the system.
enum Programs {
  /// A program that exits immediately.
  static let doingNothing = path(of: "true") ?? "/bin/true"

  /// Returns the path of a program; nil if it is not installed.
  static func path(of name: String) -> String? {
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    return folders.map { "\($0)/\(name)" }.first(where: FileManager.default.isExecutableFile)
  }
}
