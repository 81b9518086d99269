internal import ThreadSupport

extension ProgressObserver {
  /// The tree of the unfinished runs, and the progress to report for all of them.
  struct StateMachine: Sendable {
    private struct Run: Sendable {
      /// A parent whose creation the observer has seen.
      struct Parent: Sendable {
        let slot: Int
        let id: OperationID
      }

      let id: OperationID
      let place: OperationPlace
      let began: EventTime
      let parent: Parent?
      var waits: [OperationEvent.Wait] = []
    }

    /// The unfinished runs, each in a slot. A slot is nil after the end of its run, until it is
    /// reused.
    private var runs: [Run?] = []
    /// The progress of the runs, and the part of it that their parents include, by slot.
    private var nodes: [ProgressNode] = []
    private var contributions: [ProgressNode.Contribution] = []
    private var freeSlots: [Int] = []
    private var slots: [OperationID: Int] = [:]
    /// The unfinished outermost runs.
    private var outermost: Set<OperationID> = []
    /// The number of outermost runs that have ended since the last time that none was running, and
    /// the progress of the last one.
    private var ended = (count: 0, last: OperationProgress())
    /// The sum of the known fractions of the unfinished outermost runs.
    private var doneSum = 0.0
    /// The number of unfinished outermost runs whose fraction is known.
    private var knownCount = 0
    private var told = OperationProgress()
    private var isTelling = false

    // MARK: Events

    mutating func observed(_ event: OperationEvent) {
      switch event.kind {
      case .created: created(event)
      case .progressed(let completed, let total, let unit):
        change(slots[event.id]) {
          $0.told(ProgressNode.Units(completed: completed, total: total, unit: unit))
        }
      case .childrenExpected(let children): change(slots[event.id]) { $0.expects(children) }
      case .waitingBegan(let wait):
        if let slot = slots[event.id] { runs[slot]?.waits.append(wait) }
      case .waitingEnded(let wait):
        guard let slot = slots[event.id], let index = runs[slot]?.waits.lastIndex(of: wait)
        else { return }
        runs[slot]?.waits.remove(at: index)
      case .ended(let outcome, _): ended(event.id, in: outcome.end)
      case .started, .childStarted, .retryScheduled, .attributesSet, .logged,
        .cancellationRequested, .finishedAgain, .abandonedBodyEnded:
        break
      }
    }

    private mutating func created(_ event: OperationEvent) {
      // A run whose parent was created before the observer joined counts as outermost.
      let parent = event.parent.flatMap { id in slots[id].map { Run.Parent(slot: $0, id: id) } }
      let run = Run(id: event.id, place: event.place, began: event.time, parent: parent)
      let node = ProgressNode(share: event.place.share)
      if let slot = freeSlots.popLast() {
        slots[event.id] = slot
        (runs[slot], nodes[slot], contributions[slot]) = (run, node, .init())
      } else {
        slots[event.id] = runs.count
        runs.append(run)
        nodes.append(node)
        contributions.append(.init())
      }
      if let parent { return change(parent.slot) { $0.childBegan(node.report) } }
      if outermost.isEmpty { ended = (0, OperationProgress()) }
      outermost.insert(event.id)
    }

    private mutating func ended(_ id: OperationID, in end: ProgressNode.End) {
      guard let slot = slots.removeValue(forKey: id) else { return }
      let before = nodes[slot].fraction
      nodes[slot].ended(in: end)
      handOn(slot, end: end)
      runs[slot] = nil
      freeSlots.append(slot)
      guard outermost.remove(id) != nil else { return }
      ended = (ended.count + 1, nodes[slot].progress)
      recount(from: before, to: nil)
    }

    private mutating func change(_ slot: Int?, _ body: (inout ProgressNode) -> Void) {
      guard let slot else { return }
      let before = nodes[slot].fraction
      body(&nodes[slot])
      if isOutermost(slot) { recount(from: before, to: nodes[slot].fraction) }
      handOn(slot, end: nil)
    }

    /// The slot of a run's parent, if that has not ended.
    private func parent(of slot: Int) -> Int? {
      // An abandoned body outlives its parent, whose slot may have been reused.
      guard let parent = runs[slot]?.parent, runs[parent.slot]?.id == parent.id else { return nil }
      return parent.slot
    }

    private func isOutermost(_ slot: Int) -> Bool { runs[slot]?.parent == nil }

    /// Propagates the progress of a run upwards, as long as it changes the parent.
    ///
    /// - Parameter end: The outcome of the run; nil if it has not ended.
    private mutating func handOn(_ slot: Int, end: ProgressNode.End?) {
      var (child, end) = (slot, end)
      while let parent = parent(of: child) {
        let before = nodes[parent].fraction
        let hasChanged = nodes[parent].takeOver(
          nodes[child].report, &contributions[child], end: end)
        guard hasChanged else { return }
        if isOutermost(parent) { recount(from: before, to: nodes[parent].fraction) }
        (child, end) = (parent, nil)
      }
    }

    /// Updates the sums after the fraction of an outermost run has changed or the run has ended.
    private mutating func recount(from before: Double?, to after: Double?) {
      knownCount += (after == nil ? 0 : 1) - (before == nil ? 0 : 1)
      doneSum = knownCount == 0 ? 0 : doneSum + (after ?? 0) - (before ?? 0)
    }

    // MARK: Overall progress

    var progress: OperationProgress {
      if outermost.count + ended.count == 1 {
        return outermost.first.flatMap { slots[$0] }.map { nodes[$0].progress } ?? ended.last
      }
      if ended.count == 0, knownCount == 0 { return OperationProgress() }
      let done = Double(ended.count) + doneSum
      return OperationProgress(fraction: min(1, done / Double(outermost.count + ended.count)))
    }

    /// Records an event.
    ///
    /// - Returns: Whether the caller must report the changed progress: it calls ``toTell()`` and
    ///   reports its result, until it is nil. `false` if nothing has changed, or if another thread
    ///   is in that loop.
    mutating func observedForTelling(_ event: OperationEvent) -> Bool {
      observed(event)
      if isTelling || progress == told { return false }
      isTelling = true
      return true
    }

    /// The progress that the caller reports next; nil if it has not changed since the last call.
    mutating func toTell() -> OperationProgress? {
      let progress = progress
      if progress == told {
        isTelling = false
        return nil
      }
      told = progress
      return progress
    }

    // MARK: Unfinished runs

    /// The unfinished runs, each after its parent.
    var branches: [Branch] {
      var below: [Int: [Int]] = [:]
      // In descending order, because the stack returns the last element first.
      var stack: [(slot: Int, level: Int)] = []
      for (_, slot) in slots.sorted(by: { $0.key > $1.key }) {
        if let parent = parent(of: slot) {
          below[parent, default: []].append(slot)
        } else {
          stack.append((slot, 0))
        }
      }
      var branches: [Branch] = []
      while let (slot, level) = stack.popLast() {
        guard let run = runs[slot] else { continue }
        branches.append(
          Branch(
            id: run.id, level: level, name: run.place.name, attempt: run.place.attempt,
            began: run.began.instant, progress: nodes[slot].progress, wait: run.waits.last,
            endedCount: nodes[slot].endedCount))
        for child in below[slot] ?? [] { stack.append((child, level + 1)) }
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
