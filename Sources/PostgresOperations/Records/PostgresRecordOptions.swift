public import RecordOperations

/// Options for a ``PostgresRecordDatabase``.
///
/// ```swift
/// import PostgresOperations
///
/// let options = PostgresRecordOptions(schema: "library", connections: 8)
/// let database = PostgresRecordDatabase("postgresql://app@db.example.org/main", options)
/// ```
public struct PostgresRecordOptions: Sendable {
  /// The limits without other settings: 10,000 records and 64 MiB in a batch.
  public static let defaultLimits = RecordLimits(items: 10_000, bytes: 64 << 20)

  /// The schema whose tables hold the records. The first save creates it if it is missing.
  public var schema: String
  /// The maximum number of connections, and so of concurrent requests.
  public var connections: Int
  /// The maximum time for which a request waits for a connection or for a reply of the server, and
  /// so for a lock of another transaction.
  public var timeout: Duration
  /// The limits of a batch and a page.
  public var limits: RecordLimits
  /// Whether ``PostgresRecordDatabase/hints(in:)`` creates a trigger in the schema, by which the server
  /// notifies all streams of hints of each transaction that changes records.
  ///
  /// The server serializes the commits of transactions with notifications, which limits the number of
  /// commits in a second. The trigger stays until it is dropped: `DROP TRIGGER record_notify ON
  /// record_states`.
  public var hinting: Bool

  /// Creates options.
  ///
  /// - Parameters:
  ///   - schema: The schema whose tables hold the records.
  ///   - connections: The maximum number of connections.
  ///   - timeout: The maximum time for which a request waits for the server.
  ///   - limits: The limits of a batch and a page.
  ///   - hinting: Whether ``PostgresRecordDatabase/hints(in:)`` creates a trigger for notifications.
  /// - Precondition: `connections` is at least 1.
  public init(
    schema: String = "public", connections: Int = 4, timeout: Duration = .seconds(20),
    limits: RecordLimits = defaultLimits, hinting: Bool = false
  ) {
    precondition(connections >= 1, "`connections` must be at least 1 (was \(connections))")
    self.schema = schema
    self.connections = connections
    self.timeout = timeout
    self.limits = limits
    self.hinting = hinting
  }
}
