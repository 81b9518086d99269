internal import Synchronization

/// The part of a scheduler that does not depend on the type of the source. It is itself the standby
/// worker of the caller's worker, so that a run of a few light children creates no further object.
///
/// A class of its own, because ending an object of a generic class looks up the types of its
/// properties.
class AnyScheduler: StandbyWorker, @unchecked Sendable {
  final let run: ScheduledRun
  /// The context of the children.
  final let context: OperationContext
  /// Whether a preferred executor runs the tasks. Then nothing depends on clocks or on other work
  /// of the process, so that the run is reproducible under a deterministic executor.
  final let isReproducible = Task.hasPreferredExecutor
  final let hint: WorkHint?
  /// The standby worker of a worker other than the caller's, unless it has been started.
  fileprivate final let spare = StandbyPlace<LaneStandby>()

  init(_ run: ScheduledRun, hint: WorkHint?, in context: OperationContext) {
    self.run = run
    self.hint = hint
    self.context = context
  }

  override var pullerOnStack: UInt64 { run.pullerOnStack(of: 0) }

  override nonisolated(nonsending) func help(isCounted: Bool) async throws {
    try await help(isCounted: isCounted, isOutermost: true)
  }

  fileprivate final nonisolated(nonsending) func help(
    isCounted: Bool, isOutermost: Bool
  ) async throws {
    guard let lane = run.takeLane() else {
      if isCounted { ExtraWorkers.release() }
      return
    }
    try await run.help(isOutermost: isOutermost) { [self] in
      try? await work(on: lane, isCounted: isCounted)
      run.branchEnded()
    }
  }

  /// Does the work of an extra worker.
  fileprivate nonisolated(nonsending) func work(on lane: Int, isCounted: Bool) async throws {
    preconditionFailure()
  }
}

/// The standby worker of a worker other than the caller's.
private final class LaneStandby: StandbyWorker, @unchecked Sendable {
  private let scheduler: AnyScheduler
  private let lane: Int

  init(of scheduler: AnyScheduler, behind lane: Int) {
    self.scheduler = scheduler
    self.lane = lane
  }

  override var pullerOnStack: UInt64 { scheduler.run.pullerOnStack(of: lane) }

  override var hasWorkForAnother: Bool { scheduler.hasWorkForAnother }

  override nonisolated(nonsending) func help(isCounted: Bool) async throws {
    scheduler.spare.remove(self)
    try await scheduler.help(isCounted: isCounted, isOutermost: false)
  }
}

/// Distributes the children of a composite over tasks and threads.
///
/// A **puller** is a task that takes children from the ``WorkSource`` and runs them one after
/// another. The caller starts the first puller as an immediate task, which runs on the caller's own
/// thread. When a child suspends, the caller gets its thread back and starts the next puller. So
/// there are about as many tasks as children in flight, and children that never suspend cost no task
/// of their own. **Extra workers** do the same on other processors, each with a lane of its own. A
/// ``StandbyWorker`` becomes an extra worker when a worker keeps its thread for long. Pullers beyond
/// the first few are grouped in **shards**, and deep nesting continues on a fresh stack.
@safe final class Scheduler<Source: WorkSource>: AnyScheduler, @unchecked Sendable {
  typealias Group = ScheduledRun.Group

  let source: Source

  init(_ source: Source, in context: OperationContext) {
    self.source = source
    let run = source.run
    let hint = run.laneCount > 1 ? source.hintedType.map(WorkHint.init) : nil
    super.init(run, hint: hint, in: context)
  }

  /// Runs the children until the run stops, and returns when all that began have ended.
  // Inlined, as are its callees: each additional asynchronous call takes a hundredth of a run of
  // two children.
  @inline(__always) nonisolated(nonsending) func runChildren() async {
    if context.isTooDeep { await leadOnFreshStack() } else { await lead() }
    // Children can be left only if a child has cancelled its own task.
    while source.mayHaveWork, !Task.isCancelled { await leadOnFreshStack() }
  }

  @inline(never) private nonisolated(nonsending) func leadOnFreshStack() async {
    let fresh = Scheduler(source, in: context.onFreshStack)
    await UnstructuredTasks.run { await fresh.lead() }
  }

  /// Runs the caller's worker, which starts the others.
  @inline(__always) private nonisolated(nonsending) func lead() async {
    run.begin()
    try? await withThrowingDiscardingTaskGroup { group in
      let hasExtraWorkers = wantsExtraWorkers && beginExtraWorkers(in: &group)
      await feed(lane: 0, into: &group, isOutermost: true, isLater: hasExtraWorkers)
      run.leaderBeginsNoMore()
    }
    await run.waitUntilOver()
  }

  // MARK: Extra workers

  /// Whether extra workers start only when they save time.
  ///
  /// False in a reproducible run, which must not depend on other runs. Also false in a race, where
  /// a contender that computes until it is cancelled must not keep the others from starting.
  private var isSparing: Bool { !isReproducible && run.goal != .firstResult }

  /// Whether extra workers count towards the process's limit.
  private var isCounting: Bool { isSparing && !Source.hasWaitingWorkers }

  /// Whether extra workers start before it is known how long the children of this run take.
  private var wantsExtraWorkers: Bool {
    run.laneCount > 1 && (source.isLong || hint?.isHeavy == true || !isSparing)
  }

  /// Starts as many extra workers as there is work for.
  ///
  /// - Returns: Whether it has started any.
  @inline(never) private func beginExtraWorkers(in group: inout Group) -> Bool {
    var hasBegun = false
    while source.hasWorkForHelper, !isCounting || ExtraWorkers.acquire() {
      guard let lane = run.takeLane() else {
        if isCounting { ExtraWorkers.release() }
        break
      }
      run.awaitFailure(in: &group)
      hasBegun = true
      run.branchBegan()
      group.addTask { [self] in
        defer { run.branchEnded() }
        try await workAsExtra(on: lane, isCounted: isCounting)
      }
    }
    return hasBegun
  }

  override fileprivate nonisolated(nonsending) func work(on lane: Int, isCounted: Bool) async throws
  {
    try await workAsExtra(on: lane, isCounted: isCounted)
  }

  private nonisolated(nonsending) func workAsExtra(on lane: Int, isCounted: Bool) async throws {
    try await withThrowingDiscardingTaskGroup { group in
      await feed(lane: lane, into: &group, isOutermost: false)
      if isCounted { ExtraWorkers.release() }
    }
  }

  // MARK: The standby workers

  override var hasWorkForAnother: Bool { source.hasWorkForAnother }

  /// Adds a standby worker for a worker, unless the run has one or needs none.
  private func addStandby(to group: inout Group, of lane: Int) -> StandbyWorker? {
    guard isSparing, source.needsStandby else { return nil }
    if lane == 0 {
      add(to: &group)
      return self
    }
    if isStandingBy || !spare.claim() { return nil }
    let standby = LaneStandby(of: self, behind: lane)
    standby.add(to: &group)
    spare.fill(with: standby)
    return standby
  }

  private func retire(_ standby: StandbyWorker) {
    if standby !== self, let standby = standby as? LaneStandby { spare.remove(standby) }
    standby.retire()
  }

  /// Starts a standby worker if there is one and the process has room for another worker.
  ///
  /// - Returns: Whether it has started one, or there is no work for one.
  func startStandby() -> Bool {
    guard source.hasWorkForHelper else { return true }
    guard isStandingBy || spare.isOccupied, !isCounting || ExtraWorkers.acquire() else {
      return false
    }
    if start(isCounted: isCounting) || spare.take()?.start(isCounted: isCounting) == true {
      return true
    }
    if isCounting { ExtraWorkers.release() }
    return false
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
    var slice = TimeSlice.endless
    var begun = 0
    var standby: StandbyWorker?
    var feeding: AsyncMutex?
    while await canBegin(in: &slice) {
      if begun == 0 {
        standby = addStandby(to: &group, of: lane)
        // Adding it takes longer than most first children.
        slice = TimeSlice(isReproducible: isReproducible)
      }
      if begun < Shard.direct {
        let pace = pace(isLater: isLater || begun > 0, in: slice)
        beginPuller(on: lane, in: &slice, at: pace, into: &group)
      } else {
        if isOutermost { run.awaitFailure(in: &group) }
        await beginShard(on: lane, in: slice, holding: &feeding, into: &group)
      }
      begun += 1
    }
    if let standby { retire(standby) }
  }

  /// Waits for work, and yields the thread before if the time slice is over.
  ///
  /// - Returns: Whether a puller can begin.
  @inline(__always) private nonisolated(nonsending) func canBegin(
    in slice: inout TimeSlice
  ) async -> Bool {
    while true {
      let readiness = await source.waitForWork()
      if readiness == .over || Task.isCancelled { return false }
      if readiness == .ready {
        if !slice.isOver { return true }
        await Task.yield()
      }
      slice = TimeSlice(isReproducible: isReproducible)
      if readiness == .readyAfterWait { return true }
    }
  }

  /// The pace of a puller that starts now. The clock is not read if the slice has just begun, or if
  /// the duration of the first child does not matter.
  ///
  /// - Parameter isLater: Whether other work has taken time since the slice began. Waking another
  ///   processor takes so long that the first child would look heavy, which would wake it again.
  private func pace(isLater: Bool, in slice: TimeSlice) -> SamplingInterval {
    !isLater || source.isLong
      ? SamplingInterval(from: slice.start) : SamplingInterval(isReproducible: isReproducible)
  }

  /// Starts a puller if a place is free. It runs on the current stack until a child suspends.
  ///
  /// - Parameter slice: Over if the puller has ended because others must run.
  // Not inlined: in an asynchronous function, the temporaries of the call would be allocated.
  @inline(never) private func beginPuller(
    on lane: Int, in slice: inout TimeSlice, at pace: SamplingInterval, into group: inout Group
  ) {
    guard run.places.take() != nil else { return }
    let number = run.pullerBegins(on: lane)
    group.addImmediateTask { [self, slice] in
      defer { leavePlace() }
      try await pull(
        Puller(
          lane: lane, number: number, slice: slice, pace: pace, sourceState: source.pullerState()))
    }
    if run.pullerReturned(to: lane) { slice = .over }
  }

  private func leavePlace() {
    run.places.leave()
    if Source.hasWaitingWorkers { source.wakeWorker() }
  }

  /// Starts a nested group, which starts pullers until it is full, and waits until it has.
  ///
  /// - Parameter feeding: The mutex that the nested groups of a worker hold while they start pullers
  ///   in place of the worker; created with the first of them that needs it.
  // Not inlined, because the frame of a worker must fit into the first slab of its task.
  @inline(never) private nonisolated(nonsending) func beginShard(
    on lane: Int, in slice: TimeSlice, holding feeding: inout AsyncMutex?, into group: inout Group
  ) async {
    guard Source.hasWaitingWorkers || isReproducible else {
      // Nothing suspends, so the nested group needs no mutex.
      return run.addShard(to: &group) { shard in
        var slice = slice
        var begun = 0
        while begun < Shard.size, await self.source.waitForWork() == .ready, !Task.isCancelled {
          if slice.isOver { break }
          let pace = self.pace(isLater: true, in: slice)
          self.beginPuller(on: lane, in: &slice, at: pace, into: &shard)
          begun += 1
        }
      }
    }
    let mutex = feeding ?? AsyncMutex()
    feeding = mutex
    run.addShard(to: &group) { shard in
      await mutex.acquireIgnoringCancellation()
      defer { mutex.release() }
      var slice = slice
      var begun = 0
      while begun < Shard.size, await self.canBegin(in: &slice) {
        let pace = self.pace(isLater: true, in: slice)
        self.beginPuller(on: lane, in: &slice, at: pace, into: &shard)
        begun += 1
      }
    }
    await mutex.waitUntilIdle()
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
