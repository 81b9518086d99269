internal import Synchronization

/// The scheduler of the children of a parallel composite.
///
/// A **puller** is a task that takes children and runs them one after another. The caller starts
/// the first puller as an immediate task, which runs on the caller's own thread. When a child
/// suspends, the caller gets its thread back and starts the next puller. So there are about as many
/// tasks as children in flight, and children that never suspend cost no task of their own. **Extra
/// workers** do the same on other processors, each with a lane of its own. A ``StandbyWorker``
/// becomes an extra worker when a worker keeps its thread for long. Pullers beyond the first few
/// are grouped in **shards**, and deep nesting continues on a fresh stack.
///
/// The scheduler is itself the standby worker of the caller's worker, so that a run of a few light
/// children creates no further object.
@safe final class ParallelScheduler: StandbyWorker, @unchecked Sendable {
  typealias Group = SharedRun.Group
  typealias Stop = SharedRun.Stop

  let list: ChildList
  let runState: ParallelRunState
  /// The context of the children.
  let context: OperationContext
  let isObserved: Bool
  /// Whether a preferred executor runs the tasks. Then nothing depends on clocks or on other work
  /// of the process, so that the run is reproducible under a deterministic executor.
  let isReproducible: Bool
  let hint: WorkHint
  /// The standby worker of a worker other than the caller's, unless it has been started.
  fileprivate let spare = StandbyPlace<LaneStandby>()

  init(_ list: ChildList, runState: ParallelRunState, in context: OperationContext) {
    self.list = list
    self.runState = runState
    self.context = context
    isObserved = context.scope?.isObserved == true
    isReproducible = Task.hasPreferredExecutor
    hint = runState.laneCount > 1 ? WorkHint(for: list.firstType) : .unknown
  }

  /// Runs the children until the run stops, and returns when all that began have ended.
  // Inlined, as are its callees: each additional asynchronous call takes a hundredth of a run of
  // two children.
  @inline(__always) nonisolated(nonsending) func run() async {
    if isObserved, runState.goal != .firstResult {
      context.expectChildren(weighing: list.weight(of: runState.count))
    }
    if context.isTooDeep { await leadOnFreshStack() } else { await lead() }
    // Children can be left only if a child has cancelled its own task.
    while runState.goesOn, !Task.isCancelled { await leadOnFreshStack() }
  }

  private nonisolated(nonsending) func leadOnFreshStack() async {
    let fresh = ParallelScheduler(list, runState: runState, in: context.onFreshStack)
    await UnstructuredTasks.run { await fresh.lead() }
  }

  /// Runs the caller's worker, which starts the others.
  @inline(__always) private nonisolated(nonsending) func lead() async {
    runState.begin()
    try? await withThrowingDiscardingTaskGroup { group in
      let hasExtraWorkers = wantsExtraWorkers && beginExtraWorkers(in: &group)
      await feed(lane: 0, into: &group, isOutermost: true, isLater: hasExtraWorkers)
      runState.leaderBeginsNoMore()
    }
    await runState.waitUntilOver()
  }

  // MARK: Extra workers

  /// Whether extra workers start only when they save time, and count toward the process's limit.
  ///
  /// False in a reproducible run, which must not depend on other runs. Also false in a race, where
  /// a contender that computes until it is cancelled must not keep the others from starting.
  private var isCounting: Bool { !isReproducible && runState.goal != .firstResult }

  /// Whether extra workers start before it is known how long the children of this run take.
  private var wantsExtraWorkers: Bool {
    runState.laneCount > 1 && (isLong || hint.isHeavy || !isCounting)
  }

  /// Starts as many extra workers as there is work for.
  ///
  /// - Returns: Whether it has started any.
  @inline(never) private func beginExtraWorkers(in group: inout Group) -> Bool {
    var hasBegun = false
    while runState.hasWorkForHelper, !isCounting || ExtraWorkers.acquire() {
      guard let lane = runState.takeLane() else {
        if isCounting { ExtraWorkers.release() }
        break
      }
      runState.awaitFailure(in: &group)
      hasBegun = true
      runState.branchBegan()
      group.addTask { [self] in
        defer { runState.branchEnded() }
        try await work(on: lane, isCounted: isCounting)
      }
    }
    return hasBegun
  }

  private nonisolated(nonsending) func work(on lane: Int, isCounted: Bool) async throws {
    try await withThrowingDiscardingTaskGroup { group in
      let spare = isCounting && runState.hasWorkForHelper ? addSpare(to: &group, behind: lane) : nil
      await feed(lane: lane, into: &group, isOutermost: false)
      if let spare { retire(spare) }
      if isCounted { ExtraWorkers.release() }
    }
  }

  // MARK: The standby workers

  override var pullerOnStack: UInt64 { runState.pullerOnStack(of: 0) }

  override var hasWorkForAnother: Bool { runState.hasWorkForAnother }

  override nonisolated(nonsending) func help(isCounted: Bool) async throws {
    try await help(isCounted: isCounted, isOutermost: true)
  }

  fileprivate nonisolated(nonsending) func help(isCounted: Bool, isOutermost: Bool) async throws {
    guard let lane = runState.takeLane() else {
      if isCounted { ExtraWorkers.release() }
      return
    }
    try await runState.help(isOutermost: isOutermost) { [self] in
      try? await work(on: lane, isCounted: isCounted)
      runState.branchEnded()
    }
  }

  /// Adds a standby worker for a worker other than the caller's, unless there is one.
  private func addSpare(to group: inout Group, behind lane: Int) -> LaneStandby? {
    if isStandingBy || !self.spare.claim() { return nil }
    let spare = LaneStandby(of: self, behind: lane)
    spare.add(to: &group)
    self.spare.fill(with: spare)
    return spare
  }

  private func retire(_ spare: LaneStandby) {
    self.spare.remove(spare)
    spare.retire()
  }

  /// Starts a standby worker if there is one and the process has room for another worker.
  func startStandby() {
    guard runState.hasWorkForHelper, isStandingBy || spare.isOccupied, ExtraWorkers.acquire() else {
      return
    }
    if start(isCounted: true) { return }
    if spare.take()?.start(isCounted: true) != true { ExtraWorkers.release() }
  }

  // MARK: Pullers

  /// Starts pullers on the current thread until no child is left or no place is free.
  ///
  /// - Parameters:
  ///   - isOutermost: Whether the group is the outermost one of the run.
  ///   - isLater: Whether other work has preceded this call.
  @inline(__always) private nonisolated(nonsending) func feed(
    lane: Int, into group: inout Group, isOutermost: Bool, isLater: Bool = true
  ) async {
    var slice = TimeSlice(isReproducible: isReproducible)
    var begun = 0
    let hasStandby = isOutermost && isCounting && runState.hasWorkForHelper && isUnused
    if hasStandby { add(to: &group) }
    while hasRoom {
      if begun > 0, slice.isOver {
        await Task.yield()
        slice = TimeSlice(isReproducible: isReproducible)
        continue
      }
      if begun < Shard.direct {
        let pace = pace(isLater: isLater || begun > 0, in: slice)
        beginPuller(on: lane, in: slice, at: pace, into: &group)
      } else {
        if isOutermost { runState.awaitFailure(in: &group) }
        beginShard(on: lane, in: slice, into: &group)
      }
      begun += 1
    }
    if hasStandby { retire() }
  }

  /// Whether another puller can start.
  private var hasRoom: Bool { runState.goesOn && runState.places.isFree && !Task.isCancelled }

  /// The pace of a puller that starts now. The clock is not read if the slice has just begun, or if
  /// the duration of the first child does not matter.
  ///
  /// - Parameter isLater: Whether other work has taken time since the slice began. Waking another
  ///   processor takes so long that the first child would look heavy, which would wake it again.
  private func pace(isLater: Bool, in slice: TimeSlice) -> SamplingInterval {
    !isLater || isLong
      ? SamplingInterval(from: slice.start) : SamplingInterval(isReproducible: isReproducible)
  }

  /// Starts a puller if a place is free. It runs on the current stack until a child suspends.
  private func beginPuller(
    on lane: Int, in slice: TimeSlice, at pace: SamplingInterval, into group: inout Group
  ) {
    guard runState.places.take() != nil else { return }
    let number = runState.pullerBegins(on: lane)
    group.addImmediateTask { [self] in
      defer { runState.places.leave() }
      let puller = Puller(number, on: lane, in: slice, at: pace)
      if isObserved { try await pullObserved(puller) } else { try await pull(puller) }
    }
    runState.pullerReturned(to: lane)
  }

  /// Starts a nested group of pullers.
  private func beginShard(on lane: Int, in slice: TimeSlice, into group: inout Group) {
    runState.addShard(to: &group) { shard in
      var begun = 0
      while begun < Shard.size, self.hasRoom {
        let pace = self.pace(isLater: true, in: slice)
        self.beginPuller(on: lane, in: slice, at: pace, into: &shard)
        begun += 1
        if slice.isOver { break }
      }
    }
  }

  /// Runs children one after another.
  ///
  /// Inlined, because another frame would not fit into the first kilobyte of the task's memory.
  @inline(__always) nonisolated(nonsending) func pull(_ puller: consuming Puller) async throws {
    // An unretained reference, to check for cancellation. It is valid, because this task runs here.
    let task = unsafe UnsafeCurrentTask.own
    while puller.stage == .pulling {
      do {
        if isObserved {
          try await unsafe runObservedChildren(of: &puller, in: task)
        } else {
          try await unsafe runChildren(of: &puller, in: task)
        }
      } catch {
        unsafe childThrew(error, &puller, in: task)
      }
      if puller.stage == .telling { await tellEndBehindCancellation(of: &puller) }
      if puller.stage == .yielding { await letOthersRun(&puller) }
    }
    if puller.stage == .stopping { throw Stop() }
  }

  /// Runs the children that a puller takes, until it takes no more or a child throws.
  private nonisolated(nonsending) func runChildren(
    of puller: inout Puller, in task: UnsafeCurrentTask
  ) async throws {
    switch list.children {
    case .uniform(let type, _, _):
      try await type.performListed(in: context) { cleanup in
        guard let index = unsafe next(&puller, after: cleanup, in: task) else { return nil }
        return list.listed(at: index)
      }
    case .mixed(let place):
      var child = unsafe next(&puller, after: nil, in: task)
      while let index = child {
        let slot = list.slot(at: index)
        let cleanup = try await unsafe place[index].perform(into: slot, in: context)
        child = unsafe next(&puller, after: cleanup, in: task)
      }
    }
  }
}

extension ParallelRunState {
  /// Runs the children and returns when all that began have ended.
  @usableFromInline nonisolated(nonsending) func run(
    _ list: ChildList, in context: OperationContext
  ) async {
    // Without children there are no lanes.
    if count > 0 { await ParallelScheduler(list, runState: self, in: context.oneDeeper).run() }
  }
}

extension ParallelScheduler {
  /// Whether an extra worker saves time however short the children are.
  var isLong: Bool { runState.count >= ParallelRunState.longCount }
}

/// The standby worker of a worker other than the caller's.
private final class LaneStandby: StandbyWorker, @unchecked Sendable {
  private let scheduler: ParallelScheduler
  private let lane: Int

  init(of scheduler: ParallelScheduler, behind lane: Int) {
    self.scheduler = scheduler
    self.lane = lane
  }

  override var pullerOnStack: UInt64 { scheduler.runState.pullerOnStack(of: lane) }

  override var hasWorkForAnother: Bool { scheduler.runState.hasWorkForAnother }

  override nonisolated(nonsending) func help(isCounted: Bool) async throws {
    scheduler.spare.remove(self)
    try await scheduler.help(isCounted: isCounted, isOutermost: false)
  }
}

/// The distribution of the pullers of a run over task groups.
///
/// Removing a task from a task group takes time in proportion to the others in it (Swift 6.3.1). So
/// pullers beyond the first few are in nested groups.
enum Shard {
  /// The most pullers in a nested group.
  static var size: Int { 128 }
  /// The most pullers that a worker's own group holds directly.
  static var direct: Int { 16 }
}
