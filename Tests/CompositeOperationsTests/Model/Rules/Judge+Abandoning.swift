// Bodies that their runs need not wait for: T3.

/// A body that its run need not wait for.
final class LooseBody {
  unowned let run: NodeRun
  var end: ShownOutcome?
  /// Whether the run has ended without it.
  var isLeft = false
  /// Whether it ended when nobody could have left it behind yet.
  var endsRun = false
  /// Whether its time was over when it ended.
  var isTooLate = false
  /// Whether its end says the same as that of a run that has left it behind.
  var mayBeLeft: Bool { !isLeft && !endsRun && end == .error(.cancellation) }

  init(of run: NodeRun) { self.run = run }

  var name: String { "the body of n\(run.place.node.id)" }
  /// What is to be given up when nobody sees it.
  var holdings: [Holding] {
    guard case .result(let value) = end else { return [] }
    return [Holding(node: run.place.node.id, value: value)]
  }
}

extension Tree {
  /// What a timeout calls the body of a leaf that it need not wait for.
  static func looseName(_ node: Int) -> String { "loose \(node)" }
}

extension Judge {
  mutating func looseBegan(_ node: Int, _ ticket: Int, _ isCancelled: Bool) {
    guard let run = runs[node] else { return expect(false, "T3: the body of n\(node) began alone") }
    let body = LooseBody(of: run)
    loose[ticket] = body
    // With several workers it may have been left behind while it began.
    expect(
      order == .partial || run.isLive && !isCancelled,
      "O2, T3: \(body.name) began although it had been left behind")
    expect(order == .partial || run.loose == nil, "T3: \(body.name) began twice")
    run.loose = body
    body.isLeft = !run.isLive
  }

  mutating func looseLooked(_ ticket: Int, _ isCancelled: Bool) {
    guard let body = loose[ticket] else { return expect(false, "ticket \(ticket) never began") }
    // The run is resumed before the body is cancelled, on another thread where there are several.
    expect(
      order == .partial || !body.isLeft || isCancelled,
      "T3: \(body.name) was left behind, and not cancelled")
    if isCancelled { mustBeLeft(body) }
  }

  /// A body that has been cancelled has been abandoned, though its run may show that later.
  private mutating func mustBeLeft(_ body: LooseBody) {
    expect(
      body.isLeft || order == .partial || mayBeLeft(body.run),
      "T3: \(body.name) was cancelled without a reason to leave it behind")
    body.isLeft = true
  }

  mutating func looseEnded(_ ticket: Int, _ outcome: ShownOutcome, _ isCancelled: Bool) {
    guard let body = loose[ticket] else { return expect(false, "ticket \(ticket) never began") }
    expect(body.end == nil, "T3: \(body.name) ended twice")
    if isCancelled { mustBeLeft(body) }
    body.end = outcome
    body.endsRun = order == .total && !mayBeLeft(body.run)
    body.isTooLate = order == .total && body.run.isLive && isTimeOver(for: body.run)
    if body.isLeft { loseLeft(body) }
  }

  /// The run ends as its body does, or without it: when its time is over or it is cancelled.
  mutating func looseMustComeTo(_ body: ShownOutcome, _ limit: Tree.Limit, _ run: NodeRun) {
    let name = "n\(run.place.node.id)"
    if let loose = run.loose, let end = loose.end, body == end {
      expect(
        !loose.isTooLate && !loose.isLeft || end == .error(.cancellation),
        "T3: \(name) shows the end of its body, which was too late")
      run.held = loose.holdings
      return
    }
    expect(run.loose?.endsRun != true, "T3: \(name) hides the end of its body")
    if let body = run.loose, !body.isLeft {
      body.isLeft = true
      if body.end != nil { loseLeft(body) }
    }
    if body == .error(.cancellation) {
      return expect(run.isKnownCancelled, "T3: \(name) stopped, and nobody had cancelled it")
    }
    expect(
      body == .error(.timeout(Tree.looseName(run.place.node.id))),
      "T3: \(name) came to \(body), and not to what its body did")
    let isWithoutTime = limit == .none || limit == .negative
    expect(!isWithoutTime || run.loose == nil, "T2: the body of \(name) began without time")
    expect(isTimeOver(for: run), "T3: \(name) was too late, and its time was not over")
  }

  /// Whether its time may be over or its cancellation under way.
  private func mayBeLeft(_ run: NodeRun) -> Bool {
    isTimeOver(for: run) || hasReason(toCancel: run)
  }

  private func isTimeOver(for run: NodeRun) -> Bool {
    guard case .leaf(let leaf) = run.place.node.kind else { return false }
    return switch leaf.isLeftAfter {
    case .never, nil: false
    case .none?, .negative: true
    case .moments(let moments): moment - run.firstMoment >= moments
    }
  }

  /// O3, T3: nobody sees what it came to.
  private mutating func loseLeft(_ body: LooseBody) {
    // With several workers it may not have been given up yet when everything else is over.
    if order == .total { lose(body.holdings) } else { leaveOpen(body.holdings) }
  }

  mutating func looseMustHaveEnded() {
    for body in loose.values where order == .total {
      expect(body.end != nil, "T3: \(body.name) never ended")
    }
  }
}
