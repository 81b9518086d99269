internal import CompositeOperations

/// A body that waits for a connection or runs on one, and the continuation of its task.
final class PostgresCancellableRequest<Response: Sendable>: Sendable {
  typealias Waiter = CheckedContinuation<Response, any Error>

  private enum State {
    /// Not submitted.
    case new
    case waiting(Waiter)
    /// Runs on a connection; nil while that is being opened.
    case running(Waiter, PostgresCanceller?)
    /// Finished or cancelled.
    case ended
  }

  private let state = Lock(State.new)

  /// Registers the continuation of the task.
  ///
  /// - Returns: Whether to enqueue the request; false if it was cancelled before.
  func submit(_ waiter: Waiter) -> Bool {
    let isAccepted = state.withLock { state in
      guard case .new = state else { return false }
      state = .waiting(waiter)
      return true
    }
    if !isAccepted { waiter.resume(throwing: CancellationError()) }
    return isAccepted
  }

  /// Resumes the task at once. The connection detects later that its request has ended.
  func cancel() {
    let (waiter, canceller) = state.withLock { state -> (Waiter?, PostgresCanceller?) in
      defer { state = .ended }
      switch state {
      case .new, .ended: return (nil, nil)
      case .waiting(let waiter): return (waiter, nil)
      case .running(let waiter, let canceller): return (waiter, canceller)
      }
    }
    canceller?.interrupt()
    waiter?.resume(throwing: CancellationError())
  }

  /// Runs the body on the thread of a connection, unless the request was cancelled.
  ///
  /// - Returns: Resumes the task.
  func run(
    on lane: PostgresLane, _ body: (PostgresConnection) throws -> Response
  ) -> PostgresLane.Resumption {
    guard update(with: nil) else { return {} }
    let result = Result {
      let connection = try lane.connected()
      guard update(with: connection.canceller) else { throw CancellationError() }
      return try body(connection)
    }
    let waiter = state.withLock { state -> Waiter? in
      defer { state = .ended }
      guard case .running(let waiter, _) = state else { return nil }
      return waiter
    }
    // A cancellation may still arrive at the server, so no other request may use the connection.
    if waiter == nil { lane.disconnect() } else { lane.finish() }
    return { waiter?.resume(with: result) }
  }

  /// - Returns: Whether the request continues; false if it was cancelled.
  private func update(with canceller: PostgresCanceller?) -> Bool {
    state.withLock { state in
      switch state {
      case .waiting(let waiter), .running(let waiter, _):
        state = .running(waiter, canceller)
        return true
      case .new, .ended: return false
      }
    }
  }
}
