internal import CompositeOperations
internal import Dispatch
public import RecordOperations
internal import SystemSupport

extension PostgresRecordDatabase: ChangeHinting {
  /// Returns a stream of hints about commits of any program.
  ///
  /// The stream has a connection of its own. The server notifies it of each transaction that changes
  /// records, if ``PostgresRecordOptions/hinting`` is set in a program that uses the schema. Otherwise
  /// the stream has only a hint after each new connection. If the connection is lost, the stream
  /// connects again, with delays of half a second.
  ///
  /// A hint may precede the report of its change, which an older transaction delays.
  public func hints(in zone: RecordZone) -> AsyncStream<Void> {
    let (stream, signal) = AsyncStream.makeStream(
      of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let listener = PostgresListener(self, signal)
    signal.onTermination = { _ in listener.cancel() }
    listener.start()
    return stream
  }
}

/// A connection that waits for notifications, on a queue of its own.
private final class PostgresListener: Sendable {
  private static let channel = PostgresName.quoted(PostgresTracking.channel)

  private let database: PostgresRecordDatabase
  private let signal: AsyncStream<Void>.Continuation
  private let queue = DispatchQueue(label: "PostgreSQL hints")
  /// Ends the connection; nil while there is none.
  private let state = Lock<(isCancelled: Bool, canceller: PostgresCanceller?)>((false, nil))

  init(_ database: PostgresRecordDatabase, _ signal: AsyncStream<Void>.Continuation) {
    self.database = database
    self.signal = signal
  }

  func start() { queue.async { self.listen() } }

  func cancel() {
    let canceller = state.withLock { state in
      state.isCancelled = true
      return state.canceller
    }
    canceller?.interrupt()
  }

  private var isCancelled: Bool { state.withLock(\.isCancelled) }

  private func listen() {
    if isCancelled { return }
    try? waitForNotifications()
    state.withLock { $0.canceller = nil }
    if !isCancelled { queue.asyncAfter(deadline: .now() + .milliseconds(500)) { self.listen() } }
  }

  /// Yields hints until the connection is lost.
  private func waitForNotifications() throws {
    let connection = try PostgresConnection(
      to: database.address, timeout: database.options.timeout)
    let isCancelled = state.withLock { state in
      state.canceller = connection.canceller
      return state.isCancelled
    }
    if isCancelled { return }
    // A role without the privilege can still receive hints, if another one has created it.
    if database.options.hinting { try? createTrigger(connection) }
    _ = try connection.rows(PostgresStatement("listen", "LISTEN \(Self.channel)"))
    // Something may have changed before.
    signal.yield()
    let name = database.options.schema
    while true {
      let payloads = try connection.notifications(within: .seconds(3_600))
      if payloads.contains(where: { payload in payload.hasSameBytes(as: name) }) { signal.yield() }
    }
  }

  private func createTrigger(_ connection: PostgresConnection) throws {
    let session = PostgresRecordSession(connection: connection, schema: database.schema)
    try connection.transaction { try session.createNotifications() }
  }
}
