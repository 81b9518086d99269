extension ProgressObserver {
  /// The runs that go on, as a tree, and what is to be told of the whole.
  struct StateMachine: Sendable {
    private struct Run: Sendable {
      let place: OperationPlace
      let began: EventTime
      var node: ProgressNode
      var waits: [OperationEvent.Wait] = []
    }

    private var runs: [OperationID: Run] = [:]
    /// The outermost runs that go on.
    private var outermost: Set<OperationID> = []
    /// Those that have ended since none went on: how many, and how far they came.
    private var ended = (count: 0, last: OperationProgress())
    /// The fractions of the outermost runs that go on, together.
    private var doneSum = 0.0
    /// How many of them there are whose fraction is known.
    private var knownCount = 0
    private var told = OperationProgress()
    private var isTelling = false

    // MARK: Events

    mutating func observed(_ event: OperationEvent) {
      switch event.kind {
      case .created: created(event)
      case .progressed(let completed, let total, let unit):
        change(event.id) {
          $0.told(ProgressNode.Units(completed: completed, total: total, unit: unit))
        }
      case .childrenExpected(let children): change(event.id) { $0.expects(children) }
      case .waitingBegan(let wait): runs[event.id]?.waits.append(wait)
      case .waitingEnded(let wait):
        guard let index = runs[event.id]?.waits.lastIndex(of: wait) else { return }
        runs[event.id]?.waits.remove(at: index)
      case .ended(let outcome, _): ended(event.id, in: outcome.end)
      case .started, .childStarted, .retryScheduled, .logged, .cancellationRequested,
        .finishedAgain, .abandonedBodyEnded:
        break
      }
    }

    private mutating func created(_ event: OperationEvent) {
      // A parent that was there before the observer is none for it.
      let parent = event.parent.flatMap { runs[$0] == nil ? nil : $0 }
      let node = ProgressNode(below: parent, share: event.place.share)
      runs[event.id] = Run(place: event.place, began: event.time, node: node)
      if let parent { return change(parent) { $0.childBegan(node) } }
      if outermost.isEmpty { ended = (0, OperationProgress()) }
      outermost.insert(event.id)
    }

    private mutating func ended(_ id: OperationID, in end: ProgressNode.End) {
      guard var run = runs.removeValue(forKey: id) else { return }
      let before = run.node.fraction
      run.node.ended(in: end)
      handOn(&run.node, end: end)
      guard outermost.remove(id) != nil else { return }
      ended = (ended.count + 1, run.node.progress)
      recount(from: before, to: nil)
    }

    private mutating func change(_ id: OperationID, _ body: (inout ProgressNode) -> Void) {
      guard var run = runs[id] else { return }
      let before = run.node.fraction
      body(&run.node)
      handOn(&run.node, end: nil)
      runs[id] = run
      if run.node.parent == nil { recount(from: before, to: run.node.fraction) }
    }

    /// Tells those above of it, as far up as that changes anything.
    private mutating func handOn(_ node: inout ProgressNode, end: ProgressNode.End?) {
      guard var id = node.parent, var above = runs[id] else { return }
      var before = above.node.fraction
      var hasChanged = above.node.takeOver(&node, end: end)
      while hasChanged, let next = above.node.parent, var upper = runs[next] {
        let upperBefore = upper.node.fraction
        hasChanged = upper.node.takeOver(&above.node, end: nil)
        runs[id] = above
        (id, above, before) = (next, upper, upperBefore)
      }
      runs[id] = above
      if above.node.parent == nil { recount(from: before, to: above.node.fraction) }
    }

    /// Takes note of how far an outermost run has come, or that it does not go on any more.
    private mutating func recount(from before: Double?, to after: Double?) {
      knownCount += (after == nil ? 0 : 1) - (before == nil ? 0 : 1)
      doneSum = knownCount == 0 ? 0 : doneSum + (after ?? 0) - (before ?? 0)
    }

    // MARK: The whole

    var progress: OperationProgress {
      if outermost.count + ended.count == 1 {
        return outermost.first.flatMap { runs[$0]?.node.progress } ?? ended.last
      }
      if ended.count == 0, knownCount == 0 { return OperationProgress() }
      let done = Double(ended.count) + doneSum
      return OperationProgress(fraction: min(1, done / Double(outermost.count + ended.count)))
    }

    /// - Returns: Whether the caller is to tell of it.
    mutating func observedForTelling(_ event: OperationEvent) -> Bool {
      observed(event)
      if isTelling || progress == told { return false }
      isTelling = true
      return true
    }

    /// What the one who tells is to tell next; nil if nothing has changed any more.
    mutating func toTell() -> OperationProgress? {
      let progress = progress
      if progress == told {
        isTelling = false
        return nil
      }
      told = progress
      return progress
    }

    // MARK: What runs

    /// Each behind its parent.
    var branches: [Branch] {
      var below: [OperationID: [OperationID]] = [:]
      // The last one first, as it is taken from a stack.
      var stack: [(id: OperationID, level: Int)] = []
      for id in runs.keys.sorted(by: >) {
        if let parent = runs[id]?.node.parent, runs[parent] != nil {
          below[parent, default: []].append(id)
        } else {
          stack.append((id, 0))
        }
      }
      var branches: [Branch] = []
      while let (id, level) = stack.popLast() {
        guard let run = runs[id] else { continue }
        branches.append(
          Branch(
            id: id, level: level, name: run.place.name, attempt: run.place.attempt,
            began: run.began.instant, progress: run.node.progress, wait: run.waits.last,
            endedCount: run.node.endedCount))
        for child in below[id] ?? [] { stack.append((child, level + 1)) }
      }
      return branches
    }
  }
}

extension Outcome {
  fileprivate var end: ProgressNode.End {
    switch self {
    case .result: .result
    case .error: .error
    case .cancelled: .cancelled
    }
  }
}
