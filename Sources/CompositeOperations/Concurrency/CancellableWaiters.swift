/// Tasks that wait for an event and stop waiting when they are cancelled.
struct CancellableWaiters: Sendable {
  typealias Waiter = CheckedContinuation<Void, Never>

  private enum Waiting: Sendable {
    /// The task is about to wait.
    case registered
    case waits(Waiter)
    /// The task was cancelled before it waited.
    case cancelled
  }

  private var waiters: [Int: Waiting] = [:]
  private var lastNumber = 0

  /// Registers a task that is about to wait.
  ///
  /// - Returns: The number of the new waiter.
  mutating func register() -> Int {
    lastNumber += 1
    waiters[lastNumber] = .registered
    return lastNumber
  }

  /// Stores the continuation of a registered task.
  ///
  /// - Returns: The continuation, to be resumed, if the task was cancelled before.
  mutating func waits(_ waiter: Waiter, as number: Int) -> Waiter? {
    if case .cancelled = waiters.removeValue(forKey: number) { return waiter }
    waiters[number] = .waits(waiter)
    return nil
  }

  /// Removes a waiter that has nothing left to wait for.
  mutating func remove(_ number: Int) { waiters[number] = nil }

  /// Removes a waiter whose task was cancelled.
  ///
  /// - Returns: The waiter to resume, if it is suspended.
  mutating func cancelled(_ number: Int) -> Waiter? {
    switch waiters[number] {
    case .waits(let waiter):
      waiters[number] = nil
      return waiter
    case .registered:
      waiters[number] = .cancelled
      return nil
    case .cancelled, nil: return nil
    }
  }

  /// Removes the suspended waiters, because the event has happened.
  ///
  /// - Returns: The waiters to resume.
  mutating func removeAll() -> [Waiter] {
    var removed: [Waiter] = []
    for case (let number, .waits(let waiter)) in waiters {
      waiters[number] = nil
      removed.append(waiter)
    }
    return removed
  }
}

/// A suspended task, which must be resumed exactly once.
///
/// It is a checked continuation in debug builds, and an unsafe one in release builds: a state that
/// can hold a checked continuation takes far longer to create, copy and free, even while empty.
@safe struct TaskWaiter: Sendable {
  #if DEBUG
    private let continuation: CheckedContinuation<Void, Never>
  #else
    private let continuation: UnsafeContinuation<Void, Never>
  #endif

  /// Suspends the current task until its waiter is resumed.
  ///
  /// - Parameter body: Called immediately. It must ensure that the waiter is resumed exactly once,
  ///   on any thread.
  static nonisolated(nonsending) func wait(_ body: (TaskWaiter) -> Void) async {
    #if DEBUG
      await withCheckedContinuation { body(TaskWaiter(continuation: $0)) }
    #else
      await unsafe withUnsafeContinuation { body(unsafe TaskWaiter(continuation: $0)) }
    #endif
  }

  func resume() {
    #if DEBUG
      continuation.resume()
    #else
      unsafe continuation.resume()
    #endif
  }
}
