extension AsyncMutex {
  /// Whether a task holds the mutex, and which tasks wait.
  ///
  /// The mutex passes from its holder to the next waiter without being free in between, so that no
  /// other task can acquire it before the waiter. Every method takes amortized constant time.
  struct StateMachine: Sendable {
    /// Resumed with whether the waiter holds the mutex; false if it was cancelled.
    typealias Continuation = CheckedContinuation<Bool, Never>
    typealias IdleContinuation = CheckedContinuation<Void, Never>

    private enum Waiter: Sendable {
      case uncancellable(Continuation)
      /// A waiter in ``cancellable``, or one that has been cancelled.
      case cancellable(number: Int)
    }

    private enum CancellableWaiter: Sendable {
      /// The task is about to suspend.
      case registered
      case suspended(Continuation)
      /// The task has acquired the mutex before it suspended, and counts as its holder.
      case acquired
      /// The task was cancelled before it suspended.
      case cancelled
    }

    private var isHeld = false
    private var queue = Line<Waiter>()
    private var cancellable: [Int: CancellableWaiter] = [:]
    private var lastNumber = 0
    private var waiterCount = 0
    private var idleWaiters: [IdleContinuation] = []

    /// The number of tasks that hold the mutex or wait for it.
    var count: Int { waiterCount + (isHeld ? 1 : 0) }

    /// - Returns: Whether the task holds the mutex.
    mutating func triedToAcquire() -> Bool {
      if isHeld { return false }
      isHeld = true
      return true
    }

    /// A task that can be cancelled is about to wait.
    ///
    /// - Returns: The number of the waiter; nil if the task holds the mutex.
    mutating func registered() -> Int? {
      if triedToAcquire() { return nil }
      lastNumber += 1
      enqueue(.cancellable(number: lastNumber))
      cancellable[lastNumber] = .registered
      return lastNumber
    }

    /// A registered task has suspended.
    ///
    /// - Returns: Whether the task holds the mutex; nil if it must wait.
    mutating func suspended(_ continuation: Continuation, as number: Int) -> Bool? {
      switch cancellable.removeValue(forKey: number) {
      case .registered:
        cancellable[number] = .suspended(continuation)
        return nil
      case .acquired: return true
      case .cancelled: return false
      case .suspended, nil:
        preconditionFailure("the waiter \(number) suspended, but is not registered")
      }
    }

    /// A registered task was cancelled.
    ///
    /// - Returns: Its continuation, if it waits.
    mutating func cancelled(_ number: Int) -> Continuation? {
      switch cancellable[number] {
      case .registered:
        cancellable[number] = .cancelled
        dequeueCancelled()
        return nil
      case .suspended(let continuation):
        cancellable[number] = nil
        dequeueCancelled()
        return continuation
      case .acquired, .cancelled, nil: return nil
      }
    }

    /// A task that cannot be cancelled has suspended.
    ///
    /// - Returns: Its continuation, if it holds the mutex.
    mutating func suspended(_ continuation: Continuation) -> Continuation? {
      if triedToAcquire() { return continuation }
      enqueue(.uncancellable(continuation))
      return nil
    }

    enum Release {
      case nothing
      /// Resume the waiter, which now holds the mutex.
      case resume(Continuation)
      /// Resume the tasks that wait until the mutex is idle.
      case resumeIdle([IdleContinuation])
    }

    mutating func released() -> Release {
      precondition(isHeld, "release() was called, but no task holds the mutex")
      while let waiter = queue.popFirst() {
        switch waiter {
        case .uncancellable(let continuation):
          waiterCount -= 1
          return .resume(continuation)
        case .cancellable(let number):
          switch cancellable[number] {
          case .suspended(let continuation):
            cancellable[number] = nil
            waiterCount -= 1
            return .resume(continuation)
          case .registered:
            cancellable[number] = .acquired
            waiterCount -= 1
            return .nothing
          case .cancelled, nil: continue
          case .acquired: preconditionFailure("the waiter \(number) is in the queue twice")
          }
        }
      }
      isHeld = false
      if idleWaiters.isEmpty { return .nothing }
      return .resumeIdle(exchange(&idleWaiters, with: []))
    }

    /// A task has suspended until the mutex is idle.
    ///
    /// - Returns: Its continuation, if the mutex is idle.
    mutating func suspendedUntilIdle(_ continuation: IdleContinuation) -> IdleContinuation? {
      if !isHeld { return continuation }
      idleWaiters.append(continuation)
      return nil
    }

    private mutating func enqueue(_ waiter: Waiter) {
      queue.append(waiter)
      waiterCount += 1
    }

    /// Removes a cancelled waiter, once half of the queue is cancelled: moving all others each time
    /// would take linear time.
    private mutating func dequeueCancelled() {
      waiterCount -= 1
      guard queue.count > 2 * waiterCount + 32 else { return }
      for _ in 0..<queue.count {
        guard let waiter = queue.popFirst() else { return }
        if isWaiting(waiter) { queue.append(waiter) }
      }
    }

    private func isWaiting(_ waiter: Waiter) -> Bool {
      guard case .cancellable(let number) = waiter else { return true }
      switch cancellable[number] {
      case .registered, .suspended: return true
      case .acquired, .cancelled, nil: return false
      }
    }
  }
}
