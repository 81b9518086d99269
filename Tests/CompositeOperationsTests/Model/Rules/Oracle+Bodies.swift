// What hands values on from one operation to another: `then`, `map`, and bodies that run children
// (C1). What they are given they have taken over.

extension Oracle {
  /// A closure is given something: of `then` and `map` that is the result of the first operation.
  mutating func called(_ run: NodeRun, with value: ShownValue) {
    run.called = value
    switch run.place.node.kind {
    case .then, .map:
      guard let first = run.child(0), !first.isLive else {
        return expect(false, "n\(run.place.node.id) was given a result that there is not")
      }
      settle(first, as: .result(value))
    case .modified(.repeating, _): sawResult(run, value)
    case .leaf, .list, .race, .sequence, .body, .prioritized, .nested, .named, .erased, .discarding,
      .modified:
      break
    }
  }

  mutating func received(
    _ outcome: ShownOutcome, from index: Int, by run: NodeRun, _ isCancelled: Bool
  ) {
    checkedCancellation(run, isCancelled)
    if let child = run.child(index) {
      expect(!child.isLive, "C1: a body learnt how a child ended that had not")
      settle(child, as: outcome)
    } else {
      expect(
        outcome == .cancelled && isCancelled, "C1, O2: child \(index) never began: \(outcome)")
    }
    run.received.append((index, outcome))
  }

  // MARK: The end

  mutating func checkThenOutcome(_ body: ShownOutcome, _ run: NodeRun) {
    if run.called == nil {
      checkPassedOn(0, body, run)
    } else if let closureOutcome = run.closureOutcome {
      expect(
        body == closureOutcome, "then: the closure came to \(closureOutcome), and not to \(body)")
    } else {
      checkPassedOn(1, body, run)
    }
  }

  mutating func checkMapOutcome(_ body: ShownOutcome, _ run: NodeRun) {
    if run.called == nil { return checkPassedOn(0, body, run) }
    expect(body == run.closureOutcome, "map: n\(run.place.node.id) did not come to \(body)")
  }

  /// What a child came to is handed on, with what it carries.
  private mutating func checkPassedOn(_ index: Int, _ body: ShownOutcome, _ run: NodeRun) {
    let name = "n\(run.place.node.id)"
    guard let child = run.child(index) else {
      return expect(
        body == .error(.cancellation) && run.isKnownCancelled,
        "O2: child \(index) of \(name) never began, and it came to \(body)")
    }
    let outcome = settle(child, passedOnAs: body)
    let mustContinue = index == 0 && outcome.isResult
    expect(!mustContinue, "then, map: \(name) ended with its first operation")
    run.held = [child].carried
  }

  mutating func checkBodyOutcome(_ body: ShownOutcome, _ count: Int, _ run: NodeRun) {
    let name = "n\(run.place.node.id)"
    if let closureOutcome = run.closureOutcome {
      expect(run.received.count == count, "C1: \(name) never learnt how its children ended")
      return expect(
        body == closureOutcome, "C1: \(name) came to \(closureOutcome), and not to \(body)")
    }
    guard let (index, outcome) = run.received.last else {
      return expect(false, "C1: \(name) ended before it had done anything")
    }
    expect(body == outcome.passedOn, "C1: \(name) let through \(outcome), and came to \(body)")
    run.held = run.child(index).map { [$0].carried } ?? []
  }

  /// A modifier that has no run of its own comes to what the operation that it modifies does.
  mutating func checkModifiedOutcome(_ body: ShownOutcome, _ run: NodeRun) {
    guard let child = run.child(0), let end = child.end else {
      return expect(
        body == .error(.cancellation) && run.isKnownCancelled,
        "O2: n\(run.place.node.id) ran nothing, and came to \(body)")
    }
    expect(body == end.body, "n\(run.place.node.id) came to \(body), and not to \(end.body)")
    run.held = child.discardableValues
  }

  /// A list in a list comes to what its one child does. In each of them the cancellation may come
  /// between the end of the inner one and its own.
  mutating func checkNestedOutcome(_ body: ShownOutcome, _ run: NodeRun) {
    guard let child = run.child(0) else {
      return expect(
        body == .error(.cancellation) && run.isKnownCancelled,
        "O2: n\(run.place.node.id) ran nothing, and came to \(body)")
    }
    let outcome = settle(child)
    if body == .error(.cancellation), run.isKnownCancelled {
      return expectDiscards(of: [child].carried)
    }
    expect(
      body == outcome.passedOn, "n\(run.place.node.id) came to \(body), and not to \(outcome)")
    run.held = [child].carried
  }
}
