/// Says whether what a log tells of a tree is what the rules allow.
///
/// It reads the log from front to back and keeps no more than who runs and how those who ran ended.
/// It does nothing itself: what leaves, closures and sequences did is in the log, and the rules say
/// what every composite must have made of that. The rules of one kind of composite stand in one file
/// each: which of its children may begin just now, and what it must have come to when it ends.
struct Judge {
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
  let takesWithinTakes: Bool
  /// What the rules do not allow.
  private(set) var findings: [String] = []
  /// The latest run of each node.
  private(set) var runs: [Int: NodeRun] = [:]
  /// The runs whose outcome is known, in the order in which that became known.
  private(set) var settled: [NodeRun] = []
  /// Which entry is being read.
  private(set) var now = 0
  /// At which moment of the clock it was made.
  private(set) var moment = 0
  /// In which job of the executor.
  private(set) var job = 0
  private(set) var isCancellationRequested = false
  private(set) var isCancelled = false
  private(set) var root: NodeRun?
  /// Which condition of which run a ticket stands for.
  var asked: [Int: (NodeRun, Int)] = [:]
  /// The bodies that their runs need not wait for, by their tickets.
  var loose: [Int: LooseBody] = [:]
  /// What has been taken of each rate.
  var rates = Tree.rates.map { RateState(of: $0) }
  /// How often values are still to be given up.
  private var discards: [Holding: Int] = [:]
  /// Values of which the log does not tell whether anybody saw them.
  private var uncertain: Set<Holding> = []

  init(of tree: Tree, in order: Order) {
    self.order = order
    places = Place.all(of: tree)
    takesWithinTakes = tree.takesWithinTakes
  }

  mutating func read(_ story: Story) {
    for (index, entry) in story.entries.enumerated() {
      moment = story.moments[index]
      job = story.jobs[index]
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
    case .looked(let node, let isCancelled): withRun(node) { $0.looked($1, isCancelled) }
    case .ended(let node, let body, let isCancelled):
      withRun(node) { $0.ended($1, in: body, isCancelled) }
    case .computedInVain(let node): computedInVain(node)
    case .discarded(let node, let value):
      discards[Holding(node: node, value: value), default: 0] -= 1
    case .made(let node, let child, let isCancelled):
      withRun(node) { $0.made(child, for: $1, isCancelled) }
    case .sourceFailed(let node, let error, let isCancelled):
      withRun(node) { $0.sourceFailed(with: error, for: $1, isCancelled) }
    case .asked(let node, let step, let isCancelled):
      withRun(node) { $0.asked($1, after: step, isCancelled) }
    case .answered(let node, let answer): withRun(node) { $1.answer = answer }
    case .called(let node, let value): withRun(node) { $0.called($1, with: value) }
    case .came(let node, let outcome): withRun(node) { $1.came = outcome }
    case .failed(let node, let error, let attempt, let isCancelled):
      withRun(node) { $0.failed($1, in: error, attempt: attempt, isCancelled) }
    case .sawEnd(let node, let outcome, let isCancelled):
      withRun(node) { $0.sawEnd($1, outcome, isCancelled) }
    case .tidied(let node, let isCancelled): withRun(node) { $0.tidied($1, isCancelled) }
    case .conditionAsked(let node, let index, let ticket, let isCancelled):
      conditionAsked(index, of: node, ticket: ticket, isCancelled)
    case .conditionAnswered(let ticket, let answer): conditionAnswered(ticket, answer)
    case .looseBegan(let node, let ticket, let isCancelled):
      looseBegan(node, ticket, isCancelled)
    case .looseLooked(let ticket, let isCancelled): looseLooked(ticket, isCancelled)
    case .looseEnded(let ticket, let outcome, let isCancelled):
      looseEnded(ticket, outcome, isCancelled)
    case .received(let node, let child, let outcome, let isCancelled):
      withRun(node) { $0.received(outcome, from: child, by: $1, isCancelled) }
    case .cancels:
      // With several workers it may still come in time when the body is over.
      if order == .partial || root?.isLive != false { isCancellationRequested = true }
    case .cancelled: if root?.isLive != false { isCancelled = true }
    }
  }

  private mutating func withRun(_ node: Int, _ read: (inout Judge, NodeRun) -> Void) {
    guard let run = runs[node], run.isLive else {
      return expect(false, "n\(node) does something outside any run")
    }
    read(&self, run)
  }

  private mutating func began(_ node: Int, _ isCancelled: Bool) {
    guard let place = places[node] else { return expect(false, "nobody knows n\(node)") }
    expect(runs[node]?.isLive != true, "n\(node) has two runs at once")
    let parent = place.parent.flatMap { runs[$0] }
    let run = NodeRun(of: place, below: parent, at: now, moment: moment)
    if let parent {
      expect(parent.isLive, "P3, S4, C1: n\(node) began behind the end of what runs it")
      mayBegin(run, below: parent)
      mayBeginWithoutTurn(below: parent)
      parent.children.append(run)
    } else {
      expect(place.parent == nil, "C1: n\(node) began before what runs it")
      expect(root == nil, "O1: the outermost operation ran twice")
      root = run
    }
    runs[node] = run
    asksForPermits(run)
    looked(run, isCancelled)
    expect(order == .partial || !isCancelled, "O2: n\(node) began although it was cancelled")
  }

  private mutating func ended(_ run: NodeRun, in body: ShownOutcome, _ isCancelled: Bool) {
    looked(run, isCancelled)
    expect(
      run.liveChildren == 0, "P3, S4, C1: n\(run.place.node.id) ended before what it ran did")
    run.end = NodeRun.End(time: now, moment: moment, body: body, isCancelled: isCancelled)
    mustComeTo(body, run)
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
    if outcome == .cancelled, !run.isHandedOn { lose(run.holdings) }
    return outcome
  }

  /// Takes note of values that no outcome carries any more.
  mutating func lose(_ holdings: [Holding]) {
    for holding in holdings { discards[holding, default: 0] += 1 }
  }

  /// Takes note of values of which the log does not tell whether anybody saw them.
  mutating func leaveOpen(_ holdings: [Holding]) { uncertain.formUnion(holdings) }

  // MARK: The end

  /// Judges how the outermost run ended, when everything is over.
  ///
  /// - Parameters:
  ///   - outcome: What the caller got.
  ///   - late: What came too late, by the handle of the run.
  ///   - hasHandle: Whether there is a handle.
  mutating func finish(_ outcome: ShownOutcome, late: ShownOutcome?, hasHandle: Bool) {
    for run in runs.values { expect(!run.isLive, "O1: n\(run.place.node.id) never ended") }
    looseMustHaveEnded()
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
    for (holding, left) in discards.sorted(by: { $0.key.node < $1.key.node }) {
      if uncertain.contains(holding), (-1...0).contains(left) { continue }
      let name = "n\(holding.node)"
      expect(left <= 0, "O3: \(name) did not give up \(holding.value), which nobody saw")
      expect(left >= 0, "O3: \(name) gave up \(holding.value) \(-left) times too often")
    }
  }
}
