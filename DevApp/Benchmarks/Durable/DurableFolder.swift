import Foundation

/// The folder of the databases, on the disk of the working folder.
final class DurableFolder: Sendable {
  let path: String
  /// The type of its file system.
  let fileSystem: String

  /// Creates the folder, in `.build` if there is one, or in another folder.
  ///
  /// - Throws: A ``BenchmarkError`` if it cannot be created, or is in memory.
  init(in folder: String? = nil) throws {
    let working = FileManager.default.currentDirectoryPath
    let build = URL(fileURLWithPath: working).appendingPathComponent(".build").path
    let parent = folder ?? (FileManager.default.fileExists(atPath: build) ? build : working)
    Self.removeAbandoned(in: parent)
    path = "\(parent)/\(Self.prefix)\(getpid())"
    fileSystem = Self.fileSystem(of: parent)
    if ["tmpfs", "ramfs"].contains(fileSystem) {
      throw BenchmarkError(
        "'\(parent)' is in memory, where a commit does not wait for a disk; change to a folder on "
          + "a disk")
    }
    do {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    } catch { throw BenchmarkError("'\(path)' cannot be created: \(error.localizedDescription)") }
  }

  func remove() { try? FileManager.default.removeItem(atPath: path) }

  /// The path of a new database, in a folder of its own.
  func makeFile() throws -> String {
    let folder = "\(path)/\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    return "\(folder)/flows.sqlite"
  }

  /// Removes a database with the files beside it.
  func remove(_ file: String) {
    try? FileManager.default.removeItem(at: URL(fileURLWithPath: file).deletingLastPathComponent())
  }

  func withFile<Result>(_ body: (String) async throws -> Result) async throws -> Result {
    let file = try makeFile()
    defer { remove(file) }
    return try await body(file)
  }

  private static let prefix = "durable-benchmarks-"

  /// Removes the folders of processes that were interrupted.
  private static func removeAbandoned(in parent: String) {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? []
    for name in names where name.hasPrefix(prefix) {
      guard let process = pid_t(name.dropFirst(prefix.count)), kill(process, 0) != 0 else {
        continue
      }
      try? FileManager.default.removeItem(atPath: "\(parent)/\(name)")
    }
  }

  /// The type of the file system, such as "ext4"; "unknown" if the system does not list its mounts.
  private static func fileSystem(of path: String) -> String {
    let mounts = (try? String(contentsOfFile: "/proc/self/mounts", encoding: .utf8)) ?? ""
    // /dev/vda / ext4 rw,relatime 0 0
    let fields = mounts.split(separator: "\n").map { $0.split(separator: " ") }
    let matching = fields.filter { fields in
      guard fields.count > 2 else { return false }
      let point = fields[1] == "/" ? "" : fields[1]
      return path == point || path.hasPrefix(point + "/")
    }
    // A later mount covers an earlier one.
    var type = "unknown"
    var length = 0
    for fields in matching where fields[1].count >= length {
      (type, length) = (String(fields[2]), fields[1].count)
    }
    return type
  }
}
