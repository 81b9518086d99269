// The rules for each modifier are in a file of their own.

extension Oracle {
  /// Checks whether an operation of a modifier may begin now.
  mutating func checkMayBegin(_ run: NodeRun, below modifier: Tree.Modifier, _ parent: NodeRun) {
    expect(parent.liveChildren == 0, "n\(parent.place.node.id) runs two operations at once")
    switch modifier {
    case .retrying(let retrying): checkMayBeginAttempt(run, of: retrying, parent)
    case .recovering(let recovering): checkMayBeginRecovery(run, of: recovering, parent)
    case .repeating(let repeating): checkMayBeginAgain(run, of: repeating, parent)
    case .requiring(let requiring): checkMayBeginRequiring(run, requiring, below: parent)
    case .taking(let claims): checkMayBeginTaking(claims, below: parent)
    case .finally, .timingOut: checkBeginsOnce(run, below: parent)
    case .delayed(let delay):
      checkBeginsOnce(run, below: parent)
      checkElapsed(delay, since: parent.firstTick, "T1: n\(parent.place.node.id) began")
    case .throttled(let rate):
      checkBeginsOnce(run, below: parent)
      checkMayBeginThrottled(by: rate, below: parent)
    }
  }

  /// Checks the outcome of a modifier.
  mutating func checkModifiedOutcome(
    _ body: ShownOutcome, _ modifier: Tree.Modifier, _ run: NodeRun
  ) {
    switch modifier {
    case .retrying(let retrying): checkRetryingOutcome(body, retrying, run)
    case .recovering(let recovering): checkRecoveringOutcome(body, recovering, run)
    case .finally: checkFinallyOutcome(body, run)
    case .repeating(let repeating): checkRepeatingOutcome(body, repeating, run)
    case .timingOut(let limit): checkTimingOutOutcome(body, limit, run)
    case .delayed, .throttled: checkModifiedOutcome(body, run)
    case .requiring(let requiring): checkRequiringOutcome(body, requiring, run)
    case .taking(let claims): checkTakingOutcome(body, claims, run)
    }
  }

  private mutating func checkBeginsOnce(_ run: NodeRun, below parent: NodeRun) {
    expect(parent.children.isEmpty, "the operation of n\(parent.place.node.id) ran twice")
  }

  /// O2: a modifier that has run nothing was cancelled.
  mutating func neverBegan(below run: NodeRun, _ body: ShownOutcome) {
    expect(
      body == .error(.cancellation) && run.isKnownCancelled,
      "O2: n\(run.place.node.id) ran nothing, but ended as \(body)")
  }

  /// Records the outcome of a child that a modifier passes on: a cancellation with its late
  /// outcome.
  @discardableResult mutating func settle(
    _ child: NodeRun, passedOnAs body: ShownOutcome
  ) -> ShownOutcome {
    let name = "n\(child.place.node.id)"
    if body == .error(child.passedOnError) { return settle(child, as: .cancelled) }
    let outcome = settle(child, as: body.beforePassingOn)
    expect(
      outcome != .cancelled,
      "O3, Q1: \(name) was cancelled with \(child.passedOnError), but \(body) was passed on")
    return outcome
  }

  /// R3, R6: a closure receives every error of an operation once, when the operation has ended, and
  /// nothing else.
  mutating func calledWithError(
    _ run: NodeRun, in error: ShownError, attempt: Int?, _ isCancelled: Bool
  ) {
    let name = "n\(run.place.node.id)"
    checkedCancellation(run, isCancelled)
    expect(
      order == .partial || !isCancelled, "R3, R6: \(name) was cancelled, but received an error")
    run.questions += 1
    run.answer = nil
    guard let last = run.lastChild, !last.isLive, run.questions == run.children.count else {
      return expect(
        false, "R3, R6: \(name) received an error that does not exist, or received it twice")
    }
    settle(last, as: .error(error))
    guard case .modified(.retrying(let retrying), _) = run.place.node.kind else { return }
    expect(
      run.children.count < retrying.attempts,
      "R6: \(name) decided about another attempt after the last one")
    expect(
      attempt ?? run.children.count == run.children.count,
      "R6: \(name) received the wrong number for attempt \(run.children.count)")
  }
}
