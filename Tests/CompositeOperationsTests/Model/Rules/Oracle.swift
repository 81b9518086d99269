/// Checks whether the log of a tree follows the rules.
///
/// The oracle reads the log from front to back, and keeps the latest run of each node and the
/// outcomes of runs. The log contains what leaves, closures and sequences did. From this, the rules
/// determine what every composite must have done. Each kind of composite has a file with its rules:
/// which of its children may begin, and which outcome it must have.
struct Oracle {
  /// How precisely the entries are ordered.
  enum Order {
    /// One worker ran the tree, so nothing happened between two entries, or between the end of a
    /// body and the decision about the outcome of its run.
    case total
    /// Several workers ran the tree, so an entry only follows those that caused it.
    case partial
  }

  let order: Order
  let places: [Int: Place]
  let nestsPermits: Bool
  /// The violations that were found.
  private(set) var findings: [String] = []
  /// The latest run of each node.
  private(set) var runs: [Int: NodeRun] = [:]
  /// The runs whose outcome is known, in the order in which it became known.
  private(set) var settled: [NodeRun] = []
  /// The index of the entry that is being read.
  private(set) var now = 0
  /// The tick of the clock at that entry.
  private(set) var tick = 0
  /// The job of the executor at that entry.
  private(set) var job = 0
  private(set) var isCancellationRequested = false
  private(set) var isCancelled = false
  private(set) var root: NodeRun?
  /// The run and the index of the condition for each ticket.
  var asked: [Int: (NodeRun, Int)] = [:]
  /// The bodies that their runs may abandon, by ticket.
  var abandonableBodies: [Int: AbandonableBodyRun] = [:]
  /// The state of each rate.
  var rates = Tree.rates.map { RateState(of: $0) }
  /// How many times each value must still be discarded.
  private var discards: [DiscardableValue: Int] = [:]
  /// Values that may be discarded, because the log does not show whether an outcome contains them.
  private var uncertain: Set<DiscardableValue> = []

  init(of tree: Tree, in order: Order) {
    self.order = order
    places = Place.all(of: tree)
    nestsPermits = tree.nestsPermits
  }

  mutating func read(_ recording: Recording) {
    for (index, entry) in recording.entries.enumerated() {
      tick = recording.ticks[index]
      job = recording.jobs[index]
      read(entry)
      now += 1
    }
  }

  mutating func expect(_ isRight: Bool, _ rule: @autoclosure () -> String) {
    if !isRight { findings.append("entry \(now): " + rule()) }
  }

  // MARK: Entries

  private mutating func read(_ entry: Entry) {
    switch entry {
    case .began(let node, let isCancelled): began(node, isCancelled)
    case .checkedCancellation(let node, let isCancelled):
      withRun(node) { $0.checkedCancellation($1, isCancelled) }
    case .ended(let node, let body, let isCancelled):
      withRun(node) { $0.ended($1, in: body, isCancelled) }
    case .computationTimedOut(let node): computationTimedOut(node)
    case .discarded(let node, let value):
      discards[DiscardableValue(node: node, value: value), default: 0] -= 1
    case .made(let node, let child, let isCancelled):
      withRun(node) { $0.made(child, for: $1, isCancelled) }
    case .sourceFailed(let node, let error, let isCancelled):
      withRun(node) { $0.sourceFailed(with: error, for: $1, isCancelled) }
    case .asked(let node, let step, let isCancelled):
      withRun(node) { $0.asked($1, after: step, isCancelled) }
    case .answered(let node, let answer): withRun(node) { $1.answer = answer }
    case .called(let node, let value): withRun(node) { $0.called($1, with: value) }
    case .closureEnded(let node, let outcome): withRun(node) { $1.closureOutcome = outcome }
    case .calledWithError(let node, let error, let attempt, let isCancelled):
      withRun(node) { $0.calledWithError($1, in: error, attempt: attempt, isCancelled) }
    case .finallyBegan(let node, let outcome, let isCancelled):
      withRun(node) { $0.finallyBegan($1, outcome, isCancelled) }
    case .finallyEnded(let node, let isCancelled):
      withRun(node) { $0.finallyEnded($1, isCancelled) }
    case .conditionAsked(let node, let index, let ticket, let isCancelled):
      conditionAsked(index, of: node, ticket: ticket, isCancelled)
    case .conditionAnswered(let ticket, let answer): conditionAnswered(ticket, answer)
    case .abandonableBodyBegan(let node, let ticket, let isCancelled):
      abandonableBodyBegan(node, ticket, isCancelled)
    case .abandonableBodyCheckedCancellation(let ticket, let isCancelled):
      abandonableBodyCheckedCancellation(ticket, isCancelled)
    case .abandonedBodyWasNotCancelled(let ticket): abandonedBodyWasNotCancelled(ticket)
    case .abandonableBodyEnded(let ticket, let outcome, let isCancelled):
      abandonableBodyEnded(ticket, outcome, isCancelled)
    case .received(let node, let child, let outcome, let isCancelled):
      withRun(node) { $0.received(outcome, from: child, by: $1, isCancelled) }
    case .cancels:
      // With several workers the cancellation can take effect after the body has ended.
      if order == .partial || root?.isLive != false { isCancellationRequested = true }
    case .cancelled: if root?.isLive != false { isCancelled = true }
    }
  }

  private mutating func withRun(_ node: Int, _ read: (inout Oracle, NodeRun) -> Void) {
    guard let run = runs[node], run.isLive else {
      return expect(false, "n\(node) acted outside of a run")
    }
    read(&self, run)
  }

  private mutating func began(_ node: Int, _ isCancelled: Bool) {
    guard let place = places[node] else { return expect(false, "n\(node) is not in the tree") }
    expect(runs[node]?.isLive != true, "two runs of n\(node) overlap")
    let parent = place.parent.flatMap { runs[$0] }
    let run = NodeRun(of: place, below: parent, at: now, tick: tick)
    if let parent {
      expect(parent.isLive, "P3, S4, C1: n\(node) began after the end of its parent")
      checkMayBegin(run, below: parent)
      checkYields(below: parent)
      parent.children.append(run)
    } else {
      expect(place.parent == nil, "C1: n\(node) began before its parent")
      expect(root == nil, "O1: the outermost operation ran twice")
      root = run
    }
    runs[node] = run
    requestedPermits(run)
    checkedCancellation(run, isCancelled)
    expect(order == .partial || !isCancelled, "O2: n\(node) began although it was cancelled")
  }

  private mutating func ended(_ run: NodeRun, in body: ShownOutcome, _ isCancelled: Bool) {
    checkedCancellation(run, isCancelled)
    expect(
      run.liveChildren == 0, "P3, S4, C1: n\(run.place.node.id) ended before its children")
    run.end = NodeRun.End(time: now, tick: tick, body: body, isCancelled: isCancelled)
    checkOutcome(body, run)
    if let parent = run.parent, stops(parent, run) { parent.stop = parent.stop ?? now }
  }

  // MARK: Outcomes

  /// The outcome of a run, as far as its own end determines it (O3 and O4).
  func presumedOutcome(of run: NodeRun) -> ShownOutcome {
    guard let end = run.end else { return .cancelled }
    if end.isCancelled { return .cancelled }
    if case .error(let error) = end.body, error.meansCancellation { return .cancelled }
    return end.body
  }

  /// Records the outcome of a run for its parent.
  ///
  /// - Parameter shown: The outcome that the parent shows; nil if it shows none.
  /// - Returns: The outcome of the run.
  @discardableResult mutating func settle(
    _ run: NodeRun, as shown: ShownOutcome? = nil
  ) -> ShownOutcome {
    let presumed = presumedOutcome(of: run)
    var outcome = run.outcome ?? presumed
    // The run may have been cancelled after the last check of its body.
    if run.outcome == nil, order == .partial, shown == .cancelled, hasReason(toCancel: run) {
      outcome = .cancelled
    }
    expect(
      shown == nil || shown == outcome,
      """
      O3, O4: n\(run.place.node.id) ended as \(outcome), but its parent shows \
      \(shown.map { "\($0)" } ?? "nothing")
      """)
    if run.outcome != nil { return outcome }
    run.outcome = outcome
    run.isShown = shown != nil
    settled.append(run)
    if outcome == .cancelled, !run.isPassedOn { expectDiscards(of: run.discardableValues) }
    return outcome
  }

  /// Requires values to be discarded, because no outcome contains them any more.
  mutating func expectDiscards(of discardableValues: [DiscardableValue]) {
    for discardable in discardableValues { discards[discardable, default: 0] += 1 }
  }

  /// Allows values to be discarded, because the log does not show whether an outcome contains them.
  mutating func allowDiscards(of discardableValues: [DiscardableValue]) {
    uncertain.formUnion(discardableValues)
  }

  // MARK: The end

  /// Checks the outcome of the outermost run, after everything has ended.
  ///
  /// - Parameters:
  ///   - outcome: The outcome that the caller received.
  ///   - late: The late outcome on the handle of the run.
  ///   - hasHandle: Whether the run has a handle.
  mutating func finish(_ outcome: ShownOutcome, late: ShownOutcome?, hasHandle: Bool) {
    for run in runs.values { expect(!run.isLive, "O1: n\(run.place.node.id) never ended") }
    checkAbandonableBodiesEnded()
    var expectedLate: ShownOutcome?
    if let root, let end = root.end {
      settle(root, as: outcome)
      expectedLate = root.lateBody
      if order == .partial, late == nil, end.body == .error(.cancellation) { expectedLate = nil }
    } else {
      expect(isCancellationRequested, "O1: the operation never began, but was not cancelled")
      expect(
        outcome == .cancelled,
        "O2: the operation was cancelled before it began, but ended as \(outcome)")
    }
    if hasHandle {
      expect(
        late == expectedLate,
        """
        O3, P4, S4: the handle shows \(late.map { "\($0)" } ?? "nothing") as late, expected \
        \(expectedLate.map { "\($0)" } ?? "nothing")
        """)
    }
    for (discardable, left) in discards.sorted(by: { $0.key.node < $1.key.node }) {
      if uncertain.contains(discardable), (-1...0).contains(left) { continue }
      let name = "n\(discardable.node)"
      expect(
        left <= 0, "O3: \(name) did not discard \(discardable.value), which no outcome contains")
      expect(left >= 0, "O3: \(name) discarded \(discardable.value) \(-left) times too often")
    }
  }
}
