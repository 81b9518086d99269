internal import Dispatch

/// A connection of a pool with its serial queue.
///
/// A request opens the connection if it is not open. It is closed when the lane is deallocated.
// Unchecked because of the connection: only blocks on the serial queue and the deinitializer, which
// runs after them, access it.
final class PostgresLane: @unchecked Sendable {
  /// Resumes the tasks of finished requests.
  typealias Resumption = () -> Void

  /// The maximum number of attempts of a write that conflicts with concurrent transactions.
  private static let attemptLimit = 5

  private let queue: DispatchQueue
  private let open: @Sendable () throws -> PostgresConnection
  private var connection: PostgresConnection?

  init(_ name: String, open: @escaping @Sendable () throws -> PostgresConnection) {
    queue = DispatchQueue(label: name, qos: .userInitiated)
    self.open = open
  }

  /// Runs a body on the queue.
  func async(_ body: @escaping @Sendable () -> Void) { queue.async(execute: body) }

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
        let connection = try connected()
        if attempt == 1 {
          do throws(PostgresError) {
            results = try connection.execute(pending.map(\.request)).map { .success($0) }
          } catch {
            // One was refused, and with it all.
            if error.kind == .refused, pending.count > 1 { continue }
            results = pending.map { _ in .failure(error) }
          }
        } else {
          results = connection.executeEach(pending.map(\.request))
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
}
