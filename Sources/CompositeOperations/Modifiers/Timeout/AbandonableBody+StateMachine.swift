extension AbandonableBody {
  /// Decides which happens first: the body ends, or its run abandons it.
  struct StateMachine: Sendable {
    typealias Waiter = CheckedContinuation<Void, Never>

    enum EndAction {
      case none
      case resume(Waiter)
      /// The run has already ended: discard the result of the body.
      case giveUp
    }

    enum LeaveAction {
      case none
      /// Resume the waiter first, then cancel the body.
      case cancelBody(Waiter?)
    }

    private enum State {
      /// The body has not begun. Nil until the run waits.
      case waiting(Waiter?)
      /// The body runs.
      case running(Waiter?)
      case ended(End)
      case left
    }

    private var state = State.waiting(nil)

    /// How the body ended; nil if it has not ended or was abandoned first.
    var end: End? {
      guard case .ended(let end) = state else { return nil }
      return end
    }

    /// Stores the waiter.
    ///
    /// - Returns: The waiter, to be resumed, if the body has ended or was abandoned.
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

    /// - Returns: Whether the body may begin; `false` if it was abandoned first (O2).
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
