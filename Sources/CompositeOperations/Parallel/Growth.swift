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
