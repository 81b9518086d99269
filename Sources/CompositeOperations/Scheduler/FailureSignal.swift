/// A signal that passes the first failure from a nested task group to the outermost group of a run,
/// which then cancels all tasks.
///
/// A task group learns of a failure only from its own child task, and a nested group fails only
/// when all of its tasks have ended. So one task of the outermost group waits here, and throws when
/// a branch rings. The wait also ends when no branch is left that can raise.
struct FailureSignal: ~Copyable, Sendable {
  private let machine = Lock(StateMachine())

  /// Registers a task group that can raise. ``branchEnded()`` must follow.
  func branchBegan() { machine.withLock { $0.branchBegan() } }

  func branchEnded() { machine.withLock { $0.branchEnded() }?.resume() }

  func raise() { machine.withLock { $0.raised() }?.resume() }

  /// Waits until a branch rings or none is left.
  nonisolated(nonsending) func wait() async {
    await TaskWaiter.wait { waiter in machine.withLock { $0.waited(waiter) }?.resume() }
  }
}

extension FailureSignal {
  /// The number of branches that can still raise, and the task that waits.
  struct StateMachine: Sendable {
    typealias Waiter = TaskWaiter

    private enum State {
      case silent(branches: Int, Waiter?)
      case raised
    }

    private var state = State.silent(branches: 0, nil)

    mutating func branchBegan() {
      switch state {
      case .silent(let branches, let waiter): state = .silent(branches: branches + 1, waiter)
      case .raised: break
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
      case .raised:
        return nil
      }
    }

    /// - Returns: The waiter, if this is the first raise.
    mutating func raised() -> Waiter? {
      switch state {
      case .silent(_, let waiter):
        state = .raised
        return waiter
      case .raised:
        return nil
      }
    }

    /// - Returns: The waiter itself, if there is nothing to wait for.
    mutating func waited(_ waiter: Waiter) -> Waiter? {
      switch state {
      case .silent(branches: 0, _), .raised: return waiter
      case .silent(let branches, nil):
        state = .silent(branches: branches, waiter)
        return nil
      case .silent(_, .some):
        preconditionFailure("wait() was called while another task waits for the failureSignal")
      }
    }
  }
}
