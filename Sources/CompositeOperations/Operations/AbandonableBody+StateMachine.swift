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
        preconditionFailure("two tasks wait for one body, in state \(state)")
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
        preconditionFailure("a body began twice, in state \(state)")
      }
    }

    mutating func ended(_ end: End) -> EndAction {
      switch state {
      case .waiting:
        preconditionFailure("a body ended before it began, in state \(state)")
      case .running(let waiter):
        state = .ended(end)
        return waiter.map(EndAction.resume) ?? .none
      case .left:
        return .giveUp
      case .ended:
        preconditionFailure("a body ended twice, in state \(state)")
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
