// Operations that pass on values: `then`, `map`, and bodies that run children (C1). Their closures
// take over the values that they receive.

extension Oracle {
  /// A closure receives a value. For `then` and `map`, it is the result of the first operation.
  mutating func called(_ run: NodeRun, with value: ShownValue) {
    run.called = value
    switch run.place.node.kind {
    case .then, .map:
      guard let first = run.child(0), !first.isLive else {
        return expect(false, "n\(run.place.node.id) received a result that does not exist")
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
      expect(!child.isLive, "C1: a body received the outcome of a child that had not ended")
      settle(child, as: outcome)
    } else {
      expect(
        outcome == .cancelled && isCancelled,
        "C1, O2: child \(index) never began, but has the outcome \(outcome)")
    }
    run.received.append((index, outcome))
  }

  // MARK: The end

  mutating func checkThenOutcome(_ body: ShownOutcome, _ run: NodeRun) {
    if run.called == nil {
      checkPassedOn(0, body, run)
    } else if let closureOutcome = run.closureOutcome {
      expect(
        body == closureOutcome,
        "then: the closure ended as \(closureOutcome), but the body as \(body)")
    } else {
      checkPassedOn(1, body, run)
    }
  }

  mutating func checkMapOutcome(_ body: ShownOutcome, _ run: NodeRun) {
    if run.called == nil { return checkPassedOn(0, body, run) }
    expect(
      body == run.closureOutcome, "map: n\(run.place.node.id) ended as \(body), unlike its closure")
  }

  /// The outcome of a child is passed on, with the values that it contains.
  private mutating func checkPassedOn(_ index: Int, _ body: ShownOutcome, _ run: NodeRun) {
    let name = "n\(run.place.node.id)"
    guard let child = run.child(index) else {
      return expect(
        body == .error(.cancellation) && run.isKnownCancelled,
        "O2: child \(index) of \(name) never began, but \(name) ended as \(body)")
    }
    let outcome = settle(child, passedOnAs: body)
    let mustContinue = index == 0 && outcome.isResult
    expect(!mustContinue, "then, map: \(name) ended after the result of its first operation")
    run.held = [child].carried
  }

  mutating func checkBodyOutcome(_ body: ShownOutcome, _ count: Int, _ run: NodeRun) {
    let name = "n\(run.place.node.id)"
    if let closureOutcome = run.closureOutcome {
      expect(
        run.received.count == count, "C1: \(name) did not receive the outcomes of all children")
      return expect(
        body == closureOutcome,
        "C1: the closure of \(name) ended as \(closureOutcome), but \(name) as \(body)")
    }
    guard let (index, outcome) = run.received.last else {
      return expect(false, "C1: \(name) ended before it had done anything")
    }
    expect(body == outcome.passedOn, "C1: \(name) received \(outcome), but ended as \(body)")
    run.held = run.child(index).map { [$0].carried } ?? []
  }

  /// A modified operation without a run of its own determines the outcome of its modifier.
  mutating func checkModifiedOutcome(_ body: ShownOutcome, _ run: NodeRun) {
    guard let child = run.child(0), let end = child.end else {
      return expect(
        body == .error(.cancellation) && run.isKnownCancelled,
        "O2: n\(run.place.node.id) ran nothing, but ended as \(body)")
    }
    expect(body == end.body, "n\(run.place.node.id) ended as \(body), expected \(end.body)")
    run.held = child.discardableValues
  }

  /// Nested lists have the outcome of their only child. In each of them, the cancellation can
  /// arrive between the end of the inner list and its own end.
  mutating func checkNestedOutcome(_ body: ShownOutcome, _ run: NodeRun) {
    guard let child = run.child(0) else {
      return expect(
        body == .error(.cancellation) && run.isKnownCancelled,
        "O2: n\(run.place.node.id) ran nothing, but ended as \(body)")
    }
    let outcome = settle(child)
    if body == .error(.cancellation), run.isKnownCancelled {
      return expectDiscards(of: [child].carried)
    }
    expect(
      body == outcome.passedOn, "n\(run.place.node.id) ended as \(body), expected \(outcome)")
    run.held = [child].carried
  }
}
