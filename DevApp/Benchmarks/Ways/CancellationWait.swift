import Synchronization

/// A wait that only a cancellation of the waiting task ends.
final class CancellationWait: Sendable {
  private enum State {
    case idle
    case waiting(UnsafeContinuation<Void, Never>)
    case cancelled
  }

  private let state = Mutex(State.idle)

  /// - Parameter muster: Counts the arrival, after the wait has begun.
  func wait(arrivingAt muster: Muster) async {
    await withTaskCancellationHandler {
      await withUnsafeContinuation { continuation in
        let isCancelled = state.withLock { state in
          if case .cancelled = state { return true }
          state = .waiting(continuation)
          return false
        }
        muster.arrive()
        if isCancelled { continuation.resume() }
      }
    } onCancel: {
      let continuation = state.withLock { state -> UnsafeContinuation<Void, Never>? in
        defer { state = .cancelled }
        if case .waiting(let continuation) = state { return continuation }
        return nil
      }
      continuation?.resume()
    }
  }
}
