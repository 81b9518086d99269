package import SQLiteSupport

/// Options for how a file is opened and used.
///
/// ```swift
/// import RecordOperations
///
/// let options = SQLiteOptions(access: .readOnly, busyTimeout: .seconds(10))
/// let archive = SQLiteRecordDatabase("archive.sqlite", options)
/// ```
public struct SQLiteOptions: Sendable {
  /// The access to a file: whether it is created, written or only read.
  public enum Access: String, Sendable, CaseIterable {
    /// The file must exist, and is only read: neither its content nor its journal mode is changed.
    case readOnly
    /// The file must exist, is only read, and no process writes it while it is open.
    ///
    /// SQLite then takes no locks and creates no file next to it, so that a file in WAL mode can be
    /// read in a folder that is not writable. The caller must ensure that nothing writes the file.
    /// If a process does, queries return wrong records or fail. With any other access, a file is
    /// read in this way only if nothing can write it, as on a read-only disk.
    case immutable
    /// The file must exist, and can be written.
    case existing
    /// The file is created if it does not exist.
    case create
  }

  /// The durability of committed changes.
  public enum Durability: String, Sendable, CaseIterable {
    /// A commit waits for the operating system. Committed changes survive the end of the process,
    /// but a power failure may lose the last ones. The file stays intact.
    ///
    /// If the file is not in WAL mode, commits wait for the disk.
    case normal
    /// A commit waits for the disk, so that committed changes survive a power failure. This takes
    /// about ten times as long.
    case full
  }

  /// Whether the file is created, written or only read.
  public var access: Access
  /// Whether a commit waits for the disk.
  public var durability: Durability
  /// Whether expressions of the schema, in views, triggers and checks, may use functions that could
  /// do harm in a file from an untrusted source. Before version 3.43, SQLite counts its JSON
  /// functions among them.
  public var trustsSchema: Bool
  /// The maximum time that a request waits for a lock of another connection.
  public var busyTimeout: Duration
  /// The maximum number of concurrent reading requests.
  public var readers: Int
  /// The limits of a batch and a page.
  public var limits: RecordLimits

  /// Creates options.
  ///
  /// - Parameters:
  ///   - access: Whether the file is created, written or only read.
  ///   - durability: Whether a commit waits for the disk.
  ///   - trustsSchema: Whether the schema may use functions that could do harm.
  ///   - busyTimeout: The maximum time that a request waits for a lock of another connection.
  ///   - readers: The maximum number of concurrent reading requests.
  ///   - limits: The limits of a batch and a page.
  /// - Precondition: `readers` is at least 1.
  public init(
    access: Access = .create, durability: Durability = .normal,
    trustsSchema: Bool = false, busyTimeout: Duration = .seconds(5), readers: Int = 4,
    limits: RecordLimits = RecordLimits()
  ) {
    precondition(readers >= 1, "`readers` must be at least 1 (was \(readers))")
    self.access = access
    self.durability = durability
    self.trustsSchema = trustsSchema
    self.busyTimeout = busyTimeout
    self.readers = readers
    self.limits = limits
  }
}

extension SQLiteOptions {
  /// The options of a connection.
  package var configuration: SQLiteConfiguration {
    let access: SQLiteConfiguration.Access =
      switch access {
      case .readOnly: .readOnly
      case .immutable: .immutable
      case .existing: .existing
      case .create: .create
      }
    return SQLiteConfiguration(
      access: access, durability: durability == .full ? .full : .normal,
      trustsSchema: trustsSchema, busyTimeout: busyTimeout)
  }
}
