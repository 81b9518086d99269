// Bodies that their runs may abandon: T3.

/// One run of a body that an abandoning timeout may abandon.
final class AbandonableBodyRun {
  unowned let run: NodeRun
  var end: ShownOutcome?
  /// Whether the run has ended without the body.
  var isAbandoned = false
  /// Whether the body ended before it could be abandoned.
  var endsRun = false
  /// Whether the time had ended when the body ended.
  var isTooLate = false
  /// Whether the body may have been abandoned: it ended as a run that abandons its body ends.
  var mayBeAbandoned: Bool { !isAbandoned && !endsRun && end == .error(.cancellation) }

  init(of run: NodeRun) { self.run = run }

  var name: String { "the body of n\(run.place.node.id)" }
  /// The values that must be discarded if no outcome contains them.
  var discardableValues: [DiscardableValue] {
    guard case .result(let value) = end else { return [] }
    return [DiscardableValue(node: run.place.node.id, value: value)]
  }
}

extension Tree {
  /// The name of the body of a leaf with an abandoning timeout.
  static func abandonableBodyName(_ node: Int) -> String { "loose \(node)" }
}

extension Oracle {
  mutating func abandonableBodyBegan(_ node: Int, _ ticket: Int, _ isCancelled: Bool) {
    guard let run = runs[node] else {
      return expect(false, "T3: the body of n\(node) began without a run")
    }
    let body = AbandonableBodyRun(of: run)
    abandonableBodies[ticket] = body
    // With several workers the body can be abandoned while it begins.
    expect(
      order == .partial || run.isLive && !isCancelled,
      "O2, T3: \(body.name) began although it had been abandoned")
    expect(order == .partial || run.abandonableBody == nil, "T3: \(body.name) began twice")
    run.abandonableBody = body
    body.isAbandoned = !run.isLive
  }

  mutating func abandonableBodyCheckedCancellation(_ ticket: Int, _ isCancelled: Bool) {
    guard let body = abandonableBodies[ticket] else {
      return expect(false, "ticket \(ticket) never began")
    }
    // The run resumes before its body is cancelled, on another thread if there are several.
    expect(
      order == .partial || !body.isAbandoned || isCancelled,
      "T3: \(body.name) was abandoned, but not cancelled")
    if isCancelled { markAbandoned(body) }
  }

  /// With several workers, the body has waited for its cancellation.
  mutating func abandonedBodyWasNotCancelled(_ ticket: Int) {
    let name = abandonableBodies[ticket]?.name ?? "a body"
    expect(false, "T3: \(name) was abandoned, but never cancelled")
  }

  /// Records that a cancelled body has been abandoned, although its run may show this later.
  private mutating func markAbandoned(_ body: AbandonableBodyRun) {
    expect(
      body.isAbandoned || order == .partial || mayBeAbandoned(body.run),
      "T3: \(body.name) was cancelled without a reason to abandon it")
    body.isAbandoned = true
  }

  mutating func abandonableBodyEnded(_ ticket: Int, _ outcome: ShownOutcome, _ isCancelled: Bool) {
    guard let body = abandonableBodies[ticket] else {
      return expect(false, "ticket \(ticket) never began")
    }
    expect(body.end == nil, "T3: \(body.name) ended twice")
    if isCancelled { markAbandoned(body) }
    body.end = outcome
    body.endsRun = order == .total && !mayBeAbandoned(body.run)
    body.isTooLate = order == .total && body.run.isLive && isTimeOver(for: body.run)
    if body.isAbandoned { expectAbandonedDiscards(body) }
  }

  /// The run ends as its body does, or abandons the body when the time has ended or the run is
  /// cancelled.
  mutating func checkAbandonableBodyOutcome(
    _ body: ShownOutcome, _ limit: Tree.Limit, _ run: NodeRun
  ) {
    let name = "n\(run.place.node.id)"
    if let abandonableBody = run.abandonableBody, let end = abandonableBody.end, body == end {
      expect(
        !abandonableBody.isTooLate && !abandonableBody.isAbandoned || end == .error(.cancellation),
        "T3: \(name) shows the outcome of its body, which was too late")
      run.held = abandonableBody.discardableValues
      return
    }
    expect(
      run.abandonableBody?.endsRun != true, "T3: \(name) does not show the outcome of its body")
    if let body = run.abandonableBody, !body.isAbandoned {
      body.isAbandoned = true
      if body.end != nil { expectAbandonedDiscards(body) }
    }
    if body == .error(.cancellation) {
      return expect(run.isKnownCancelled, "T3: \(name) stopped without a cancellation")
    }
    expect(
      body == .error(.timeout(Tree.abandonableBodyName(run.place.node.id))),
      "T3: \(name) ended as \(body), unlike its body")
    let isWithoutTime = limit == .none || limit == .negative
    expect(
      !isWithoutTime || run.abandonableBody == nil, "T2: the body of \(name) began without time")
    expect(isTimeOver(for: run), "T3: \(name) timed out before its time had ended")
  }

  /// Whether the time may have ended, or the run may be cancelled.
  private func mayBeAbandoned(_ run: NodeRun) -> Bool {
    isTimeOver(for: run) || hasReason(toCancel: run)
  }

  private func isTimeOver(for run: NodeRun) -> Bool {
    guard case .leaf(let leaf) = run.place.node.kind else { return false }
    return switch leaf.abandonedAfter {
    case .never, nil: false
    case .none?, .negative: true
    case .ticks(let ticks): tick - run.firstTick >= ticks
    }
  }

  /// O3, T3: no outcome contains the value of an abandoned body.
  private mutating func expectAbandonedDiscards(_ body: AbandonableBodyRun) {
    // With several workers the value can be discarded after everything else has ended.
    if order == .total {
      expectDiscards(of: body.discardableValues)
    } else {
      allowDiscards(of: body.discardableValues)
    }
  }

  mutating func checkAbandonableBodiesEnded() {
    for body in abandonableBodies.values where order == .total {
      expect(body.end != nil, "T3: \(body.name) never ended")
    }
  }
}
