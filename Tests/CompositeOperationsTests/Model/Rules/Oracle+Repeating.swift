// Repetitions: R4.

extension Oracle {
  /// The closure receives a result, which may not be the last one.
  mutating func sawResult(_ run: NodeRun, _ value: ShownValue) {
    let name = "n\(run.place.node.id)"
    run.questions += 1
    run.answer = nil
    guard let last = run.lastChild, !last.isLive, run.questions == run.children.count else {
      return expect(
        false, "R4: \(name) received a result that does not exist, or received it twice")
    }
    settle(last, as: .result(value))
  }

  mutating func checkMayBeginAgain(
    _ run: NodeRun, of repeating: Tree.Repeating, _ parent: NodeRun
  ) {
    let name = "n\(parent.place.node.id)"
    guard let last = parent.lastChild else { return }
    expect(parent.children.count < repeating.times ?? .max, "R4: \(name) ran too many times")
    expect(settle(last).isResult, "R4: \(name) ran again without a result")
    checkElapsed(repeating.delay, since: last.end?.tick, "R4: \(name) ran again")
    expect(
      !repeating.asks || parent.answer == .again,
      "R4: \(name) ran again after its closure had accepted the result")
  }

  mutating func checkRepeatingOutcome(
    _ body: ShownOutcome, _ repeating: Tree.Repeating, _ run: NodeRun
  ) {
    let name = "n\(run.place.node.id)"
    guard let last = run.lastChild else { return neverBegan(below: run, body) }
    // Earlier results are discarded, and also the last one if a cancellation ends the wait.
    expectDiscards(of: Array(run.children.dropLast()).carried)
    let isOver = run.children.count == repeating.times || run.answer == .end
    if body == .error(.cancellation), presumedOutcome(of: last).isResult {
      settle(last)
      expect(
        run.isKnownCancelled && (order == .partial || !isOver),
        "R4: \(name) stopped without a cancellation")
      return expectDiscards(of: [last].carried)
    }
    let outcome = settle(last, passedOnAs: body)
    expect(!outcome.isResult || isOver, "R4: \(name) ended too early")
    run.held = [last].carried
  }
}
