internal import CompositeOperations

/// A door that opens once, and for which one task can wait.
package final class Latch: Sendable {
  private enum State: Sendable {
    case closed
    case awaited(CheckedContinuation<Void, Never>)
    case open
  }

  private let state = Lock(State.closed)

  package init() {}

  package var isOpen: Bool {
    state.withLock { if case .open = $0 { true } else { false } }
  }

  package func open() {
    let continuation = state.withLock { state -> CheckedContinuation<Void, Never>? in
      defer { state = .open }
      if case .awaited(let continuation) = state { return continuation }
      return nil
    }
    continuation?.resume()
  }

  /// Waits until the latch is open, or the task is cancelled, which opens it.
  package func wait() async {
    await withTaskCancellationHandler {
      await waitIgnoringCancellation()
    } onCancel: {
      open()
    }
  }

  package func waitIgnoringCancellation() async {
    await withCheckedContinuation { continuation in
      let isOpen = state.withLock { state in
        if case .open = state { return true }
        state = .awaited(continuation)
        return false
      }
      if isOpen { continuation.resume() }
    }
  }
}

extension Latch {
  /// Waits until the latch is open, or a time has passed on the clock of the environment. That opens
  /// it, too.
  ///
  /// - Throws: `CancellationError`, or the error of the clock.
  func wait(atMost longest: Duration?, in context: OperationContext) async throws {
    if let longest {
      try await withThrowingTaskGroup { group in
        group.addTask {
          try await context.wait(longest)
          self.open()
        }
        await wait()
        group.cancelAll()
        do { try await group.waitForAll() } catch is CancellationError {}
      }
    } else {
      await wait()
    }
    try Task.checkCancellation()
  }
}
