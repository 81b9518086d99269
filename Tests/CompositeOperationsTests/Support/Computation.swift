import CompositeOperations
import Testing

/// Bodies that compute without suspending. Each occupies a thread of Swift's pool.
enum Computation {
  /// Computes until a condition holds.
  ///
  /// A broken engine may never make it hold: then this records an issue after a minute, so that the test fails and does
  /// not hang.
  static func run(until isOver: () -> Bool) {
    let end = ContinuousClock.now + .seconds(60)
    while !isOver() {
      if ContinuousClock.now < end { continue }
      Issue.record("A body computed in vain.")
      return
    }
  }

  /// Computes until the current task is cancelled.
  static func runUntilCancelled() throws {
    run(until: { Task.isCancelled })
    throw CancellationError()
  }

  private static let mutex = AsyncMutex()

  /// Runs a test whose bodies occupy threads until others have begun.
  ///
  /// One test at a time: several together could occupy every thread and deadlock. They run at a
  /// high priority, for which Swift's pool has threads of its own on Linux. Otherwise other tests
  /// would wait for these threads, and these tests for the threads of others.
  static func alone<Value: Sendable>(
    _ body: @escaping @Sendable () async -> Value
  ) async -> Value {
    await mutex.lock()
    defer { mutex.unlock() }
    return await Task(priority: .high) { await body() }.value
  }
}

/// A lock that tasks wait for without blocking a thread, first come, first served.
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
