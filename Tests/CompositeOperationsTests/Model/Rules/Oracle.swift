/// Says whether what a log tells of a tree is what the rules allow.
///
/// It reads the log from front to back and keeps no more than who runs and how those who ran ended.
/// It does nothing itself: what leaves, closures and sequences did is in the log, and the rules say
/// what every composite must have made of that. The rules of one kind of composite stand in one file
/// each: which of its children may begin just now, and what it must have come to when it ends.
struct Oracle {
  /// How much the order of the entries says.
  enum Order {
    /// Everything: one worker ran the tree, so nothing happened between two entries, and between
    /// the end of a body and the decision how its run ends.
    case total
    /// Only that an entry comes behind those that caused it.
    case partial
  }

  let order: Order
  let places: [Int: Place]
  let nestsPermits: Bool
  /// What the rules do not allow.
  private(set) var findings: [String] = []
  /// The latest run of each node.
  private(set) var runs: [Int: NodeRun] = [:]
  /// The runs whose outcome is known, in the order in which that became known.
  private(set) var settled: [NodeRun] = []
  /// Which entry is being read.
  private(set) var now = 0
  /// At which moment of the clock it was made.
  private(set) var tick = 0
  /// In which job of the executor.
  private(set) var job = 0
  private(set) var isCancellationRequested = false
  private(set) var isCancelled = false
  private(set) var root: NodeRun?
  /// Which condition of which run a ticket stands for.
  var asked: [Int: (NodeRun, Int)] = [:]
  /// The bodies that their runs need not wait for, by their tickets.
  var abandonableBodies: [Int: AbandonableBodyRun] = [:]
  /// What has been taken of each rate.
  var rates = Tree.rates.map { RateState(of: $0) }
  /// How often values are still to be given up.
  private var discards: [DiscardableValue: Int] = [:]
  /// Values of which the log does not tell whether anybody saw them.
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
    case .abandonableBodyEnded(let ticket, let outcome, let isCancelled):
      abandonableBodyEnded(ticket, outcome, isCancelled)
    case .received(let node, let child, let outcome, let isCancelled):
      withRun(node) { $0.received(outcome, from: child, by: $1, isCancelled) }
    case .cancels:
      // With several workers it may still come in time when the body is over.
      if order == .partial || root?.isLive != false { isCancellationRequested = true }
    case .cancelled: if root?.isLive != false { isCancelled = true }
    }
  }

  private mutating func withRun(_ node: Int, _ read: (inout Oracle, NodeRun) -> Void) {
    guard let run = runs[node], run.isLive else {
      return expect(false, "n\(node) does something outside any run")
    }
    read(&self, run)
  }

  private mutating func began(_ node: Int, _ isCancelled: Bool) {
    guard let place = places[node] else { return expect(false, "nobody knows n\(node)") }
    expect(runs[node]?.isLive != true, "n\(node) has two runs at once")
    let parent = place.parent.flatMap { runs[$0] }
    let run = NodeRun(of: place, below: parent, at: now, tick: tick)
    if let parent {
      expect(parent.isLive, "P3, S4, C1: n\(node) began behind the end of what runs it")
      checkMayBegin(run, below: parent)
      checkYields(below: parent)
      parent.children.append(run)
    } else {
      expect(place.parent == nil, "C1: n\(node) began before what runs it")
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
      run.liveChildren == 0, "P3, S4, C1: n\(run.place.node.id) ended before what it ran did")
    run.end = NodeRun.End(time: now, tick: tick, body: body, isCancelled: isCancelled)
    checkOutcome(body, run)
    if let parent = run.parent, stops(parent, run) { parent.stop = parent.stop ?? now }
  }

  // MARK: Outcomes

  /// How a run ends, as far as its own end tells (O3 and O4).
  func presumedOutcome(of run: NodeRun) -> ShownOutcome {
    guard let end = run.end else { return .cancelled }
    if end.isCancelled { return .cancelled }
    if case .error(let error) = end.body, error.meansCancellation { return .cancelled }
    return end.body
  }

  /// Takes note of how a run ended for whoever ran it.
  ///
  /// - Parameter shown: How that one shows it; nil if it does not.
  @discardableResult mutating func settle(
    _ run: NodeRun, as shown: ShownOutcome? = nil
  ) -> ShownOutcome {
    let presumed = presumedOutcome(of: run)
    var outcome = run.outcome ?? presumed
    // Somebody may have cancelled it a moment after its body had looked.
    if run.outcome == nil, order == .partial, shown == .cancelled, hasReason(toCancel: run) {
      outcome = .cancelled
    }
    expect(
      shown == nil || shown == outcome,
      """
      O3, O4: n\(run.place.node.id) ended as \(outcome), and whoever ran it shows \
      \(shown.map { "\($0)" } ?? "nothing")
      """)
    if run.outcome != nil { return outcome }
    run.outcome = outcome
    run.isShown = shown != nil
    settled.append(run)
    if outcome == .cancelled, !run.isPassedOn { expectDiscards(of: run.discardableValues) }
    return outcome
  }

  /// Takes note of values that no outcome carries any more.
  mutating func expectDiscards(of discardableValues: [DiscardableValue]) {
    for discardable in discardableValues { discards[discardable, default: 0] += 1 }
  }

  /// Takes note of values of which the log does not tell whether anybody saw them.
  mutating func allowDiscards(of discardableValues: [DiscardableValue]) {
    uncertain.formUnion(discardableValues)
  }

  // MARK: The end

  /// Judges how the outermost run ended, when everything is over.
  ///
  /// - Parameters:
  ///   - outcome: What the caller got.
  ///   - late: What came too late, by the handle of the run.
  ///   - hasHandle: Whether there is a handle.
  mutating func finish(_ outcome: ShownOutcome, late: ShownOutcome?, hasHandle: Bool) {
    for run in runs.values { expect(!run.isLive, "O1: n\(run.place.node.id) never ended") }
    checkAbandonableBodiesEnded()
    var expectedLate: ShownOutcome?
    if let root, let end = root.end {
      settle(root, as: outcome)
      expectedLate = root.lateBody
      if order == .partial, late == nil, end.body == .error(.cancellation) { expectedLate = nil }
    } else {
      expect(isCancellationRequested, "O1: the operation never began, and nobody cancelled it")
      expect(outcome == .cancelled, "O2: cancelled before it began, it ended as \(outcome)")
    }
    if hasHandle {
      expect(
        late == expectedLate,
        """
        O3, P4, S4: the handle shows as late \(late.map { "\($0)" } ?? "nothing"), and it was \
        \(expectedLate.map { "\($0)" } ?? "nothing")
        """)
    }
    for (discardable, left) in discards.sorted(by: { $0.key.node < $1.key.node }) {
      if uncertain.contains(discardable), (-1...0).contains(left) { continue }
      let name = "n\(discardable.node)"
      expect(left <= 0, "O3: \(name) did not give up \(discardable.value), which nobody saw")
      expect(left >= 0, "O3: \(name) gave up \(discardable.value) \(-left) times too often")
    }
  }
}
