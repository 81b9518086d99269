// Attempts: R1 and R6.

extension Oracle {
  mutating func checkMayBeginAttempt(
    _ run: NodeRun, of retrying: Tree.Retrying, _ parent: NodeRun
  ) {
    let name = "n\(parent.place.node.id)"
    expect(parent.children.count < retrying.attempts, "R1: \(name) made too many attempts")
    guard let last = parent.lastChild else {
      return expect(run.place.index == 0, "R1: the first attempt of \(name) ran another operation")
    }
    expect(settle(last).isError, "R1: \(name) tried again without a failure")
    checkElapsed(retrying.delay, since: last.end?.tick, "R1: \(name) tried again")
    let expected =
      switch (retrying.asking, parent.answer) {
      case (.noClosure, _): 0
      case (_, .again): last.place.index
      case (_, .child(let index)): index
      case (_, .end), (_, .threw), (_, nil): -1
      }
    expect(run.place.index == expected, "R6: this attempt of \(name) was not requested")
    parent.answer = nil
  }

  mutating func checkRetryingOutcome(
    _ body: ShownOutcome, _ retrying: Tree.Retrying, _ run: NodeRun
  ) {
    let name = "n\(run.place.node.id)"
    switch body {
    case .result:
      guard let last = run.lastChild else { return expect(false, "R1: \(name) made no attempt") }
      settle(last, as: body)
      run.held = last.discardableValues
      // O3: no outcome contains the values of failed attempts.
      expectDiscards(of: Array(run.children.dropLast()).carried)
    case .error(let error) where error == run.answer?.error: threw(error, run)
    case .error(let error) where run.lastChild?.passedOnError == error && run.isPassingOn:
      guard let last = run.lastChild else { return }
      settle(last, passedOnAs: body)
      run.held = [last].carried
      expectDiscards(of: Array(run.children.dropLast()).carried)
    case .error(.retry(let errors, let isCancelled)):
      checkAttempts(errors, isCancelled, of: retrying, run)
    case .error(.cancellation):
      expect(
        run.children.isEmpty && run.isKnownCancelled, "R1: \(name) does not show its attempts")
    case .error, .cancelled: expect(false, "R1: \(name) cannot end as \(body)")
    }
  }

  /// R6: an error that the closure throws is the outcome of the run. The closure owns the error
  /// that it received last.
  private mutating func threw(_ error: ShownError, _ run: NodeRun) {
    expectDiscards(of: Array(run.children.dropLast()).carried)
    if let last = run.lastChild, last.outcome == .error(error) { run.held = [last].carried }
  }

  /// R1: the error contains every attempt's error in order, and whether a cancellation ended the
  /// attempts.
  private mutating func checkAttempts(
    _ errors: [ShownError], _ isCancelled: Bool, of retrying: Tree.Retrying, _ run: NodeRun
  ) {
    let name = "n\(run.place.node.id)"
    let last = run.children.last
    for (child, error) in zip(run.children.dropLast(), errors) { settle(child, as: .error(error)) }
    // O3: the late error of the last attempt is the last error.
    let lateError = last?.lateError
    let isLastShown = errors.count == run.children.count
    var isLastCancelled = !isLastShown
    if let last, isLastShown {
      let mayBeLate = presumedOutcome(of: last) == .cancelled
      let isUncertain = order == .partial && isCancelled && hasReason(toCancel: last)
      isLastCancelled = mayBeLate || isUncertain
      if mayBeLate {
        settle(last, as: .cancelled)
        expect(
          errors.last == lateError && run.children.count > 1,
          "O3: \(name) does not show the late outcome of its last attempt")
      } else if isUncertain {
        settle(last)
        expect(errors.last == lateError, "R1: \(name) does not show the error of its last attempt")
      } else if let error = errors.last {
        settle(last, as: .error(error))
      }
    } else if let last {
      settle(last, as: .cancelled)
      expect(
        last.passedOnError == .cancellation && run.children.count > 1,
        "O3: \(name) does not show the late outcome of its last attempt")
    }
    expect(
      !errors.isEmpty && (errors.count == run.children.count - 1 || isLastShown),
      "R1: \(name) shows \(errors.count) errors of \(run.children.count) attempts")
    let isOver = !isLastCancelled && (errors.count == retrying.attempts || run.answer == .end)
    expect(isCancelled != isOver, "R1: \(name) shows the wrong reason for its end")
    expect(
      isOver || isLastCancelled || run.isKnownCancelled,
      "R1: \(name) ended after \(errors.count) attempts instead of making another one")
    run.held = run.children.carried
  }
}

extension NodeRun {
  /// The error of the body, if any, as a list of attempts shows it.
  fileprivate var lateError: ShownError? {
    if case .error(let error) = end?.body.withoutLateOutcome { error } else { nil }
  }

  /// Whether a retry passes on how its last attempt was cancelled: the only attempt, or an attempt
  /// with a late value.
  fileprivate var isPassingOn: Bool {
    if case .late(.result) = lastChild?.passedOnError { return true }
    return children.count == 1
  }
}
