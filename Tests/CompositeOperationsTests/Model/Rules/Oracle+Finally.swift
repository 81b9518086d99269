// Closures that run after an operation: R5.

extension Oracle {
  /// The closure receives the outcome of the operation, and is not cancelled.
  mutating func finallyBegan(_ run: NodeRun, _ outcome: ShownOutcome, _ isCancelled: Bool) {
    let name = "n\(run.place.node.id)"
    checkIsShielded(run, isCancelled)
    expect(run.finallyOutcome == nil, "R5: the closure of \(name) ran twice")
    run.finallyOutcome = outcome
    guard let child = run.child(0) else {
      // The run was cancelled after it began, and before the operation began.
      return expect(
        outcome == .cancelled && hasReason(toCancel: run),
        "R5: the closure of \(name) ran before the operation had begun")
    }
    expect(!child.isLive, "R5: the closure of \(name) ran before the operation had ended")
    settle(child, as: outcome)
  }

  mutating func finallyEnded(_ run: NodeRun, _ isCancelled: Bool) {
    checkIsShielded(run, isCancelled)
    run.hasFinallyEnded = true
  }

  private mutating func checkIsShielded(_ run: NodeRun, _ isCancelled: Bool) {
    expect(!isCancelled, "R5: the closure of n\(run.place.node.id) was cancelled")
  }

  mutating func checkFinallyOutcome(_ body: ShownOutcome, _ run: NodeRun) {
    let name = "n\(run.place.node.id)"
    guard let child = run.child(0) else { return neverBegan(below: run, body) }
    expect(run.hasFinallyEnded, "R5: \(name) ended before its closure did")
    let passedOn = settle(child, passedOnAs: body)
    expect(passedOn == run.finallyOutcome, "R5: \(name) ended as \(body), unlike its operation")
    run.held = [child].carried
  }
}
