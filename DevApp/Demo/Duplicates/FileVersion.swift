/// The identity of a file, and what shows whether its contents have changed.
struct FileVersion: Hashable, Sendable {
  let identity: FileStatus.Identity
  /// The size in bytes.
  let size: Int
  /// When the contents last changed.
  let modified: FileStatus.Time
  /// When the contents or the status last changed.
  let changed: FileStatus.Time
}

extension FileVersion {
  init(_ status: FileStatus) {
    self.init(
      identity: status.identity, size: status.size, modified: status.modified,
      changed: status.changed)
  }
}
