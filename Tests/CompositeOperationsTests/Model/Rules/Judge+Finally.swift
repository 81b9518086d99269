// What is done after an operation: R5.

extension Judge {
  /// The closure sees how the operation has ended, and is not cancelled.
  mutating func sawEnd(_ run: NodeRun, _ outcome: ShownOutcome, _ isCancelled: Bool) {
    let name = "n\(run.place.node.id)"
    mustBeShielded(run, isCancelled)
    expect(run.seenEnd == nil, "R5: the closure of \(name) ran twice")
    run.seenEnd = outcome
    guard let child = run.child(0) else {
      // Cancelled between its own beginning and that of the operation.
      return expect(
        outcome == .cancelled && hasReason(toCancel: run),
        "R5: the closure of \(name) ran, and nothing had begun")
    }
    expect(!child.isLive, "R5: the closure of \(name) ran, and nothing had ended")
    settle(child, as: outcome)
  }

  mutating func tidied(_ run: NodeRun, _ isCancelled: Bool) {
    mustBeShielded(run, isCancelled)
    run.isTidy = true
  }

  private mutating func mustBeShielded(_ run: NodeRun, _ isCancelled: Bool) {
    expect(!isCancelled, "R5: the closure of n\(run.place.node.id) was cancelled")
  }

  mutating func finallyMustComeTo(_ body: ShownOutcome, _ run: NodeRun) {
    let name = "n\(run.place.node.id)"
    guard let child = run.child(0) else { return neverBegan(below: run, body) }
    expect(run.isTidy, "R5: \(name) ended before its closure did")
    let passedOn = settle(child, handedOnAs: body)
    expect(passedOn == run.seenEnd, "R5: \(name) came to \(body)")
    run.held = [child].carried
  }
}
