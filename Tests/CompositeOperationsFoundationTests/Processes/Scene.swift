import CompositeOperations
import CompositeOperationsFoundation
import Foundation

/// A shell that runs a script, for what programs do in these tests.
func shell(_ script: String, _ arguments: String..., in folder: String? = nil) -> ProcessOperation {
  ProcessOperation("/bin/sh", arguments: ["-c", script, "sh"] + arguments, in: folder)
}

/// A folder that goes away with this.
final class TestFolder: Sendable {
  let path: String

  init() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    path = folder.resolvingSymlinksInPath().path
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func path(of name: String) -> String { "\(path)/\(name)" }

  @discardableResult
  func write(_ text: String, to name: String, permissions: Int = 0o644) throws -> String {
    let file = path(of: name)
    try Data(text.utf8).write(to: URL(fileURLWithPath: file))
    try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: file)
    return file
  }

  func text(of name: String) throws -> String {
    try String(contentsOfFile: path(of: name), encoding: .utf8)
  }
}

/// What this process has open, and which of its children have not been waited for.
struct Belongings: Equatable {
  let descriptors: Int
  let zombies: Int

  static var now: Belongings {
    get throws {
      let folder = FileManager.default
      let open = try folder.contentsOfDirectory(atPath: "/proc/self/fd").count
      let own = ProcessInfo.processInfo.processIdentifier
      let zombies = try folder.contentsOfDirectory(atPath: "/proc").filter { name in
        guard Int32(name) != nil,
          let line = try? String(contentsOfFile: "/proc/\(name)/stat", encoding: .utf8)
        else { return false }
        let fields = line.split(separator: ")").last?.split(separator: " ") ?? []
        return fields.count > 1 && fields[0] == "Z" && fields[1] == "\(own)"
      }
      return Belongings(descriptors: open, zombies: zombies.count)
    }
  }
}

/// Whether a process of that identifier exists and has not ended.
func isAlive(_ identifier: Int32) -> Bool {
  guard let line = try? String(contentsOfFile: "/proc/\(identifier)/stat", encoding: .utf8)
  else { return false }
  return line.split(separator: ")").last?.split(separator: " ").first.map { $0 != "Z" && $0 != "X" }
    ?? false
}

/// Waits until something is so, without keeping a thread.
func eventually(_ condition: () -> Bool) async throws {
  while !condition() {
    try Task.checkCancellation()
    await Task.yield()
  }
}
