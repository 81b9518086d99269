internal import Synchronization
internal import ThreadSupport

/// The state of a run that its workers share: their lanes, the free places, the ends of the children
/// that the composite must know, whether the run has been stopped, and how the tasks of its groups
/// learn of that.
@safe @usableFromInline class ScheduledRun: @unchecked Sendable {
  typealias Group = ThrowingDiscardingTaskGroup<any Error>

  /// Whether the run stops early: at the first end without a result, never, or at the first result.
  @usableFromInline enum Goal: Sendable { case everyResult, everyEnd, firstResult }

  /// Ends a task so that its group cancels the others.
  struct Stop: Error {}

  /// A child that ended without a result.
  struct Loss: Sendable {
    let index: Int
    let state: ChildState
    /// Nil unless the child failed.
    let error: (any Error)?
    /// The name of the child; empty if its operation outlives the run and can be asked.
    var name = ""
  }

  final let goal: Goal
  /// The most workers.
  final let laneCount: Int
  /// The places for pullers. A puller runs one child at a time, so there are never more children in
  /// flight than places.
  final let places: Places
  private let helpers: Places
  // Raw memory, so that taking a child and recording its end retain nothing. Lanes are atomic. Only
  // the task that runs a child writes its state, and other tasks read it when the group of all
  // these tasks has ended, or after the child has counted down. Both are in one allocation, which
  // lives as long as this object.
  nonisolated(unsafe) final let lanes: UnsafeMutablePointer<Lane>
  private nonisolated(unsafe) let states: UnsafeMutablePointer<ChildState>
  private let recorded = Lock<[Loss]>([])
  private let held = Lock<[Int: Cleanup]>([:])
  private let hasHeld = Atomic(false)

  private let hasStopped = Atomic(false)
  private let failureSignal = FailureSignal()
  /// Whether a task of the outermost group waits for the failure signal.
  private let isFailureSignalAwaited = Atomic(false)

  private enum Leading: UInt8, AtomicRepresentable {
    case begins
    /// As `begins`, and the caller's worker is a branch of the failure signal.
    case isBranch
    case over
  }

  /// Whether the caller's worker may still start other tasks.
  private let leading = Atomic(Leading.begins)
  /// The worker that is in no group of the run, if there is one.
  private let detachedWorker = Lock<Task<Void, Never>?>(nil)
  private let hasDetachedWorker = Atomic(false)

  /// - Parameters:
  ///   - count: The number of children; nil if it is not known. Then their states are not kept here.
  ///   - limit: The most children in flight; `Int.max` for any number.
  ///   - isShared: Whether each lane gets a share of the children. Otherwise the first has all.
  init(count: Int?, limit: Int, goal: Goal, isShared: Bool = false) {
    self.goal = goal
    places = Places(limit)
    laneCount = min(count ?? .max, limit, Processors.count)
    helpers = Places(laneCount - 1)
    let count = count ?? 0
    let laneSize = laneCount * MemoryLayout<Lane>.stride
    let memory = UnsafeMutableRawPointer.allocate(
      byteCount: laneSize + count, alignment: MemoryLayout<Lane>.alignment)
    unsafe lanes = memory.bindMemory(to: Lane.self, capacity: laneCount)
    unsafe states = (memory + laneSize).bindMemory(to: ChildState.self, capacity: count)
    unsafe states.initialize(repeating: .notBegun, count: count)
    for lane in 0..<laneCount {
      let share = (count * lane / laneCount)..<(count * (lane + 1) / laneCount)
      let all = lane == 0 ? 0..<count : 0..<0
      unsafe (lanes + lane).initialize(to: Lane(isShared ? share : all))
    }
  }

  // Lanes and states need no deinitialization.
  deinit { unsafe UnsafeMutableRawPointer(lanes).deallocate() }

  // MARK: Workers

  /// Whether there may be another worker.
  final var isLaneFree: Bool { helpers.isFree }

  /// Takes a lane for another worker; nil if none is left.
  final func takeLane() -> Int? { helpers.take().map { laneCount - $0 } }

  final func pullerBegins(on lane: Int) -> UInt64 { unsafe lanes[lane].stack.pullerBegins() }

  /// - Returns: Whether the puller has ended because others must run.
  final func pullerReturned(to lane: Int) -> Bool { unsafe lanes[lane].stack.pullerReturned() }

  final func renumber(_ puller: UInt64, on lane: Int) -> UInt64? {
    unsafe lanes[lane].stack.renumber(puller)
  }

  /// - Returns: Whether the puller is on the stack of the lane, and must end now.
  final func endTurn(of puller: UInt64, on lane: Int) -> Bool {
    unsafe lanes[lane].stack.endTurn(of: puller)
  }

  final func pullerOnStack(of lane: Int) -> UInt64 { unsafe lanes[lane].stack.current }

  // MARK: Ends of children

  /// Records a result that came in time.
  @inline(__always) final func endedInResult(_ index: Int, cleanup: Cleanup?) {
    unsafe states[index] = .result
    if let cleanup { hold(cleanup, for: index) }
  }

  /// Records a result that came after the cancellation, and discards it.
  ///
  /// - Returns: Whether the run must stop. The caller then throws, so that its group is cancelled.
  final func endedLate(_ index: Int, cleanup: Cleanup?) -> Bool {
    cleanup?()
    return ended(index, in: .lateResult)
  }

  /// Records the error that a child threw.
  ///
  /// - Returns: Whether the run must stop. The caller then throws, so that its group is cancelled.
  final func ended(_ index: Int, with error: any Error, wasCancelled: Bool) -> Bool {
    let state = ChildState(endedBy: error, wasCancelled: wasCancelled)
    return ended(index, in: state, error: state == .error ? error : nil)
  }

  /// Records an end without a result.
  ///
  /// - Returns: Whether the run must stop. The caller then throws, so that its group is cancelled.
  @inline(never) final func ended(
    _ index: Int, in state: ChildState, error: (any Error)? = nil
  ) -> Bool {
    note(state, of: index)
    if state.isOwnLoss {
      recordLoss(Loss(index: index, state: state, error: error))
    }
    return stopsAfter(index, in: state)
  }

  /// Stops the run after an end without a result, if its goal requires that.
  func stopsAfter(_ index: Int, in state: ChildState) -> Bool {
    if goal == .everyResult { stop() }
    return goal == .everyResult
  }

  @inline(__always) final func note(_ state: ChildState, of index: Int) {
    unsafe states[index] = state
  }

  @usableFromInline final func state(of index: Int) -> ChildState { unsafe states[index] }

  /// Keeps the closure that discards a result, in case that no caller receives it.
  final func hold(_ cleanup: @escaping Cleanup, for index: Int) {
    hasHeld.store(true, ordering: .relaxed)
    held.withLock { $0[index] = cleanup }
  }

  /// Records an end without a result, for the error of the composite.
  func recordLoss(_ loss: Loss) { recorded.withLock { $0.append(loss) } }

  /// The recorded ends, in the order of time.
  final var losses: [Loss] { recorded.withLock { $0 } }

  /// The children that failed or cancelled themselves, in the order of time.
  final var causes: [Int] { losses.filter(\.state.isOwnLoss).map(\.index) }

  /// The errors of the children that failed, by index.
  @usableFromInline final var errors: [Int: any Error] {
    var errors: [Int: any Error] = [:]
    for loss in losses { errors[loss.index] = loss.error }
    return errors
  }

  /// The closures that discard results, by index, for results that no caller receives.
  final var cleanups: [Int: Cleanup] { held.withLock { $0 } }

  /// Whether some of the results must be discarded if they are not returned.
  @usableFromInline final var holdsCleanups: Bool { hasHeld.load(ordering: .relaxed) }

  // MARK: Stopping

  @inline(__always) final var isStopped: Bool { hasStopped.load(ordering: .relaxed) }

  /// Prevents further children from starting.
  final func startNoMore() { hasStopped.store(true, ordering: .relaxed) }

  /// Prevents further children from starting, and cancels those that run.
  ///
  /// Not inlined, because it is rare: its temporaries would enlarge the frame of every puller beyond
  /// the first slab of its task.
  @inline(never) final func stop() {
    startNoMore()
    failureSignal.raise()
    hasStoppedEarly()
  }

  /// Called when ``stop()`` has been called. For subclasses with tasks that are in no group.
  func hasStoppedEarly() {}

  /// Adds a task that waits for a failure to the outermost group, unless there is one.
  final func awaitFailure(in group: inout Group) {
    guard claimFailureSignal() else { return }
    group.addImmediateTask(executorPreference: InlineExecutor.shared) { [self] in
      await failureSignal.wait()
      if isStopped { throw Stop() }
    }
  }

  /// - Returns: Whether the calling task must wait for the failure signal; true once for each
  ///   outermost group. The wait does not end while the caller's worker may start other tasks.
  private func claimFailureSignal() -> Bool {
    if isFailureSignalAwaited.exchange(true, ordering: .acquiringAndReleasing) { return false }
    waitForLeader()
    return true
  }

  // MARK: Groups that can fail beside the outermost one

  // Not a method that adds the task of a worker: its closure would take three more allocations.

  /// Registers a task with a group of its own, which can fail. ``branchEnded()`` must follow.
  final func branchBegan() { failureSignal.branchBegan() }

  final func branchEnded() { failureSignal.branchEnded() }

  /// Adds a nested group of pullers. It begins on the current stack.
  final func addShard(
    to group: inout Group,
    _ begin: nonisolated(nonsending) @escaping @Sendable (inout Group) async -> Void
  ) {
    failureSignal.branchBegan()
    group.addImmediateTask { [self] in
      defer { failureSignal.branchEnded() }
      try await withThrowingDiscardingTaskGroup { shard in await begin(&shard) }
    }
  }

  // MARK: The caller's worker

  /// Prepares for a new outermost group.
  final func begin() {
    if leading.load(ordering: .relaxed) == .begins { return }
    leading.store(.begins, ordering: .relaxed)
    isFailureSignalAwaited.store(false, ordering: .relaxed)
  }

  /// Records that the caller's worker starts no further tasks.
  final func leaderBeginsNoMore() {
    if leading.exchange(.over, ordering: .acquiringAndReleasing) == .isBranch {
      failureSignal.branchEnded()
    }
  }

  /// Makes the caller's worker a branch of the failure signal, as long as it may start other tasks.
  private func waitForLeader() {
    failureSignal.branchBegan()
    let isLeading = leading.compareExchange(
      expected: .begins, desired: .isBranch, ordering: .acquiringAndReleasing
    ).exchanged
    if !isLeading { failureSignal.branchEnded() }
  }

  /// Waits for the worker that may outlive the outermost group. Call this after that group has
  /// ended.
  final nonisolated(nonsending) func waitUntilOver() async {
    guard hasDetachedWorker.load(ordering: .acquiring) else { return }
    await detachedWorker.withLock { $0.take() }?.value
  }

  // MARK: The standby worker's task

  /// Does the work of a started standby worker in a separate task, and waits for that or for the
  /// failure signal.
  ///
  /// A nested group could not fail before all of its tasks have ended, and the standby worker's
  /// task is the only task of the outermost group that no child occupies. So the work runs in an
  /// unstructured task with the same priority and task-local values. The standby worker cancels
  /// that task, and passes the failure to the group.
  ///
  /// - Parameters:
  ///   - isOutermost: Whether the standby worker is in the outermost group.
  ///   - work: Does the work, and then calls ``branchEnded()``.
  /// - Throws: If the run has been stopped, so that the group cancels the other tasks.
  final nonisolated(nonsending) func help(
    isOutermost: Bool, doing work: @escaping @Sendable () async -> Void
  ) async throws {
    let awaitsFailureSignal = isOutermost && claimFailureSignal()
    failureSignal.branchBegan()
    let worker = LinkedTask<Void, Never>()
    await withTaskCancellationHandler {
      await withTaskPriorityEscalationHandler {
        let task = worker.start(on: nil, work)
        if awaitsFailureSignal {
          detachedWorker.withLock { $0 = task }
          hasDetachedWorker.store(true, ordering: .releasing)
        }
        if awaitsFailureSignal { await failureSignal.wait() } else { await task.value }
      } onPriorityEscalated: { _, priority in
        worker.escalatePriority(to: priority)
      }
    } onCancel: {
      worker.cancel()
    }
    guard isStopped else { return }
    CancellationReports.deferring { worker.cancel() }
    throw Stop()
  }
}
