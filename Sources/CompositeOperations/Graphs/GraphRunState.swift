internal import Synchronization

/// The shared state of the pullers of one graph run: the results, how every node ended, and which
/// nodes are ready.
@safe @usableFromInline final class GraphRunState: ScheduledRun, WorkSource, @unchecked Sendable {
  let plan: GraphPlan
  let queue: GraphQueue
  /// Whether the run has observers. The bodies of the nodes then record how they ended.
  @usableFromInline let isObserved: Bool
  private let unfinished: Atomic<Int>
  /// Whether a node ended without a result. Set before the node counts down its dependents.
  private let hasLosses = Atomic(false)
  private let failures = Lock(GraphFailures())

  // Raw memory, so that running a node retains nothing. Only the task that runs a node writes the
  // slot of the node, before it counts down the dependents. A dependent reads it
  // when its count is zero, and other tasks when the group of all tasks has ended. Counts are
  // atomic.
  @usableFromInline nonisolated(unsafe) let slots: UnsafeMutableRawPointer
  private nonisolated(unsafe) let waitsFor: UnsafeMutablePointer<Atomic<Int32>>

  init(_ plan: GraphPlan, limit: Int, goal: Goal, isObserved: Bool) {
    self.plan = plan
    self.isObserved = isObserved
    let count = plan.count
    unfinished = Atomic(count)
    unsafe slots = .allocate(byteCount: plan.size, alignment: plan.alignment)
    unsafe waitsFor = .allocate(capacity: count)
    queue = GraphQueue(count: count)
    for node in 0..<count {
      let needed = plan.inputs(of: node).count
      unsafe (waitsFor + node).initialize(to: Atomic(Int32(needed)))
      if needed == 0 { queue.add(node) }
    }
    // Nodes in a chain are never in flight at the same time.
    super.init(count: count, limit: plan.isChain ? 1 : limit, goal: goal)
  }

  deinit {
    for node in 0..<plan.count where !plan.nodes[node].isTrivial && state(of: node).hasValue {
      plan.nodes[node].work.drop(slot(of: node))
    }
    unsafe slots.deallocate()
    unsafe waitsFor.deallocate()
  }

  @usableFromInline func slot(of node: Int) -> ResultSlot { slot(at: plan.nodes[node].offset) }

  /// The slot for a result, by its offset in bytes.
  @inlinable func slot(at offset: Int) -> ResultSlot { unsafe ResultSlot(at: slots + offset) }

  /// Returns how a node ended. For a node that could not begin, this is how the node that prevented
  /// it ended.
  ///
  /// - Parameter value: Reads the result, as the dependent needs it.
  func outcome<Value>(of node: Int, value: () -> Value) -> Outcome<Value> {
    switch state(of: node) {
    case .result: .result(value())
    case .error: error(of: node).map(Outcome.error) ?? .cancelled
    case .withoutInput:
      failures.withLock { $0.errorBehind(node) }.map(Outcome.error) ?? .cancelled
    case .notBegun, .lateResult, .cancelledItself, .cancelledWithComposite: .cancelled
    }
  }

  /// The name of a node. If its operation has not been created, this is the name of the type.
  func name(of node: Int) -> String {
    let work = plan.nodes[node].work
    return work.ownName ?? failures.withLock { $0.names[node] } ?? work.name
  }

  /// The error of a node that failed.
  func error(of node: Int) -> (any Error)? { failures.withLock { $0.errors[node] } }

  // MARK: Stopping

  var isOver: Bool { unfinished.load(ordering: .acquiring) == 0 }

  /// Prevents further nodes from starting. Those that run have been cancelled from outside.
  func cancel() {
    startNoMore()
    queue.end()
  }

  // MARK: Ends of nodes

  /// Records the name of the operation of a node that fails, for the error.
  @usableFromInline func failed(_ node: Int, as name: String) {
    failures.withLock { $0.called(node, name) }
  }

  /// Records how an observed node ended.
  ///
  /// - Returns: Whether the run must stop.
  @discardableResult @usableFromInline func ended(
    _ node: Int, in completion: Completion<Void>
  ) -> Bool {
    let state = ChildState(of: completion)
    if state != .result { return ended(node, in: state, error: completion.error) }
    endedInResult(node, cleanup: completion.cleanup)
    return false
  }

  override func recordLoss(_ loss: Loss) {
    super.recordLoss(loss)
    if let error = loss.error { failures.withLock { $0.failed(loss.index, with: error) } }
  }

  override func stopsAfter(_ node: Int, in state: ChildState) -> Bool {
    hasLosses.store(true, ordering: .relaxed)
    guard isStopping(state, of: node) else { return false }
    cancel()
    stop()
    return true
  }

  /// Whether a node has failed or cancelled itself, and the graph does not tolerate that.
  func isStopping(_ state: ChildState, of node: Int) -> Bool {
    goal == .everyResult && state.isOwnLoss && !plan.isTolerated(node)
  }

  /// Releases the dependents of a node that has ended.
  ///
  /// - Parameter finished: Incremented by the number of ended nodes, for ``finished(_:)``.
  /// - Returns: A dependent that has become ready, which the caller runs; -1 if there is none. The
  ///   others are queued.
  func release(behind node: Int, finished: inout Int) -> Int {
    var first = -1
    var hasOthers = false
    finished += 1
    plan.forEachNeeding(node) { needing in
      guard countDown(needing) else { return }
      if !hasInputs(needing) {
        releaseWithout(needing, &finished)
      } else if first < 0 {
        first = needing
      } else {
        queue.add(needing)
        hasOthers = true
      }
    }
    if hasOthers { queue.wakeOne() }
    return first
  }

  /// Marks a node that cannot begin, and releases its dependents: each is queued or cannot begin.
  private func releaseWithout(_ node: Int, _ finished: inout Int) {
    var lost = [node]
    while let node = lost.popLast() {
      note(.withoutInput, of: node)
      let missing = plan.inputs(of: node).filter { input in
        !input.asksForOutcome && state(of: input.node) != .result
      }
      failures.withLock { $0.couldNotBegin(node, without: missing.map(\.node)) }
      finished += 1
      plan.forEachNeeding(node) { needing in
        guard countDown(needing) else { return }
        if hasInputs(needing) {
          queue.add(needing)
          queue.wakeOne()
        } else {
          lost.append(needing)
        }
      }
    }
  }

  /// Counts an ended input of a node.
  ///
  /// - Returns: Whether all inputs of the node have ended.
  private func countDown(_ node: Int) -> Bool {
    // If one input is left, no other task counts down.
    if unsafe waitsFor[node].load(ordering: .acquiring) == 1 { return true }
    return unsafe waitsFor[node].wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue == 0
  }

  /// Counts nodes that have ended.
  func finished(_ count: Int) {
    if count == 0 { return }
    let left = unfinished.wrappingSubtract(count, ordering: .acquiringAndReleasing).newValue
    if left == 0 { queue.end() }
  }

  private func hasInputs(_ node: Int) -> Bool {
    // All inputs have counted down, so this thread sees what they wrote before.
    !hasLosses.load(ordering: .relaxed)
      || plan.inputs(of: node).allSatisfy { input in
        input.asksForOutcome || state(of: input.node) == .result
      }
  }

  // MARK: After the run

  /// Whether no output is missing and every node ended in a result, except for tolerated nodes and
  /// those that could not begin because of them.
  var isComplete: Bool {
    missingOutputs.isEmpty
      && (0..<plan.count).allSatisfy { node in
        switch state(of: node) {
        case .result, .withoutInput: true
        case .notBegun: false
        case .lateResult, .error, .cancelledItself, .cancelledWithComposite:
          plan.isTolerated(node)
        }
      }
  }

  /// The nodes whose results the graph returns and that ended without one.
  var missingOutputs: [Int] {
    plan.outputs.filter { !$0.asksForOutcome && state(of: $0.node) != .result }.map(\.node)
  }

  /// Closures that discard the results which no dependent has taken, by node.
  var untakenCleanups: [Int: Cleanup] { cleanups.filter { !isTaken($0.key) } }

  /// The errors that no dependent has taken, in chronological order.
  var untakenErrors: [(node: Int, value: any Error)] {
    let causes = causes
    if causes.isEmpty { return [] }
    // The outcome of a node that could not begin is the error of the node that prevented it.
    let unbegun = failures.withLock(\.unbegun)
    return causes.compactMap { node in
      guard let error = error(of: node) else { return nil }
      let isSeen = isTaken(node) || unbegun[node, default: []].contains(where: isTaken)
      return isSeen ? nil : (node, error)
    }
  }

  /// Whether a dependent of a node has begun, which then owns the outcome of the node.
  private func isTaken(_ node: Int) -> Bool {
    var isTaken = false
    plan.forEachNeeding(node) { needing in
      if state(of: needing) != .withoutInput, state(of: needing) != .notBegun { isTaken = true }
    }
    return isTaken
  }

  /// The nodes whose outcomes the outputs show.
  var shownNodes: Set<Int> {
    let outputs = plan.outputs.map(\.node)
    return failures.withLock { failures in Set(outputs + outputs.compactMap(failures.cause)) }
  }
}
