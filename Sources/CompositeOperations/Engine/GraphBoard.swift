internal import Synchronization

/// What the pullers of one run of a graph share: the results, how every node ended, and who is ready.
@safe @usableFromInline final class GraphBoard: Sendable {
  /// How far a node came: one byte a node.
  enum NodeState: UInt8, Sendable {
    case notBegun
    case result
    /// It was cancelled, and a value came too late, which lies in its slot.
    case lateResult
    case error
    case cancelledItself
    case cancelledWithGraph
    /// Something that it needs gave no result.
    case withoutInput

    /// Whether it ended without a result of its own accord.
    var isOwnLoss: Bool { self == .error || self == .cancelledItself }
  }

  let plan: GraphPlan
  let reserve = WorkerReserve()
  let queue: GraphQueue
  /// Whether somebody observes the run, so that the ends of nodes are told here.
  @usableFromInline let isObserved: Bool
  private let stopsAtFailure: Bool
  private let unfinished: Atomic<Int>
  private let hasStopped = Atomic(false)
  /// Whether a node ended without a result. Set before those that need the node are counted down.
  private let hasLosses = Atomic(false)
  private let failures = Lock(GraphFailures())
  private let held = Lock<[Int: Disposal]>([:])

  // Raw memory, so that running a node counts no reference. A slot and the state of a node are written
  // by the one task that runs the node, before it counts down what those wait for that need it, and
  // read by those when their count is zero, or by others when the group of all tasks is over. Counts
  // are atomic.
  @usableFromInline nonisolated(unsafe) let slots: UnsafeMutableRawPointer
  private nonisolated(unsafe) let states: UnsafeMutablePointer<NodeState>
  private nonisolated(unsafe) let waitsFor: UnsafeMutablePointer<Atomic<Int32>>

  init(_ plan: GraphPlan, limit: Int, stopsAtFailure: Bool, isObserved: Bool) {
    self.plan = plan
    self.stopsAtFailure = stopsAtFailure
    self.isObserved = isObserved
    let count = plan.count
    unfinished = Atomic(count)
    unsafe slots = .allocate(byteCount: plan.size, alignment: plan.alignment)
    unsafe states = .allocate(capacity: count)
    unsafe states.initialize(repeating: .notBegun, count: count)
    unsafe waitsFor = .allocate(capacity: count)
    queue = GraphQueue(count: count, limit: limit)
    for node in 0..<count {
      let needed = plan.inputs(of: node).count
      unsafe (waitsFor + node).initialize(to: Atomic(Int32(needed)))
      if needed == 0 { queue.add(node) }
    }
  }

  deinit {
    for node in 0..<plan.count where !plan.nodes[node].isTrivial && hasValue(node) {
      plan.nodes[node].work.drop(slot(of: node))
    }
    unsafe slots.deallocate()
    unsafe states.deallocate()
    unsafe waitsFor.deallocate()
  }

  @usableFromInline func slot(of node: Int) -> ResultSlot { slot(at: plan.nodes[node].offset) }

  /// The memory for a result. The offset is in bytes.
  @inlinable func slot(at offset: Int) -> ResultSlot { unsafe ResultSlot(at: slots + offset) }

  func state(of node: Int) -> NodeState { unsafe states[node] }

  private func hasValue(_ node: Int) -> Bool {
    unsafe states[node] == .result || states[node] == .lateResult
  }

  /// How a node ended that has ended; of one that could not begin, how that one did that is to blame.
  ///
  /// - Parameter value: Reads what its result is for the one who asks.
  func outcome<Value>(of node: Int, value: () -> Value) -> Outcome<Value> {
    switch state(of: node) {
    case .result: .result(value())
    case .error: error(of: node).map(Outcome.error) ?? .cancelled
    case .withoutInput:
      failures.withLock { $0.errorBehind(node) }.map(Outcome.error) ?? .cancelled
    case .notBegun, .lateResult, .cancelledItself, .cancelledWithGraph: .cancelled
    }
  }

  /// What a node is called: where its operation has not been made, by the type.
  func name(of node: Int) -> String {
    let work = plan.nodes[node].work
    return work.ownName ?? failures.withLock { $0.names[node] } ?? work.name
  }

  /// The error that a node ended in.
  func error(of node: Int) -> (any Error)? { failures.withLock { $0.errors[node] } }

  // MARK: Stopping

  var isStopped: Bool { hasStopped.load(ordering: .relaxed) }
  var isOver: Bool { unfinished.load(ordering: .acquiring) == 0 }

  /// Lets nobody begin from now on.
  func stop() {
    cancel()
    reserve.alarm.ring()
  }

  /// Lets nobody begin from now on; those that run have been cancelled from outside.
  func cancel() {
    hasStopped.store(true, ordering: .relaxed)
    queue.end()
  }

  // MARK: Ends of nodes

  func endedInResult(_ node: Int, disposal: Disposal?) {
    unsafe states[node] = .result
    if let disposal { held.withLock { $0[node] = disposal } }
  }

  /// Notes what the operation of a node is called that fails, for the error.
  @usableFromInline func failed(_ node: Int, as name: String) {
    failures.withLock { $0.called(node, name) }
  }

  func endedLate(_ node: Int, disposal: Disposal?) {
    disposal?()
    unsafe states[node] = .lateResult
    hasLosses.store(true, ordering: .relaxed)
  }

  func ended(_ node: Int, with error: any Error, wasCancelled: Bool) {
    if wasCancelled || error.meansCancellation {
      error.discardCarriedValues()
      lost(node, in: wasCancelled ? .cancelledWithGraph : .cancelledItself)
    } else {
      lost(node, in: .error, error)
    }
  }

  /// Notes the end of a run that was observed.
  @usableFromInline func ended(_ node: Int, in ending: Ending) {
    if let error = ending.error {
      lost(node, in: .error, error)
    } else if !ending.isCancelled {
      endedInResult(node, disposal: ending.disposal)
    } else if ending.hasLateValue {
      // It has been given up; the value still lies in its slot.
      endedLate(node, disposal: nil)
    } else {
      lost(node, in: ending.wasCancelled ? .cancelledWithGraph : .cancelledItself)
    }
  }

  private func lost(_ node: Int, in state: NodeState, _ error: (any Error)? = nil) {
    unsafe states[node] = state
    hasLosses.store(true, ordering: .relaxed)
    guard state.isOwnLoss else { return }
    failures.withLock { $0.lost(node, error) }
  }

  /// Stops the run if the end of a node is a reason to.
  ///
  /// - Returns: Whether it was, which the caller then brings to its group.
  func stop(behind node: Int) -> Bool {
    guard hasLosses.load(ordering: .relaxed), state(of: node).isOwnLoss else { return false }
    guard stopsAtFailure, !plan.isTolerated(node) else { return false }
    stop()
    return true
  }

  /// Lets those begin that waited for a node which has ended.
  ///
  /// - Parameter finished: Counts the nodes that have ended, to be told to ``finished(_:)``.
  /// - Returns: One of them, which is the caller's to run.
  func release(behind node: Int, finished: inout Int) -> Int? {
    var first: Int?
    var hasOthers = false
    finished += 1
    plan.forEachNeeding(node) { needing in
      guard countDown(needing) else { return }
      if !hasInputs(needing) {
        releaseWithout(needing, &finished)
      } else if first == nil {
        first = needing
      } else {
        queue.add(needing)
        hasOthers = true
      }
    }
    if hasOthers { queue.wakeOne() }
    return first
  }

  /// Lets those begin, or go without, that waited for a node which cannot begin.
  private func releaseWithout(_ node: Int, _ finished: inout Int) {
    var lost = [node]
    while let node = lost.popLast() {
      unsafe states[node] = .withoutInput
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

  /// - Returns: Whether a node has nothing to wait for any more.
  private func countDown(_ node: Int) -> Bool {
    // Nobody else counts down where there is only one left.
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
    // Those that it waited for have told of their ends: what they set before is to be seen.
    !hasLosses.load(ordering: .relaxed)
      || plan.inputs(of: node).allSatisfy { input in
        input.asksForOutcome || state(of: input.node) == .result
      }
  }

  // MARK: After the run

  /// Whether every node ended in a result, but for those whose outcome somebody asked for and those that
  /// could not begin because of them, and none that the graph gives is among these.
  var isComplete: Bool {
    missingOutputs.isEmpty
      && (0..<plan.count).allSatisfy { node in
        switch state(of: node) {
        case .result, .withoutInput: true
        case .notBegun: false
        case .lateResult, .error, .cancelledItself, .cancelledWithGraph:
          plan.isTolerated(node)
        }
      }
  }

  /// The nodes whose results are the graph's and that ended without one.
  var missingOutputs: [Int] {
    plan.outputs.filter { !$0.asksForOutcome && state(of: $0.node) != .result }.map(\.node)
  }

  /// Whether another node has begun that was given the result of a node, which is that one's then.
  func isTaken(_ node: Int) -> Bool {
    var isTaken = false
    plan.forEachNeeding(node) { needing in
      if state(of: needing) != .withoutInput, state(of: needing) != .notBegun { isTaken = true }
    }
    return isTaken
  }

  /// The nodes that ended without a result of their own accord, the first in time first.
  var causes: [Int] { failures.withLock { $0.nodes } }

  /// What is to be done with results that nobody will see, by node.
  var disposals: [Int: Disposal] { held.withLock { $0 } }
}
