import CompositeOperations
import Testing

/// Bodies that compute without suspending. Each occupies a thread of Swift's pool.
enum Computation {
  /// Computes until a condition is true.
  ///
  /// In a broken engine the condition can remain false. After a minute this records an issue and
  /// returns, so that the test fails instead of hanging.
  static func run(until isOver: () -> Bool) {
    let end = ContinuousClock.now + .seconds(60)
    while !isOver() {
      if ContinuousClock.now < end { continue }
      Issue.record("The condition of a computing body is still false after 60 s.")
      return
    }
  }

  /// Computes until the current task is cancelled.
  static func runUntilCancelled() throws {
    run(until: { Task.isCancelled })
    throw CancellationError()
  }

  private static let mutex = AsyncMutex()

  /// Runs a test whose bodies occupy threads until other bodies have begun.
  ///
  /// Only one such test runs at a time, because several could occupy every thread and deadlock. It
  /// runs at a high priority, for which Swift's pool has separate threads on Linux. Otherwise, it
  /// could deadlock with other tests that occupy threads.
  static func alone<Value: Sendable>(
    _ body: @escaping @Sendable () async -> Value
  ) async -> Value {
    await mutex.lock()
    defer { mutex.unlock() }
    return await Task(priority: .high) { await body() }.value
  }
}

/// A FIFO lock that tasks wait for without blocking a thread.
private final class AsyncMutex: Sendable {
  private let state = Lock((isLocked: false, waiters: [CheckedContinuation<Void, Never>]()))

  func lock() async {
    await withCheckedContinuation { waiter in
      let isLocked = state.withLock { state in
        if state.isLocked { state.waiters.append(waiter) }
        defer { state.isLocked = true }
        return state.isLocked
      }
      if !isLocked { waiter.resume() }
    }
  }

  func unlock() {
    let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
      if state.waiters.isEmpty { state.isLocked = false }
      return state.waiters.isEmpty ? nil : state.waiters.removeFirst()
    }
    next?.resume()
  }
}
