// What follows on an error: R3.

extension Oracle {
  mutating func checkMayBeginRecovery(
    _ run: NodeRun, of recovering: Tree.Recovering, _ parent: NodeRun
  ) {
    let name = "n\(parent.place.node.id)"
    guard let first = parent.lastChild else {
      return expect(run.place.index == 0, "R3: \(name) recovered from nothing")
    }
    let isWanted =
      switch recovering.way {
      case .operation: parent.answer == .child(1)
      case .fallingBack: settle(first).isError
      case .value, .otherError, .ignoring: false
      }
    expect(
      isWanted && run.place.index == 1 && parent.children.count == 1,
      "R3: \(name) began an operation that nobody wanted")
  }

  mutating func checkRecoveringOutcome(
    _ body: ShownOutcome, _ recovering: Tree.Recovering, _ run: NodeRun
  ) {
    let name = "n\(run.place.node.id)"
    guard let first = run.child(0) else { return neverBegan(below: run, body) }
    // An error that no closure is given is given up.
    let isErrorUnseen = recovering.way == .fallingBack || recovering.way == .ignoring
    expect(!isErrorUnseen || run.questions == 0, "R3: nobody was to be told of an error of \(name)")
    if let closureOutcome = run.closureOutcome {
      expect(
        body == closureOutcome,
        "R3: the closure of \(name) came to \(closureOutcome), and not to \(body)")
      // What the closure was given is its own, unless it throws it on.
      run.held = first.outcome == body ? [first].carried : []
    } else if let second = run.child(1) {
      settle(second, passedOnAs: body)
      if isErrorUnseen { expectDiscards(of: [first].carried) }
      run.held = [second].carried
    } else if recovering.way == .ignoring, body == .result(Tree.Recovering.substitute(of: run)) {
      expect(settle(first).isError, "R3: \(name) ignored what is no error")
      expectDiscards(of: [first].carried)
    } else if run.questions > 0
      || recovering.way == .fallingBack && presumedOutcome(of: first).isError
        && body == .error(.cancellation)
    {
      // The other operation never began.
      settle(first)
      expect(
        body == .error(.cancellation) && run.isKnownCancelled, "O2, R3: \(name) came to \(body)")
      if isErrorUnseen { expectDiscards(of: [first].carried) }
    } else {
      let outcome = settle(first, passedOnAs: body)
      expect(!outcome.isError, "R3: \(name) did not recover from \(outcome)")
      run.held = [first].carried
    }
  }
}

extension Tree.Recovering {
  /// What a run comes to instead of an error.
  fileprivate static func substitute(of run: NodeRun) -> ShownValue {
    substitute(at: run.place.node.id)
  }
}
