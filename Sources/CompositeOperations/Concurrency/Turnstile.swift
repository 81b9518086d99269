/// An asynchronous mutex: lets one task in at a time, in FIFO order, without blocking a thread.
///
/// A task can also wait until no other task is inside or waits to enter.
final class Turnstile: Sendable {
  private let machine = Lock(StateMachine())

  /// Enters if no task is inside, or if that task leaves very soon.
  ///
  /// - Returns: Whether the caller is inside.
  func tryToEnter() -> Bool {
    // A few attempts cost less than a suspension.
    for _ in 0..<16 where machine.withLock({ $0.triedToEnter() }) { return true }
    return false
  }

  /// Enters, after the tasks that came before.
  nonisolated(nonsending) func enter() async {
    if !tryToEnter() { await waitToEnter() }
  }

  nonisolated(nonsending) func waitToEnter() async {
    await withCheckedContinuation { continuation in
      machine.withLock { $0.waitedToEnter(continuation) }?.resume()
    }
  }

  func leave() {
    for waiter in machine.withLock({ $0.left() }) { waiter.resume() }
  }

  /// Waits until no task is inside.
  nonisolated(nonsending) func waitUntilIdle() async {
    await withCheckedContinuation { continuation in
      machine.withLock { $0.waitedUntilIdle(continuation) }?.resume()
    }
  }
}
