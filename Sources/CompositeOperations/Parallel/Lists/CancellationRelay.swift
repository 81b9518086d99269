/// A relay that reports the cancellation of a puller's task for the child that the puller runs,
/// unless the child has ended before.
final class CancellationRelay: Sendable {
  // No payloads: a state with several payloads takes 700 instructions for each child.
  private enum Phase {
    case nobody
    case watching
    /// The cancellation is being reported. The end of the child waits for that.
    case telling
    case told
  }

  private struct State {
    var phase = Phase.nobody
    /// The run of the child, while it is watched.
    var scope: OperationScope?
    /// The puller, while it waits for the report.
    var waiter: CheckedContinuation<Void, Never>?
  }

  private let state = Lock(State())

  func watch(_ scope: OperationScope) {
    state.withLock { state in
      state.phase = .watching
      state.scope = scope
    }
  }

  /// Stops watching the child.
  ///
  /// - Returns: Whether the end of the child can be reported at once. Otherwise the caller must
  ///   call ``waitUntilTold()`` first.
  func letGo() -> Bool {
    state.withLock { state in
      if state.phase == .telling { return false }
      state.phase = .nobody
      state.scope = nil
      return true
    }
  }

  func taskWasCancelled() {
    let scope = state.withLock { state -> OperationScope? in
      guard state.phase == .watching else { return nil }
      state.phase = .telling
      return state.scope.take()
    }
    guard let scope else { return }
    CancellationReports.make { [self] in
      scope.reportCancellation()
      let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
        guard state.phase == .telling else { return nil }
        state.phase = .told
        return state.waiter.take()
      }
      waiter?.resume()
    }
  }

  /// Waits until the cancellation has been reported.
  nonisolated(nonsending) func waitUntilTold() async {
    await withCheckedContinuation { continuation in
      let isTold = state.withLock { state in
        guard state.phase == .telling else { return true }
        state.waiter = continuation
        return false
      }
      if isTold { continuation.resume() }
    }
  }
}
