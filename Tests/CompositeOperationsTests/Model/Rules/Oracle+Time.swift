// Time: T1 to T3. The log contains the time that has passed. The end of a limit is known only from
// its effects.

extension Oracle {
  mutating func checkElapsed(_ ticks: Int, since first: Int?, _ what: String) {
    let passed = tick - (first ?? tick)
    expect(passed >= ticks, "\(what) after \(passed) ticks instead of \(ticks)")
  }

  mutating func checkTimingOutOutcome(_ body: ShownOutcome, _ limit: Tree.Limit, _ run: NodeRun) {
    let name = "n\(run.place.node.id)"
    let timeout = ShownOutcome.error(
      .timeout(place(ofChild: 0, of: run.place.node.id)?.name ?? ""))
    // A cancellation takes precedence over a timeout.
    let isCancelled = body == .error(.cancellation) && run.isKnownCancelled
    switch limit {
    case .never: checkModifiedOutcome(body, run)
    case .none, .negative:
      expect(run.children.isEmpty, "T2: the body of \(name) began without time")
      expect(isCancelled || body == timeout, "T2: \(name) had no time, but ended as \(body)")
    case .ticks(let ticks):
      guard let child = run.child(0), let end = child.end else {
        // With several workers the time can end before the body begins.
        let isTooLate = order == .partial && body == timeout
        if isTooLate { checkElapsed(ticks, since: run.firstTick, "T2: \(name) timed out") }
        return expect(isCancelled || isTooLate, "O2: \(name) ran nothing, but ended as \(body)")
      }
      // The timeout cancels the body, and not the run. A body that never suspends is not cancelled,
      // but also ends too late.
      if order == .total, !end.isCancelled || run.end?.isCancelled == false {
        let isTooLate = end.isCancelled || end.tick - run.firstTick >= ticks
        expect(
          (body == timeout) == isTooLate,
          "T2: \(name) ended as \(body), and was \(isTooLate ? "" : "not ")too late")
      }
      if body != timeout { return checkModifiedOutcome(body, run) }
      checkElapsed(ticks, since: run.firstTick, "T2: \(name) timed out")
      // O3: no outcome contains a value that is too late.
      expectDiscards(of: child.discardableValues)
    }
  }

  /// Whether the time of an enclosing timeout may have ended.
  func mayBeTooLate(_ run: NodeRun) -> Bool {
    var run = run.parent
    while let above = run {
      if case .modified(.timingOut(.ticks(let ticks)), _) = above.place.node.kind,
        tick - above.firstTick >= ticks
      {
        return true
      }
      run = above.parent
    }
    return false
  }
}
