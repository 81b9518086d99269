// Recovery from errors: R3.

extension Oracle {
  mutating func checkMayBeginRecovery(
    _ run: NodeRun, of recovering: Tree.Recovering, _ parent: NodeRun
  ) {
    let name = "n\(parent.place.node.id)"
    guard let last = parent.lastChild else {
      return expect(run.place.index == 0, "R3: \(name) began with the recovery")
    }
    let begun = parent.children.count
    let wanted: Int? =
      switch recovering.way {
      case .operation: parent.answer == .child(1) && begun == 1 ? 1 : nil
      case .fallingBack, .fallingBackToList:
        settle(last).isError
          ? recovering.fallback(after: begun, among: parent.place.node.children.count) : nil
      case .value, .otherError, .ignoring: nil
      }
    expect(run.place.index == wanted, "R3: \(name) began an operation that was not requested")
  }

  mutating func checkRecoveringOutcome(
    _ body: ShownOutcome, _ recovering: Tree.Recovering, _ run: NodeRun
  ) {
    let name = "n\(run.place.node.id)"
    guard let last = run.lastChild else { return neverBegan(below: run, body) }
    let discardsErrors = recovering.discardsErrors
    expect(!discardsErrors || run.questions == 0, "R3: a closure of \(name) received an error")
    if discardsErrors { expectDiscards(of: Array(run.children.dropLast()).carried) }
    let next = recovering.fallback(
      after: run.children.count, among: run.place.node.children.count)
    if let closureOutcome = run.closureOutcome {
      expect(
        body == closureOutcome,
        "R3: the closure of \(name) ended as \(closureOutcome), but \(name) as \(body)")
      // The closure owns the error that it received, unless it throws the same error.
      run.held = last.outcome == body ? [last].carried : []
    } else if recovering.way == .ignoring, body == .result(Tree.Recovering.substitute(of: run)) {
      expect(settle(last).isError, "R3: \(name) ignored an outcome that is not an error")
      expectDiscards(of: [last].carried)
    } else if run.questions == run.children.count
      || next != nil && presumedOutcome(of: last).isError && body == .error(.cancellation)
    {
      // The next operation never began.
      settle(last)
      expect(
        body == .error(.cancellation) && run.isKnownCancelled, "O2, R3: \(name) ended as \(body)")
      if discardsErrors { expectDiscards(of: [last].carried) }
    } else {
      let outcome = settle(last, passedOnAs: body)
      let mayFail = next == nil && (run.children.count > 1 || recovering.isList)
      expect(!outcome.isError || mayFail, "R3: \(name) did not recover from \(outcome)")
      run.held = [last].carried
    }
  }
}

extension Tree.Recovering {
  /// The value that replaces an error.
  fileprivate static func substitute(of run: NodeRun) -> ShownValue {
    substitute(at: run.place.node.id)
  }
}
