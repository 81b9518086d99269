import Foundation
import SQLiteSupport
import SystemSupport

/// The file with the state of a flow, `state.sqlite`, for programs that show its runs.
package struct FlowStateFile: Sendable {
  /// "COFF", by which the file is recognized.
  static let applicationID: Int64 = 0x434F_4646

  package let path: String

  /// Nil if there is no such file, or if it is another one.
  package init?(_ path: String) {
    // The header of an SQLite file has the number of the program at byte 68.
    guard let file = try? FileDescriptor.open(path, .readOnly) else { return nil }
    defer { try? file.close() }
    var header = [UInt8](repeating: 0, count: 72)
    guard (try? file.read(into: &header)) == header.count,
      header[68...].reduce(0, { $0 << 8 | Int64($1) }) == Self.applicationID
    else { return nil }
    self.path = path
  }

  /// Whether a process runs the flow. No other process has begun or continued a run since.
  package var isInUse: Bool { FileLock.isHeld(Self.lock(beside: path)) }

  /// The file whose lock allows one run at a time. It is beside the database, and not beside a link to
  /// it.
  static func lock(beside database: String) -> String {
    var paths = FlowPaths(in: FileManager.default.currentDirectoryPath)
    return String(paths.followingLinks(database).splitPath.folder) + "run.lock"
  }
}
