/// Lets one task through at a time, in the order in which they came, without blocking a thread.
///
/// Somebody may also wait until nobody is inside and nobody waits to get in.
final class Turnstile: Sendable {
  private let machine = Lock(StateMachine())

  /// Goes through if nobody is inside just now, or about to leave.
  ///
  /// - Returns: Whether the caller is inside.
  func tryToEnter() -> Bool {
    // A few looks cost less than a wait.
    for _ in 0..<16 where machine.withLock({ $0.triedToEnter() }) { return true }
    return false
  }

  /// Goes through; waits for those who came before.
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
