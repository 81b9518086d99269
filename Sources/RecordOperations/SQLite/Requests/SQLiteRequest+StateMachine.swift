internal import Dispatch

extension SQLiteRequest {
  /// Where a request is on its way through the line of a connection.
  ///
  /// What it is for: a connection is interrupted for a request only while that one runs. So a request that has run to
  /// its end waits until who is interrupting it has done so.
  struct StateMachine {
    private enum State {
      /// Nobody waits for it yet.
      case new
      /// It was cancelled before anybody waited.
      case refused
      case waiting(Waiter)
      /// It has the connection; nil as long as that is being opened.
      case running(Waiter, SQLiteHandle?)
      /// Somebody is about to interrupt the connection, and signals when it is done.
      case interrupting(Waiter, DispatchSemaphore)
      /// It still runs, and shall not for long.
      case interrupted(Waiter)
      case ended
    }

    private var state = State.new

    enum Submission { case enqueue, refuse }

    /// Somebody waits for it.
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
        state = .refused
        return .nothing
      case .waiting(let waiter):
        state = .ended
        return .resume(waiter)
      case .running(let waiter, let handle?):
        state = .interrupting(waiter, DispatchSemaphore(value: 0))
        return .interrupt(handle)
      case .running(let waiter, nil):
        state = .interrupted(waiter)
        return .nothing
      case .refused, .interrupting, .interrupted, .ended: return .nothing
      }
    }

    /// The connection has been interrupted.
    mutating func interruptionMade() -> DispatchSemaphore {
      guard case .interrupting(let waiter, let semaphore) = state else {
        preconditionFailure("interruption finished in state \(state)")
      }
      state = .interrupted(waiter)
      return semaphore
    }

    /// It is its turn.
    ///
    /// - Returns: Whether it is still wanted.
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

    /// It has run to its end.
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

    var isCancelled: Bool {
      switch state {
      case .refused, .interrupting, .interrupted: true
      case .new, .waiting, .running, .ended: false
      }
    }
  }
}
