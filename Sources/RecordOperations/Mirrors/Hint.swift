internal import CompositeOperations

/// A hint that one task waits for. Without a waiting task, several hints count as one.
final class Hint: Sendable {
  private enum State {
    case none, given
    case awaited(CheckedContinuation<Void, Never>)
  }
  private let state = Lock(State.none)

  func give() {
    let waiter: CheckedContinuation<Void, Never>? = state.withLock { state in
      if case .awaited(let waiter) = state {
        state = .none
        return waiter
      }
      state = .given
      return nil
    }
    waiter?.resume()
  }

  /// Waits for a hint, unless one has been given, or for the cancellation of the task.
  nonisolated(nonsending) func take() async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { waiter in
        let isGiven = state.withLock { state in
          if case .given = state {
            state = .none
            return true
          }
          state = .awaited(waiter)
          return false
        }
        if isGiven || Task.isCancelled {
          // The cancellation may have come before the waiter.
          if isGiven { waiter.resume() } else { give() }
        }
      }
    } onCancel: {
      give()
    }
  }
}
