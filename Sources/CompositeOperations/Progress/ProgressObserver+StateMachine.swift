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
      case .childrenExpected(let weight): change(event.id) { $0.expects(weight) }
      case .waitingBegan(let wait): runs[event.id]?.waits.append(wait)
      case .waitingEnded(let wait):
        guard let index = runs[event.id]?.waits.lastIndex(of: wait) else { return }
        runs[event.id]?.waits.remove(at: index)
      case .ended: ended(event.id)
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

    private mutating func ended(_ id: OperationID) {
      guard var run = runs.removeValue(forKey: id) else { return }
      run.node.ended()
      handOn(&run.node, hasEnded: true)
      if outermost.remove(id) != nil { ended = (ended.count + 1, run.node.progress) }
    }

    private mutating func change(_ id: OperationID, _ body: (inout ProgressNode) -> Void) {
      guard var run = runs[id] else { return }
      body(&run.node)
      handOn(&run.node, hasEnded: false)
      runs[id] = run
    }

    /// Tells those above of it, as far up as that changes anything.
    private mutating func handOn(_ node: inout ProgressNode, hasEnded: Bool) {
      guard var id = node.parent, var above = runs[id] else { return }
      var hasChanged = above.node.takeOver(&node, hasEnded: hasEnded)
      while hasChanged, let next = above.node.parent, var upper = runs[next] {
        hasChanged = upper.node.takeOver(&above.node, hasEnded: false)
        runs[id] = above
        (id, above) = (next, upper)
      }
      runs[id] = above
    }

    // MARK: The whole

    var progress: OperationProgress {
      if outermost.count + ended.count == 1 {
        return outermost.first.flatMap { runs[$0]?.node.progress } ?? ended.last
      }
      let parts = outermost.compactMap { runs[$0]?.node.progress }
      if ended.count == 0, parts.allSatisfy({ $0.fraction == nil }) { return OperationProgress() }
      let done = parts.reduce(Double(ended.count)) { $0 + ($1.fraction ?? 0) }
      return OperationProgress(fraction: done / Double(parts.count + ended.count))
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
