internal import Dispatch

/// A connection of a pool with its serial queue.
///
/// A request opens the connection if it is not open. It is closed when the lane is deallocated.
// Unchecked because of the connection. The pool gives a lane to one request at a time. It is accessed
// by the thread that has submitted the request, then by a block on the serial queue until that tells
// the pool that the lane is idle, and by the deinitializer, which runs after them.
final class PostgresLane: @unchecked Sendable {
  /// Resumes the tasks of finished requests.
  typealias Resumption = () -> Void

  /// The maximum number of attempts of a write that conflicts with concurrent transactions.
  private static let attemptLimit = 5

  private let queue: DispatchQueue
  private let open: @Sendable () throws -> PostgresConnection
  private var connection: PostgresConnection?
  /// The writes that were sent before ``execute(_:)``.
  private var sent: PostgresConnection.SentRequests?

  init(_ name: String, open: @escaping @Sendable () throws -> PostgresConnection) {
    queue = DispatchQueue(label: name, qos: .userInitiated)
    self.open = open
  }

  /// Runs a body on the queue.
  func async(_ body: @escaping @Sendable () -> Void) { queue.async(execute: body) }

  // MARK: Before a block on the queue

  /// Sends a write if there is a connection, without waiting; ``execute(_:)`` must follow with it. The
  /// server works on it while the thread of the queue wakes up.
  func send(_ write: PostgresWrite) {
    guard let connection, connection.isAlive() else { return }
    sent = connection.send([write.request])
  }

  // MARK: On the queue

  /// Returns the connection, and opens one if there is none or if it has failed.
  func connected() throws -> PostgresConnection {
    if let connection, connection.isAlive() { return connection }
    // It is closed before another one is opened.
    connection = nil
    let opened = try open()
    connection = opened
    return opened
  }

  func disconnect() { connection = nil }

  /// Closes the connection.
  ///
  /// - Returns: Resumes the waiter.
  func close(for waiter: CheckedContinuation<Void, Never>) -> Resumption {
    disconnect()
    return { waiter.resume() }
  }

  /// Closes the connection if it has failed.
  func finish() { if connection?.isUsable == false { connection = nil } }

  /// Executes writes.
  ///
  /// - Returns: Resumes each waiter with its rows or its error. A write that is repeated does not
  ///   delay the others: their waiters are resumed before.
  func execute(_ writes: [PostgresWrite]) -> Resumption {
    // The sort is stable.
    var pending = writes.count > 1 ? writes.sorted { $0.order < $1.order } : writes
    var attempt = 0
    while true {
      attempt += 1
      let results: [PostgresConnection.Result]
      do {
        if attempt == 1 {
          let (connection, sent) = try sent(pending)
          do throws(PostgresError) {
            results = try connection.rows(of: sent).map { .success($0) }
          } catch {
            // One was refused, and with it all.
            if error.kind == .refused, pending.count > 1 { continue }
            results = pending.map { _ in .failure(error) }
          }
        } else {
          results = try connected().executeEach(pending.map(\.request))
        }
        finish()
      } catch {
        return { [pending] in for write in pending { write.waiter.resume(throwing: error) } }
      }
      var conflicts: [PostgresWrite] = []
      var finished: [(waiter: PostgresWrite.Waiter, result: PostgresConnection.Result)] = []
      for (write, result) in zip(pending, results) {
        if attempt < Self.attemptLimit, case .failure(let error) = result,
          error.isConflict || error.isOutdatedStatement
        {
          conflicts.append(write)
        } else {
          finished.append((write.waiter, result))
        }
      }
      let resumption = { [finished] in
        for (waiter, result) in finished { waiter.resume(with: result) }
      }
      if conflicts.isEmpty { return resumption }
      resumption()
      pending = conflicts
    }
  }
  /// Sends writes, unless they were sent before.
  private func sent(
    _ writes: [PostgresWrite]
  ) throws -> (PostgresConnection, PostgresConnection.SentRequests) {
    if let connection, let sent {
      self.sent = nil
      return (connection, sent)
    }
    let connection = try connected()
    return (connection, connection.send(writes.map(\.request)))
  }
}
