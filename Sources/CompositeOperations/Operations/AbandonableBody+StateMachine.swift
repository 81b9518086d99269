extension AbandonableBody {
  /// Which comes first, the end of the body or its being left behind.
  struct StateMachine: Sendable {
    typealias Waiter = CheckedContinuation<Void, Never>

    enum EndAction {
      case none
      case resume(Waiter)
      /// Nobody waits for it any more.
      case giveUp
    }

    private enum State {
      /// Nobody waits yet, or somebody does.
      case running(Waiter?)
      case ended(End)
      case left
    }

    private var state = State.running(nil)

    /// How the body ended, if it was not left behind before.
    var end: End? {
      guard case .ended(let end) = state else { return nil }
      return end
    }

    /// - Returns: The waiter itself, if there is nothing to wait for.
    mutating func waited(_ waiter: Waiter) -> Waiter? {
      switch state {
      case .running(nil):
        state = .running(waiter)
        return nil
      case .running(.some):
        preconditionFailure("Two tasks waited for a body, in \(state).")
      case .ended, .left:
        return waiter
      }
    }

    mutating func ended(_ end: End) -> EndAction {
      switch state {
      case .running(let waiter):
        state = .ended(end)
        return waiter.map(EndAction.resume) ?? .none
      case .left:
        return .giveUp
      case .ended:
        preconditionFailure("A body ended twice, in \(state).")
      }
    }

    mutating func left() -> Waiter? {
      guard case .running(let waiter) = state else { return nil }
      state = .left
      return waiter
    }
  }
}
