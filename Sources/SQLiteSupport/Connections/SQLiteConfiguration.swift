package import SystemSupport

/// How a file is opened and used.
package struct SQLiteConfiguration: Sendable {
  /// The access to a file: whether it is created, written or only read.
  package enum Access: String, Sendable, CaseIterable {
    /// The file must exist, and is only read: neither its content nor its journal mode is changed.
    case readOnly
    /// The file must exist, is only read, and no process writes it while it is open. SQLite takes no
    /// locks and creates no file next to it.
    case immutable
    /// The file must exist, and can be written.
    case existing
    /// The file is created if it does not exist.
    case create
  }

  /// The durability of committed changes.
  package enum Durability: Sendable {
    /// A commit waits for the operating system: a power failure may lose the last commits. If the
    /// file is not in WAL mode, commits wait for the disk.
    case normal
    /// A commit waits for the disk.
    case full
  }

  /// Whether the file is created, written or only read.
  package var access: Access
  /// Whether a commit waits for the disk.
  package var durability: Durability
  /// Whether expressions of the schema may use functions that could do harm in a file from an
  /// untrusted source.
  package var trustsSchema: Bool
  /// The maximum time that a statement waits for a lock of another connection.
  package var busyTimeout: Duration
  /// The permissions of a file that is created, on a file system with hard links. Elsewhere they are
  /// those that SQLite gives.
  package var permissions: FilePermissions

  package init(
    access: Access = .create, durability: Durability = .normal, trustsSchema: Bool = false,
    busyTimeout: Duration = .seconds(5), permissions: FilePermissions = 0o644
  ) {
    self.access = access
    self.durability = durability
    self.trustsSchema = trustsSchema
    self.busyTimeout = busyTimeout
    self.permissions = permissions
  }
}
