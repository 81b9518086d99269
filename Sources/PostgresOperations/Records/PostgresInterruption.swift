internal import CompositeOperations

/// The cancellation of a request whose body runs to its end: it ends the connection.
final class PostgresInterruption: Sendable {
  private let state = Lock<(isCancelled: Bool, canceller: PostgresCanceller?)>((false, nil))

  /// Lets a cancellation end a connection from now on.
  ///
  /// - Throws: `CancellationError` if the request was cancelled before.
  func begin(_ connection: PostgresConnection) throws {
    resume(connection)
    try check()
  }

  /// As ``begin(_:)``, but does not throw. The next ``check()`` does.
  func resume(_ connection: PostgresConnection) {
    let canceller = connection.canceller
    state.withLock { $0.canceller = canceller }
  }

  /// A cancellation does not end the connection from now on.
  func end() { state.withLock { $0.canceller = nil } }

  func cancel() {
    let canceller = state.withLock { state in
      state.isCancelled = true
      return state.canceller
    }
    canceller?.interrupt()
  }

  /// - Throws: `CancellationError`.
  func check() throws { if state.withLock(\.isCancelled) { throw CancellationError() } }
}
