extension AbandonableBody {
  /// Which comes first, the end of the body or its being left behind.
  struct StateMachine: Sendable {
    typealias Waiter = CheckedContinuation<Void, Never>

    enum EndAction {
      case none
      case resume(Waiter)
      /// The run is over.
      case giveUp
    }

    enum LeaveAction {
      case none
      /// The waiter is resumed before.
      case cancelBody(Waiter?)
    }

    private enum State {
      /// The body has not begun. Somebody waits, or nobody does yet.
      case waiting(Waiter?)
      /// The body runs.
      case running(Waiter?)
      case ended(End)
      case left
    }

    private var state = State.waiting(nil)

    /// How the body ended, if it was not left behind before.
    var end: End? {
      guard case .ended(let end) = state else { return nil }
      return end
    }

    /// - Returns: The waiter itself, if there is nothing to wait for.
    mutating func waited(_ waiter: Waiter) -> Waiter? {
      switch state {
      case .waiting(nil):
        state = .waiting(waiter)
        return nil
      case .running(nil):
        state = .running(waiter)
        return nil
      case .waiting(.some), .running(.some):
        preconditionFailure("Two tasks waited for a body, in \(state).")
      case .ended, .left:
        return waiter
      }
    }

    /// - Returns: Whether the body may begin; not if it has been left behind (O2).
    mutating func began() -> Bool {
      switch state {
      case .waiting(let waiter):
        state = .running(waiter)
        return true
      case .left:
        return false
      case .running, .ended:
        preconditionFailure("A body began twice, in \(state).")
      }
    }

    mutating func ended(_ end: End) -> EndAction {
      switch state {
      case .waiting:
        preconditionFailure("A body ended before it began, in \(state).")
      case .running(let waiter):
        state = .ended(end)
        return waiter.map(EndAction.resume) ?? .none
      case .left:
        return .giveUp
      case .ended:
        preconditionFailure("A body ended twice, in \(state).")
      }
    }

    mutating func left() -> LeaveAction {
      switch state {
      case .waiting(let waiter), .running(let waiter):
        state = .left
        return .cancelBody(waiter)
      case .ended, .left:
        return .none
      }
    }
  }
}
