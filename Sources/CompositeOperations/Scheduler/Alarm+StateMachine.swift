extension Alarm {
  /// The number of branches that can still ring, and the task that waits.
  struct StateMachine: Sendable {
    typealias Waiter = TaskWaiter

    private enum State {
      case silent(branches: Int, Waiter?)
      case rung
    }

    private var state = State.silent(branches: 0, nil)

    mutating func branchBegan() {
      switch state {
      case .silent(let branches, let waiter): state = .silent(branches: branches + 1, waiter)
      case .rung: break
      }
    }

    /// - Returns: The waiter, if the last branch has ended.
    mutating func branchEnded() -> Waiter? {
      switch state {
      case .silent(branches: 0, _):
        preconditionFailure("branchEnded() without a matching branchBegan()")
      case .silent(branches: 1, let waiter):
        state = .silent(branches: 0, nil)
        return waiter
      case .silent(let branches, let waiter):
        state = .silent(branches: branches - 1, waiter)
        return nil
      case .rung:
        return nil
      }
    }

    /// - Returns: The waiter, if this is the first ring.
    mutating func rung() -> Waiter? {
      switch state {
      case .silent(_, let waiter):
        state = .rung
        return waiter
      case .rung:
        return nil
      }
    }

    /// - Returns: The waiter itself, if there is nothing to wait for.
    mutating func waited(_ waiter: Waiter) -> Waiter? {
      switch state {
      case .silent(branches: 0, _), .rung: return waiter
      case .silent(let branches, nil):
        state = .silent(branches: branches, waiter)
        return nil
      case .silent(_, .some):
        preconditionFailure("wait() was called while another task waits for the alarm")
      }
    }
  }
}
