internal import Synchronization
internal import ThreadSupport

/// One sleep of a task by the process's timer.
///
/// Does what `Task.sleep` does, but a cancelled sleep uses no memory: see ``DeadlineTimer``.
final class TimerSleep: Deadline, @unchecked Sendable {
  private enum State: UInt8, AtomicRepresentable {
    case awake, sleeping, over
  }

  private let state = Atomic(State.awake)
  // Written before the state becomes `sleeping`, and read by the thread that ends this state.
  private var waiter: TaskWaiter?

  /// Suspends the calling task for a time.
  ///
  /// - Parameter delay: The time in nanoseconds.
  /// - Throws: `CancellationError` as soon as the task is cancelled.
  static nonisolated(nonsending) func sleep(nanoseconds delay: Int64) async throws {
    let time = EventTime.now.advanced(byNanoseconds: delay)
    let sleep = TimerSleep()
    await withTaskCancellationHandler {
      await TaskWaiter.wait { sleep.begin($0, until: time) }
    } onCancel: {
      sleep.end()
      DeadlineTimer.shared.remove(sleep)
    }
    try Task.checkCancellation()
  }

  private func begin(_ waiter: TaskWaiter, until time: Int64) {
    self.waiter = waiter
    let begins = state.compareExchange(
      expected: .awake, desired: .sleeping, ordering: .acquiringAndReleasing)
    guard begins.exchanged else { return waiter.resume() }
    DeadlineTimer.shared.add(self, at: time)
    // A cancellation before the call of `add` has removed nothing.
    if state.load(ordering: .acquiring) == .over { DeadlineTimer.shared.remove(self) }
  }

  override func reached() { end() }

  private func end() {
    guard state.exchange(.over, ordering: .acquiringAndReleasing) == .sleeping else { return }
    waiter?.resume()
  }
}
