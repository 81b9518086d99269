/// How a file is opened, and what is asked of it at once.
public struct SQLiteOptions: Sendable {
  public enum Access: String, Sendable, CaseIterable {
    /// It has to be there, and is only read: neither it nor how it keeps its journal is changed.
    case readOnly
    /// The file must exist, is only read, and no process writes it as long as it is open.
    ///
    /// SQLite then takes no locks and makes no file beside it, so that a file in WAL mode can be read where its folder
    /// cannot be written. That nothing writes the file is up to the caller: if a process writes it, queries return wrong
    /// records or fail. The other kinds of access read a file in this way by themselves where it is certain that
    /// nothing can write it, as on a read-only disk.
    case immutable
    /// It has to be there.
    case existing
    /// It is made if it is not there.
    case create
  }

  /// What a commit waits for.
  public enum Durability: String, Sendable, CaseIterable {
    /// For the system: what was committed outlives the program, but the last of it may be lost when the power fails.
    /// The file stays whole.
    case normal
    /// For the disk: what was committed outlives a failure of the power. It takes about ten times as long.
    case full
  }

  public var access: Access
  public var durability: Durability
  /// Whether what the file itself has computed, in its views, triggers and checks, may use functions that could do harm
  /// in a file of somebody else. Before 3.43, SQLite counts those for JSON among them.
  public var trustsSchema: Bool
  /// How long a request waits for another connection that has locked the file.
  public var busyTimeout: Duration
  /// How many requests read at the same time.
  public var readers: Int
  public var limits: RecordLimits

  /// - Precondition: `readers` is not below 1.
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
