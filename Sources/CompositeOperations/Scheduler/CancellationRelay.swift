/// A relay that reports the cancellation of a puller's task for the child that the puller runs,
/// unless the child has ended before.
final class CancellationRelay: Sendable {
  private enum State {
    case nobody
    case watching(OperationScope)
    /// The cancellation is being reported. The end of the child waits for that.
    case telling(CheckedContinuation<Void, Never>?)
    case told
  }

  private let state = Lock(State.nobody)

  func watch(_ scope: OperationScope) { state.withLock { $0 = .watching(scope) } }

  /// Stops watching the child.
  ///
  /// - Returns: Whether the end of the child can be reported at once. Otherwise the caller must
  ///   call ``waitUntilTold()`` first.
  func letGo() -> Bool {
    state.withLock { state in
      if case .telling = state { return false }
      state = .nobody
      return true
    }
  }

  func taskWasCancelled() {
    let scope = state.withLock { state -> OperationScope? in
      guard case .watching(let scope) = state else { return nil }
      state = .telling(nil)
      return scope
    }
    guard let scope else { return }
    CancellationReports.make { [self] in
      scope.reportCancellation()
      let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
        guard case .telling(let waiter) = state else { return nil }
        state = .told
        return waiter
      }
      waiter?.resume()
    }
  }

  /// Waits until the cancellation has been reported.
  nonisolated(nonsending) func waitUntilTold() async {
    await withCheckedContinuation { continuation in
      let isTold = state.withLock { state in
        guard case .telling = state else { return true }
        state = .telling(continuation)
        return false
      }
      if isTold { continuation.resume() }
    }
  }
}
