// Time: T1 to T3. How much of it has passed is in the log; that a time is over is only known of what
// somebody made of it.

extension Oracle {
  mutating func checkElapsed(_ ticks: Int, since first: Int?, _ what: String) {
    let passed = tick - (first ?? tick)
    expect(passed >= ticks, "\(what) after \(passed) ticks, and not after \(ticks)")
  }

  mutating func checkTimingOutOutcome(_ body: ShownOutcome, _ limit: Tree.Limit, _ run: NodeRun) {
    let name = "n\(run.place.node.id)"
    let timeout = ShownOutcome.error(
      .timeout(place(ofChild: 0, of: run.place.node.id)?.name ?? ""))
    // A cancellation comes before the end of the time.
    let isCancelled = body == .error(.cancellation) && run.isKnownCancelled
    switch limit {
    case .never: checkModifiedOutcome(body, run)
    case .none, .negative:
      expect(run.children.isEmpty, "T2: the body of \(name) began, and there was no time")
      expect(isCancelled || body == timeout, "T2: \(name) had no time, and came to \(body)")
    case .ticks(let ticks):
      guard let child = run.child(0), let end = child.end else {
        // With several workers the time may be over before the body begins.
        let isTooLate = order == .partial && body == timeout
        if isTooLate { checkElapsed(ticks, since: run.firstTick, "T2: \(name) was too late") }
        return expect(isCancelled || isTooLate, "O2: \(name) ran nothing, and came to \(body)")
      }
      // The timeout cancels the body and not the run. A body that never suspends is not cancelled,
      // and is still too late.
      if order == .total, !end.isCancelled || run.end?.isCancelled == false {
        let isTooLate = end.isCancelled || end.tick - run.firstTick >= ticks
        expect(
          (body == timeout) == isTooLate,
          "T2: \(name) came to \(body), and was \(isTooLate ? "" : "not ")too late")
      }
      if body != timeout { return checkModifiedOutcome(body, run) }
      checkElapsed(ticks, since: run.firstTick, "T2: \(name) was too late")
      // O3: nobody sees what came too late.
      expectDiscards(of: child.discardableValues)
    }
  }

  /// Whether the time of a run may be over that the run is part of.
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
