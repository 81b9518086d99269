extension Oracle {
  /// Checks whether a child may begin now.
  mutating func checkMayBegin(_ run: NodeRun, below parent: NodeRun) {
    let index = run.place.index
    let isFirstTime = parent.child(index) == nil
    switch parent.place.node.kind {
    case .list(let list, _): checkMayBegin(run, in: list, parent, isFirstTime)
    case .race:
      expect(isFirstTime, "P7: a contender ran twice")
      expect(
        order == .partial || parent.stop == nil, "P7: a contender began after the race had been won"
      )
    case .sequence(let steps, let children):
      checkMayBeginStep(run, of: steps, children.count, parent)
    case .then:
      expect(
        index == 0 ? isFirstTime : isFirstTime && parent.answer == .child(1),
        "then: child \(index) began out of order")
    case .body(let body, _):
      expect(
        isFirstTime && (body.isConcurrent || index == parent.received.count),
        "C1: a body's child began out of order")
    case .map, .prioritized, .nested: expect(isFirstTime, "a modified operation ran twice")
    case .modified(let modifier, _): checkMayBegin(run, below: modifier, parent)
    case .leaf, .named, .erased, .discarding: expect(false, "a leaf has no children")
    }
  }

  /// Checks the outcome of a body.
  mutating func checkOutcome(_ body: ShownOutcome, _ run: NodeRun) {
    switch run.place.node.kind {
    case .leaf(let leaf):
      if let limit = leaf.abandonedAfter { checkAbandonableBodyOutcome(body, limit, run) }
    case .named, .erased, .discarding: break
    case .list(let list, let children): checkListOutcome(body, list, children.count, run)
    case .race(_, let children): checkRaceOutcome(body, children.count, run)
    case .sequence(let steps, let children):
      checkSequenceOutcome(body, steps, children.count, run)
    case .then: checkThenOutcome(body, run)
    case .map: checkMapOutcome(body, run)
    case .body(_, let children): checkBodyOutcome(body, children.count, run)
    case .prioritized: checkModifiedOutcome(body, run)
    case .nested: checkNestedOutcome(body, run)
    case .modified(let modifier, _): checkModifiedOutcome(body, modifier, run)
    }
  }

  /// Whether the end of a child makes its composite cancel the others (P3, P7).
  func stops(_ parent: NodeRun, _ run: NodeRun) -> Bool {
    switch parent.place.node.kind {
    case .list(let list, _): !list.runsAll && !presumedOutcome(of: run).isResult
    case .race: presumedOutcome(of: run).isResult
    case .leaf, .sequence, .then, .map, .body, .prioritized, .nested, .named, .erased, .discarding,
      .modified:
      false
    }
  }

  /// Checks that a composite whose children never began had a reason (P3).
  mutating func checkOmittedChildren(_ count: Int, _ run: NodeRun) {
    let hasReason = run.stop != nil || run.sourceError != nil || run.end?.isCancelled == true
    expect(
      count == 0 || hasReason, "P3, P7: \(count) children of n\(run.place.node.id) never began")
  }
}
