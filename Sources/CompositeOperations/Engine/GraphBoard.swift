internal import Synchronization

/// What the pullers of one run of a graph share: the results, how every node ended, and who is ready.
@safe final class GraphBoard: Sendable {
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
  }

  /// The nodes that ended without a result of their own accord.
  struct Failures: Sendable {
    /// The first in time first.
    var nodes: [Int] = []
    var errors: [Int: any Error] = [:]
  }

  let plan: GraphPlan
  let alarm = Alarm()
  private let stopsAtFailure: Bool
  private let unfinished: Atomic<Int>
  private let hasStopped = Atomic(false)
  private let queue: Lock<ReadyQueue>
  private let failures = Lock(Failures())
  private let held = Lock<[Int: Disposal]>([:])

  // Raw memory, so that running a node counts no reference. A slot and the state of a node are written
  // by the one task that runs the node, before it counts down what those wait for that need it, and
  // read by those when their count is zero, or by others when the group of all tasks is over. Counts
  // are atomic.
  private nonisolated(unsafe) let slots: UnsafeMutableRawPointer
  private nonisolated(unsafe) let states: UnsafeMutablePointer<NodeState>
  private nonisolated(unsafe) let waitsFor: UnsafeMutablePointer<Atomic<Int32>>

  init(_ plan: GraphPlan, limit: Int, stopsAtFailure: Bool) {
    self.plan = plan
    self.stopsAtFailure = stopsAtFailure
    let count = plan.count
    unfinished = Atomic(count)
    unsafe slots = .allocate(byteCount: plan.size, alignment: plan.alignment)
    unsafe states = .allocate(capacity: count)
    unsafe states.initialize(repeating: .notBegun, count: count)
    unsafe waitsFor = .allocate(capacity: count)
    var ready: [Int32] = []
    for node in 0..<count {
      let needed = plan.inputs(of: node).count
      unsafe (waitsFor + node).initialize(to: Atomic(Int32(needed)))
      if needed == 0 { ready.append(Int32(node)) }
    }
    queue = Lock(ReadyQueue(ready, places: limit, isOver: count == 0))
  }

  deinit {
    for node in 0..<plan.count where hasValue(node) { plan.nodes[node].work.drop(slot(of: node)) }
    unsafe slots.deallocate()
    unsafe states.deallocate()
    unsafe waitsFor.deinitialize(count: plan.count)
    unsafe waitsFor.deallocate()
  }

  func slot(of node: Int) -> ResultSlot { unsafe ResultSlot(at: slots + plan.nodes[node].offset) }

  func state(of node: Int) -> NodeState { unsafe states[node] }

  private func hasValue(_ node: Int) -> Bool {
    unsafe states[node] == .result || states[node] == .lateResult
  }

  /// How a node ended that has ended.
  ///
  /// - Parameter value: Reads what its result is for the one who asks.
  func outcome<Value>(of node: Int, value: () -> Value) -> Outcome<Value> {
    switch state(of: node) {
    case .result: .result(value())
    case .error: error(of: node).map(Outcome.error) ?? .cancelled
    case .notBegun, .lateResult, .cancelledItself, .cancelledWithGraph, .withoutInput: .cancelled
    }
  }

  /// The error that a node ended in.
  func error(of node: Int) -> (any Error)? { failures.withLock { $0.errors[node] } }

  // MARK: Who is ready

  var isStopped: Bool { hasStopped.load(ordering: .relaxed) }
  var isOver: Bool { unfinished.load(ordering: .acquiring) == 0 }
  var hasReady: Bool { !isStopped && queue.withLock { $0.hasReady } }

  /// A node that is ready, with a place for it, which is the caller's to leave.
  func takeWithPlace() -> Int? { queue.withLock { $0.takeWithPlace() } }

  /// Another node for somebody who has a place; if there is none, the place is left.
  func takeOrLeave() -> Int? { queue.withLock { $0.takeOrLeave() } }

  /// Gives back a node that was taken, with its place.
  func giveBack(_ node: Int) { queue.withLock { $0.gaveBack(node) }?.resume() }

  /// Leaves a place.
  func leave() { queue.withLock { $0.left() }?.resume() }

  /// Wakes somebody who waits, if a node is ready for whom there is a place.
  func wakeOne() { queue.withLock { $0.wakeOne() }?.resume() }

  /// Waits until a node is ready and there is a place for it, or until no node will be.
  ///
  /// - Returns: Whether there may be a node.
  nonisolated(nonsending) func waitForReady() async -> Bool {
    await withCheckedContinuation { waiter in
      queue.withLock { $0.waited(waiter) }?.resume()
    }
    return queue.withLock { !$0.isOver }
  }

  /// Lets nobody begin from now on.
  func stop() {
    cancel()
    alarm.ring()
  }

  /// Lets nobody begin from now on; those that run have been cancelled from outside.
  func cancel() {
    hasStopped.store(true, ordering: .relaxed)
    for waiter in queue.withLock({ $0.ended() }) { waiter.resume() }
  }

  // MARK: Ends of nodes

  func endedInResult(_ node: Int, disposal: Disposal?) {
    unsafe states[node] = .result
    if let disposal { held.withLock { $0[node] = disposal } }
  }

  func endedLate(_ node: Int, disposal: Disposal?) {
    disposal?()
    unsafe states[node] = .lateResult
  }

  /// - Returns: Whether the run is to stop, which the caller then brings to its group.
  func ended(_ node: Int, with error: any Error, wasCancelled: Bool) -> Bool {
    if wasCancelled || error.meansCancellation {
      error.discardCarriedValues()
      return ended(node, in: wasCancelled ? .cancelledWithGraph : .cancelledItself)
    }
    return ended(node, in: .error, error)
  }

  /// - Returns: Whether the run is to stop, which the caller then brings to its group.
  func ended(_ node: Int, in state: NodeState, _ error: (any Error)? = nil) -> Bool {
    unsafe states[node] = state
    guard state == .error || state == .cancelledItself else { return false }
    failures.withLock { failures in
      failures.nodes.append(node)
      failures.errors[node] = error
    }
    guard stopsAtFailure, !plan.nodes[node].isTolerated else { return false }
    stop()
    return true
  }

  /// Lets those begin that waited for a node which has ended.
  ///
  /// - Returns: One of them, which is the caller's to run.
  func release(behind node: Int) -> Int? {
    var first: Int?
    var others: [Int32] = []
    var ended = [node]
    var finished = 0
    while let node = ended.popLast() {
      finished += 1
      for needing in plan.needing(node) {
        let needing = Int(needing)
        let left = unsafe waitsFor[needing].wrappingSubtract(1, ordering: .acquiringAndReleasing)
        guard left.newValue == 0 else { continue }
        if !hasInputs(needing) {
          unsafe states[needing] = .withoutInput
          ended.append(needing)
        } else if first == nil {
          first = needing
        } else {
          others.append(Int32(needing))
        }
      }
    }
    if !others.isEmpty { queue.withLock { $0.released(others) }?.resume() }
    if unfinished.wrappingSubtract(finished, ordering: .acquiringAndReleasing).newValue == 0 {
      for waiter in queue.withLock({ $0.ended() }) { waiter.resume() }
    }
    return first
  }

  private func hasInputs(_ node: Int) -> Bool {
    plan.inputs(of: node).allSatisfy { input in
      input.asksForOutcome || state(of: input.node) == .result
    }
  }

  // MARK: After the run

  /// Whether every node ended in a result, but for those whose outcome somebody asked for and those that
  /// could not begin because of them.
  var isComplete: Bool {
    (0..<plan.count).allSatisfy { node in
      switch state(of: node) {
      case .result, .withoutInput: true
      case .notBegun: false
      case .lateResult, .error, .cancelledItself, .cancelledWithGraph:
        plan.nodes[node].isTolerated
      }
    }
  }

  /// The nodes that ended without a result of their own accord, the first in time first.
  var causes: [Int] { failures.withLock { $0.nodes } }

  /// What is to be done with results that nobody will see, by node.
  var disposals: [Int: Disposal] { held.withLock { $0 } }
}
