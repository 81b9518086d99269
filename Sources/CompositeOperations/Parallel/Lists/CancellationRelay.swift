/// A relay that reports the cancellation of a puller's task for the child that the puller runs,
/// unless the child has ended before.
final class CancellationRelay: Sendable {
  // No payloads: a state with several payloads takes 700 instructions for each child.
  private enum Phase {
    case idle
    case watching
    /// The cancellation is being reported. The end of the child waits for that.
    case reporting
    case reported
  }

  private struct State {
    var phase = Phase.idle
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
  ///   call ``waitUntilReported()`` first.
  func stopWatching() -> Bool {
    state.withLock { state in
      if state.phase == .reporting { return false }
      state.phase = .idle
      state.scope = nil
      return true
    }
  }

  func taskWasCancelled() {
    let scope = state.withLock { state -> OperationScope? in
      guard state.phase == .watching else { return nil }
      state.phase = .reporting
      return state.scope.take()
    }
    guard let scope else { return }
    CancellationReports.make { [self] in
      scope.reportCancellation()
      let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
        guard state.phase == .reporting else { return nil }
        state.phase = .reported
        return state.waiter.take()
      }
      waiter?.resume()
    }
  }

  /// Waits until the cancellation has been reported.
  nonisolated(nonsending) func waitUntilReported() async {
    await withCheckedContinuation { continuation in
      let isReported = state.withLock { state in
        guard state.phase == .reporting else { return true }
        state.waiter = continuation
        return false
      }
      if isReported { continuation.resume() }
    }
  }
}
