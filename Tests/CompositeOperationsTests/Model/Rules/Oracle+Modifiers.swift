// What each modifier makes of what is below it stands in a file of its own.

extension Oracle {
  /// Whether what is below a modifier may begin just now.
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

  /// Judges what a modifier came to.
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
    expect(parent.children.isEmpty, "what n\(parent.place.node.id) modifies ran twice")
  }

  /// O2: whoever has run nothing had been cancelled.
  mutating func neverBegan(below run: NodeRun, _ body: ShownOutcome) {
    expect(
      body == .error(.cancellation) && run.isKnownCancelled,
      "O2: n\(run.place.node.id) ran nothing, and came to \(body)")
  }

  /// Records how a child ended whose end a modifier passes on: a cancellation with the end of its
  /// body.
  @discardableResult mutating func settle(
    _ child: NodeRun, passedOnAs body: ShownOutcome
  ) -> ShownOutcome {
    let name = "n\(child.place.node.id)"
    if body == .error(child.passedOnError) { return settle(child, as: .cancelled) }
    let outcome = settle(child, as: body.beforePassingOn)
    expect(
      outcome != .cancelled,
      "O3, Q1: \(name) was cancelled and came to \(child.passedOnError), and \(body) was handed on")
    return outcome
  }

  /// R3, R6: a closure is told of an error once, as soon as an operation has ended in it, and of
  /// nothing else.
  mutating func calledWithError(
    _ run: NodeRun, in error: ShownError, attempt: Int?, _ isCancelled: Bool
  ) {
    let name = "n\(run.place.node.id)"
    checkedCancellation(run, isCancelled)
    expect(order == .partial || !isCancelled, "R3, R6: \(name) was cancelled, and told of an error")
    run.questions += 1
    run.answer = nil
    guard let last = run.lastChild, !last.isLive, run.questions == run.children.count else {
      return expect(false, "R3, R6: \(name) was told of an error that nobody came to, or again")
    }
    settle(last, as: .error(error))
    guard case .modified(.retrying(let retrying), _) = run.place.node.kind else { return }
    expect(
      run.children.count < retrying.attempts,
      "R6: \(name) was asked about another attempt, and there could not be one")
    expect(
      attempt ?? run.children.count == run.children.count,
      "R6: \(name) was told of attempt \(run.children.count) as of another one")
  }
}
