// Recovery from errors: R3.

extension Oracle {
  mutating func checkMayBeginRecovery(
    _ run: NodeRun, of recovering: Tree.Recovering, _ parent: NodeRun
  ) {
    let name = "n\(parent.place.node.id)"
    guard let first = parent.lastChild else {
      return expect(run.place.index == 0, "R3: \(name) began with the recovery")
    }
    let isWanted =
      switch recovering.way {
      case .operation: parent.answer == .child(1)
      case .fallingBack: settle(first).isError
      case .value, .otherError, .ignoring: false
      }
    expect(
      isWanted && run.place.index == 1 && parent.children.count == 1,
      "R3: \(name) began an operation that was not requested")
  }

  mutating func checkRecoveringOutcome(
    _ body: ShownOutcome, _ recovering: Tree.Recovering, _ run: NodeRun
  ) {
    let name = "n\(run.place.node.id)"
    guard let first = run.child(0) else { return neverBegan(below: run, body) }
    // An error that no closure receives is discarded.
    let isErrorUnseen = recovering.way == .fallingBack || recovering.way == .ignoring
    expect(!isErrorUnseen || run.questions == 0, "R3: a closure of \(name) received an error")
    if let closureOutcome = run.closureOutcome {
      expect(
        body == closureOutcome,
        "R3: the closure of \(name) ended as \(closureOutcome), but \(name) as \(body)")
      // The closure owns the error that it received, unless it throws the same error.
      run.held = first.outcome == body ? [first].carried : []
    } else if let second = run.child(1) {
      settle(second, passedOnAs: body)
      if isErrorUnseen { expectDiscards(of: [first].carried) }
      run.held = [second].carried
    } else if recovering.way == .ignoring, body == .result(Tree.Recovering.substitute(of: run)) {
      expect(settle(first).isError, "R3: \(name) ignored an outcome that is not an error")
      expectDiscards(of: [first].carried)
    } else if run.questions > 0
      || recovering.way == .fallingBack && presumedOutcome(of: first).isError
        && body == .error(.cancellation)
    {
      // The other operation never began.
      settle(first)
      expect(
        body == .error(.cancellation) && run.isKnownCancelled, "O2, R3: \(name) ended as \(body)")
      if isErrorUnseen { expectDiscards(of: [first].carried) }
    } else {
      let outcome = settle(first, passedOnAs: body)
      expect(!outcome.isError, "R3: \(name) did not recover from \(outcome)")
      run.held = [first].carried
    }
  }
}

extension Tree.Recovering {
  /// The value that replaces an error.
  fileprivate static func substitute(of run: NodeRun) -> ShownValue {
    substitute(at: run.place.node.id)
  }
}
