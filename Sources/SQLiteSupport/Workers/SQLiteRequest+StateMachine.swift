internal import Dispatch

extension SQLiteRequest {
  /// The state of a request in the queue of a connection.
  ///
  /// A connection is interrupted only while the request that was cancelled runs. So a request that
  /// has finished waits until a concurrent interruption has been made.
  struct StateMachine {
    private enum State {
      /// Not submitted.
      case new
      /// Cancelled before it was submitted.
      case refused
      case waiting(Waiter)
      /// Runs on the connection; nil while that is being opened.
      case running(Waiter, SQLiteHandle?)
      /// A canceller is about to interrupt the connection, and signals afterwards.
      case interrupting(Waiter, DispatchSemaphore)
      /// Cancelled, but still running.
      case interrupted(Waiter)
      case ended
    }

    private var state = State.new
    /// Whether the request was cancelled before its end. Stored, because each statement asks.
    private(set) var isCancelled = false

    enum Submission { case enqueue, refuse }

    /// The request was submitted.
    mutating func submitted(_ waiter: Waiter) -> Submission {
      switch state {
      case .new:
        state = .waiting(waiter)
        return .enqueue
      case .refused:
        state = .ended
        return .refuse
      case .waiting, .running, .interrupting, .interrupted, .ended:
        preconditionFailure("request submitted in state \(state)")
      }
    }

    enum Cancellation {
      case nothing
      case resume(Waiter)
      case interrupt(SQLiteHandle)
    }

    mutating func cancelled() -> Cancellation {
      switch state {
      case .new:
        (state, isCancelled) = (.refused, true)
        return .nothing
      case .waiting(let waiter):
        state = .ended
        return .resume(waiter)
      case .running(let waiter, let handle?):
        (state, isCancelled) = (.interrupting(waiter, DispatchSemaphore(value: 0)), true)
        return .interrupt(handle)
      case .running(let waiter, nil):
        (state, isCancelled) = (.interrupted(waiter), true)
        return .nothing
      case .refused, .interrupting, .interrupted, .ended: return .nothing
      }
    }

    /// The connection was interrupted.
    mutating func interruptionMade() -> DispatchSemaphore {
      guard case .interrupting(let waiter, let semaphore) = state else {
        preconditionFailure("interruption finished in state \(state)")
      }
      state = .interrupted(waiter)
      return semaphore
    }

    /// The connection is free for the request.
    ///
    /// - Returns: Whether to run it; false if it was cancelled.
    mutating func started(_ handle: SQLiteHandle?) -> Bool {
      switch state {
      case .waiting(let waiter):
        state = .running(waiter, handle)
        return true
      case .ended: return false
      case .new, .refused, .running, .interrupting, .interrupted:
        preconditionFailure("request started in state \(state)")
      }
    }

    enum End {
      case resume(Waiter)
      case waitForInterruption(DispatchSemaphore)
    }

    /// The body has returned or thrown.
    mutating func finished() -> End {
      switch state {
      case .running(let waiter, _), .interrupted(let waiter):
        state = .ended
        return .resume(waiter)
      case .interrupting(_, let semaphore): return .waitForInterruption(semaphore)
      case .new, .refused, .waiting, .ended:
        preconditionFailure("request finished in state \(state)")
      }
    }
  }
}
