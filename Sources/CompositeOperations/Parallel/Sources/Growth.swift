/// The children of one run of a growing composite: keeps the pending ones and takes new ones.
final class Growth: GrowingComposite {
  /// The result type of the children.
  private let valueType: any Sendable.Type
  private let machine: Lock<StateMachine>

  init(_ children: [any ComposableOperation], giving valueType: any Sendable.Type) {
    self.valueType = valueType
    machine = Lock(StateMachine(children))
  }

  /// The source of the children, which ends when no child is left that could add another one.
  var source: ChildSource {
    ChildSource(.eventually { await self.next() }, childEnded: { self.childEnded() })
  }

  func add<Child: ComposableOperation>(_ child: Child) throws(ChildNotAddedError) {
    guard Child.Success.self == valueType else {
      throw ChildNotAddedError(
        name: child.operationName,
        reason: .givesOther(expected: "\(valueType)", given: "\(Child.Success.self)"))
    }
    let (isAdded, action) = machine.withLock { $0.added(child) }
    action?.perform()
    if !isAdded { throw ChildNotAddedError(name: child.operationName, reason: .hasEnded) }
  }

  /// Ends the composite: no child can be added from now on.
  func end() { _ = machine.withLock { $0.ended() } }

  private nonisolated(nonsending) func next() async -> (any ComposableOperation)? {
    switch machine.withLock({ $0.asked() }) {
    case .give(let child): return child
    case .wait: break
    }
    // A cancellation does not end this wait. The composite waits for its children in flight, whose
    // ends resume it.
    return await withCheckedContinuation { waiter in
      machine.withLock { $0.waited(waiter) }?.perform()
    }
  }

  private func childEnded() { machine.withLock { $0.childEnded() }?.perform() }
}

extension Growth.StateMachine.ResumeAction {
  fileprivate func perform() { waiter.resume(returning: child) }
}

extension Growth {
  /// The pending children, and the number of children in flight.
  struct StateMachine: Sendable {
    typealias Waiter = CheckedContinuation<(any ComposableOperation)?, Never>

    private enum State: Sendable {
      /// Children are pending, or children in flight may add some.
      case growing
      /// A request waits for a child, which children in flight may add.
      case waitedFor(Waiter)
      /// No child is left that could add another one.
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
    /// The pending children; nil where one was taken, so that no child is freed under the lock.
    private var waiting: [(any ComposableOperation)?]
    /// The number of children that were taken from the front.
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

    /// A child is requested. Only one request at a time is allowed.
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

    /// The request waits for a child.
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

    /// - Returns: Whether the child was added, and the waiting request to resume.
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
    /// - Returns: The children that never began, to be freed outside the lock.
    mutating func ended() -> [(any ComposableOperation)?] {
      state = .ended
      taken = 0
      defer { waiting = [] }
      return waiting
    }
  }
}
