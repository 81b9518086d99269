/// An asynchronous mutex: one task holds it at a time. Waiters suspend, without blocking a thread,
/// and acquire it in FIFO order.
///
/// ```text
/// try await mutex.acquire()
/// defer { mutex.release() }
/// ```
///
/// A task can also wait until no task holds the mutex or waits for it.
package final class AsyncMutex: Sendable {
  private let machine = Lock(StateMachine())

  package init() {}

  /// The number of tasks that hold the mutex or wait for it.
  package var count: Int { machine.withLock { $0.count } }

  /// Acquires the mutex if no task holds it, or if its holder releases it very soon.
  ///
  /// - Returns: Whether the caller holds the mutex.
  package func tryAcquire() -> Bool {
    // A few attempts cost less than a suspension.
    for _ in 0..<16 where machine.withLock({ $0.triedToAcquire() }) { return true }
    return false
  }

  /// Acquires the mutex after the tasks that are already waiting.
  ///
  /// - Throws: `CancellationError` if the task is cancelled before it acquires the mutex.
  package nonisolated(nonsending) func acquire() async throws {
    try Task.checkCancellation()
    guard let number = machine.withLock({ $0.registered() }) else { return }
    let isHolder = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isHolder = machine.withLock { $0.suspended(continuation, as: number) }
        if let isHolder { continuation.resume(returning: isHolder) }
      }
    } onCancel: {
      machine.withLock { $0.cancelled(number) }?.resume(returning: false)
    }
    if !isHolder { throw CancellationError() }
  }

  /// Acquires the mutex after the tasks that are already waiting, even if the task is cancelled.
  package nonisolated(nonsending) func acquireIgnoringCancellation() async {
    if !tryAcquire() { await waitIgnoringCancellation() }
  }

  /// Acquires the mutex after ``tryAcquire()`` has failed, even if the task is cancelled.
  package nonisolated(nonsending) func waitIgnoringCancellation() async {
    _ = await withCheckedContinuation { continuation in
      machine.withLock { $0.suspended(continuation) }?.resume(returning: true)
    }
  }

  /// Releases the mutex, or passes it to the next waiter.
  ///
  /// - Precondition: The caller holds the mutex.
  package func release() {
    switch machine.withLock({ $0.released() }) {
    case .nothing: break
    case .resume(let waiter): waiter.resume(returning: true)
    case .resumeIdle(let waiters): for waiter in waiters { waiter.resume() }
    }
  }

  /// Waits until no task holds the mutex or waits for it.
  package nonisolated(nonsending) func waitUntilIdle() async {
    await withCheckedContinuation { continuation in
      machine.withLock { $0.suspendedUntilIdle(continuation) }?.resume()
    }
  }
}
