extension Growth {
  /// The children that wait, and how many have been taken and not ended.
  struct StateMachine: Sendable {
    typealias Waiter = CheckedContinuation<(any ComposableOperation)?, Never>

    private enum State: Sendable {
      /// Children wait, or others that may add some are in flight.
      case growing
      /// Somebody waits for a child, and others that may add some are in flight.
      case waitedFor(Waiter)
      /// Nobody is left who could add a child.
      case ended
    }

    enum NextAction {
      case give((any ComposableOperation)?)
      case wait
    }

    struct ResumeAction {
      let waiter: Waiter
      let child: (any ComposableOperation)?
    }

    private var state = State.growing
    /// Nil where one has been taken, so that nobody is freed under the lock.
    private var waiting: [(any ComposableOperation)?]
    /// How many have been taken from the front.
    private var taken = 0
    private var inFlight = 0

    init(_ children: [any ComposableOperation]) { waiting = children }

    private mutating func take() -> (any ComposableOperation)? {
      guard taken < waiting.count else { return nil }
      let child = waiting[taken]
      waiting[taken] = nil
      taken += 1
      if taken > 32, taken * 2 > waiting.count {
        waiting.removeFirst(taken)
        taken = 0
      }
      inFlight += 1
      return child
    }

    /// Somebody wants a child. Only one at a time may.
    mutating func asked() -> NextAction {
      switch state {
      case .growing:
        if let child = take() { return .give(child) }
        if inFlight > 0 { return .wait }
        state = .ended
        return .give(nil)
      case .waitedFor: preconditionFailure("a child is requested while another request waits")
      case .ended: return .give(nil)
      }
    }

    /// The one who wanted a child waits.
    mutating func waited(_ waiter: Waiter) -> ResumeAction? {
      switch state {
      case .growing:
        if let child = take() { return ResumeAction(waiter: waiter, child: child) }
        if inFlight > 0 {
          state = .waitedFor(waiter)
          return nil
        }
        state = .ended
        return ResumeAction(waiter: waiter, child: nil)
      case .waitedFor: preconditionFailure("two requests wait for a child")
      case .ended: return ResumeAction(waiter: waiter, child: nil)
      }
    }

    /// - Returns: Whether the child could be added, and who is to be given one.
    mutating func added(_ child: any ComposableOperation) -> (isAdded: Bool, ResumeAction?) {
      switch state {
      case .growing:
        waiting.append(child)
        return (true, nil)
      case .waitedFor(let waiter):
        waiting.append(child)
        state = .growing
        return (true, ResumeAction(waiter: waiter, child: take()))
      case .ended: return (false, nil)
      }
    }

    /// A child that was taken has ended.
    mutating func childEnded() -> ResumeAction? {
      inFlight -= 1
      guard inFlight == 0, case .waitedFor(let waiter) = state else { return nil }
      state = .ended
      return ResumeAction(waiter: waiter, child: nil)
    }

    /// The composite has ended.
    ///
    /// - Returns: Those who never began, to be freed outside the lock.
    mutating func ended() -> [(any ComposableOperation)?] {
      state = .ended
      taken = 0
      defer { waiting = [] }
      return waiting
    }
  }
}
