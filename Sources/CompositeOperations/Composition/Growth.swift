/// The children of one run of a composite that grows: those that wait, and where others are added.
final class Growth: GrowingComposite {
  /// What the children give.
  private let valueType: any Sendable.Type
  private let machine: Lock<StateMachine>

  init(_ children: [any ComposableOperation], giving valueType: any Sendable.Type) {
    self.valueType = valueType
    machine = Lock(StateMachine(children))
  }

  /// Gives the children to a composite, until nobody is left who could add one.
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

  /// Nothing can be added from now on.
  func end() { _ = machine.withLock { $0.ended() } }

  private nonisolated(nonsending) func next() async -> (any ComposableOperation)? {
    switch machine.withLock({ $0.asked() }) {
    case .give(let child): return child
    case .wait: break
    }
    // Not cut short by a cancellation: the composite waits for those in flight, whose ends end this.
    return await withCheckedContinuation { waiter in
      machine.withLock { $0.waited(waiter) }?.perform()
    }
  }

  private func childEnded() { machine.withLock { $0.childEnded() }?.perform() }
}

extension Growth.StateMachine.ResumeAction {
  fileprivate func perform() { waiter.resume(returning: child) }
}
