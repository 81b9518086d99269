// Bodies that their runs need not wait for: T3.

/// A body that its run need not wait for.
final class AbandonableBodyRun {
  unowned let run: NodeRun
  var end: ShownOutcome?
  /// Whether the run has ended without it.
  var isAbandoned = false
  /// Whether it ended when nobody could have left it behind yet.
  var endsRun = false
  /// Whether its time was over when it ended.
  var isTooLate = false
  /// Whether its end says the same as that of a run that has left it behind.
  var mayBeAbandoned: Bool { !isAbandoned && !endsRun && end == .error(.cancellation) }

  init(of run: NodeRun) { self.run = run }

  var name: String { "the body of n\(run.place.node.id)" }
  /// What is to be given up when nobody sees it.
  var discardableValues: [DiscardableValue] {
    guard case .result(let value) = end else { return [] }
    return [DiscardableValue(node: run.place.node.id, value: value)]
  }
}

extension Tree {
  /// What a timeout calls the body of a leaf that it need not wait for.
  static func abandonableBodyName(_ node: Int) -> String { "loose \(node)" }
}

extension Oracle {
  mutating func abandonableBodyBegan(_ node: Int, _ ticket: Int, _ isCancelled: Bool) {
    guard let run = runs[node] else { return expect(false, "T3: the body of n\(node) began alone") }
    let body = AbandonableBodyRun(of: run)
    abandonableBodies[ticket] = body
    // With several workers it may have been left behind while it began.
    expect(
      order == .partial || run.isLive && !isCancelled,
      "O2, T3: \(body.name) began although it had been left behind")
    expect(order == .partial || run.abandonableBody == nil, "T3: \(body.name) began twice")
    run.abandonableBody = body
    body.isAbandoned = !run.isLive
  }

  mutating func abandonableBodyCheckedCancellation(_ ticket: Int, _ isCancelled: Bool) {
    guard let body = abandonableBodies[ticket] else {
      return expect(false, "ticket \(ticket) never began")
    }
    // The run is resumed before the body is cancelled, on another thread where there are several.
    expect(
      order == .partial || !body.isAbandoned || isCancelled,
      "T3: \(body.name) was left behind, and not cancelled")
    if isCancelled { markAbandoned(body) }
  }

  /// A body that has been cancelled has been abandoned, though its run may show that later.
  private mutating func markAbandoned(_ body: AbandonableBodyRun) {
    expect(
      body.isAbandoned || order == .partial || mayBeAbandoned(body.run),
      "T3: \(body.name) was cancelled without a reason to leave it behind")
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

  /// The run ends as its body does, or without it: when its time is over or it is cancelled.
  mutating func checkAbandonableBodyOutcome(
    _ body: ShownOutcome, _ limit: Tree.Limit, _ run: NodeRun
  ) {
    let name = "n\(run.place.node.id)"
    if let abandonableBody = run.abandonableBody, let end = abandonableBody.end, body == end {
      expect(
        !abandonableBody.isTooLate && !abandonableBody.isAbandoned || end == .error(.cancellation),
        "T3: \(name) shows the end of its body, which was too late")
      run.held = abandonableBody.discardableValues
      return
    }
    expect(run.abandonableBody?.endsRun != true, "T3: \(name) hides the end of its body")
    if let body = run.abandonableBody, !body.isAbandoned {
      body.isAbandoned = true
      if body.end != nil { expectAbandonedDiscards(body) }
    }
    if body == .error(.cancellation) {
      return expect(run.isKnownCancelled, "T3: \(name) stopped, and nobody had cancelled it")
    }
    expect(
      body == .error(.timeout(Tree.abandonableBodyName(run.place.node.id))),
      "T3: \(name) came to \(body), and not to what its body did")
    let isWithoutTime = limit == .none || limit == .negative
    expect(
      !isWithoutTime || run.abandonableBody == nil, "T2: the body of \(name) began without time")
    expect(isTimeOver(for: run), "T3: \(name) was too late, and its time was not over")
  }

  /// Whether its time may be over or its cancellation under way.
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

  /// O3, T3: nobody sees what it came to.
  private mutating func expectAbandonedDiscards(_ body: AbandonableBodyRun) {
    // With several workers it may not have been given up yet when everything else is over.
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
