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
/// The crew is itself the standby worker of the caller's worker, so that a run of a few light
/// children creates no further object.
@safe final class Crew: StandbyWorker, @unchecked Sendable {
  typealias Group = WorkerReserve.Group
  typealias Stop = WorkerReserve.Stop

  let list: ChildList
  let board: ParallelBoard
  /// The context of the children.
  let context: OperationContext
  let isObserved: Bool
  /// Whether a preferred executor runs the tasks. Then nothing depends on clocks or on other work
  /// of the process, so that the run is reproducible under a deterministic executor.
  let isReproducible: Bool
  let hint: WorkHint
  /// The standby worker of a worker other than the caller's, unless it has been started.
  fileprivate let spare = StandbyPlace<LaneStandby>()

  init(_ list: ChildList, board: ParallelBoard, in context: OperationContext) {
    self.list = list
    self.board = board
    self.context = context
    isObserved = context.scope?.isObserved == true
    isReproducible = Task.hasPreferredExecutor
    hint = board.laneCount > 1 ? WorkHint(for: list.firstType) : .unknown
  }

  /// Runs the children until the run stops, and returns when all that began have ended.
  // Inlined, as are its callees: each additional asynchronous call takes a hundredth of a run of
  // two children.
  @inline(__always) nonisolated(nonsending) func run() async {
    if isObserved, board.goal != .firstResult {
      context.expectChildren(weighing: list.weight(of: board.count))
    }
    if context.isTooDeep { await leadOnFreshStack() } else { await lead() }
    // Children can be left only if a child has cancelled its own task.
    while board.goesOn, !Task.isCancelled { await leadOnFreshStack() }
  }

  private nonisolated(nonsending) func leadOnFreshStack() async {
    let fresh = Crew(list, board: board, in: context.onFreshStack)
    await UnstructuredTasks.run { await fresh.lead() }
  }

  /// Runs the caller's worker, which starts the others.
  @inline(__always) private nonisolated(nonsending) func lead() async {
    board.reserve.begin()
    try? await withThrowingDiscardingTaskGroup { group in
      let hasExtraWorkers = wantsExtraWorkers && beginExtraWorkers(in: &group)
      await feed(lane: 0, into: &group, isOutermost: true, isLater: hasExtraWorkers)
      board.reserve.leaderBeginsNoMore()
    }
    await board.reserve.waitUntilOver()
  }

  /// Adds a task that waits for a failure to the outermost group, unless there is one.
  private func attendAlarm(in group: inout Group) {
    guard board.reserve.claimAlarm() else { return }
    group.addImmediateTask(executorPreference: InlineExecutor.shared) { [self] in
      await board.reserve.alarm.wait()
      if board.isStopped { throw Stop() }
    }
  }

  // MARK: Extra workers

  /// Whether extra workers start only when they save time, and count toward the process's limit.
  ///
  /// False in a reproducible run, which must not depend on other runs. Also false in a race, where
  /// a contender that computes until it is cancelled must not keep the others from starting.
  private var isCounting: Bool { !isReproducible && board.goal != .firstResult }

  /// Whether extra workers start before it is known how long the children of this run take.
  private var wantsExtraWorkers: Bool {
    board.laneCount > 1 && (isLong || hint.isHeavy || !isCounting)
  }

  /// Starts as many extra workers as there is work for.
  ///
  /// - Returns: Whether it has started any.
  @inline(never) private func beginExtraWorkers(in group: inout Group) -> Bool {
    var hasBegun = false
    while board.hasWorkForHelper, !isCounting || ExtraWorkers.acquire() {
      guard let lane = board.takeLane() else {
        if isCounting { ExtraWorkers.release() }
        break
      }
      attendAlarm(in: &group)
      hasBegun = true
      board.reserve.alarm.branchBegan()
      group.addTask { [self] in
        defer { board.reserve.alarm.branchEnded() }
        try await work(on: lane, isCounted: isCounting)
      }
    }
    return hasBegun
  }

  private nonisolated(nonsending) func work(on lane: Int, isCounted: Bool) async throws {
    try await withThrowingDiscardingTaskGroup { group in
      let spare = isCounting && board.hasWorkForHelper ? addSpare(to: &group, behind: lane) : nil
      await feed(lane: lane, into: &group, isOutermost: false)
      if let spare { retire(spare) }
      if isCounted { ExtraWorkers.release() }
    }
  }

  // MARK: The standby workers

  override var pullerOnStack: UInt64 { board.pullerOnStack(of: 0) }

  override var hasWorkForAnother: Bool { board.hasWorkForAnother }

  override nonisolated(nonsending) func help(isCounted: Bool) async throws {
    try await help(isCounted: isCounted, isOutermost: true)
  }

  fileprivate nonisolated(nonsending) func help(isCounted: Bool, isOutermost: Bool) async throws {
    guard let lane = board.takeLane() else {
      if isCounted { ExtraWorkers.release() }
      return
    }
    await board.reserve.work(
      isOutermost: isOutermost, isStopped: { board.isStopped },
      doing: { [self] in
        try? await work(on: lane, isCounted: isCounted)
        board.reserve.alarm.branchEnded()
      })
    if board.isStopped { throw Stop() }
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
    guard board.hasWorkForHelper, isStandingBy || spare.isOccupied, ExtraWorkers.acquire() else {
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
    var slice = Slice(isReproducible: isReproducible)
    var begun = 0
    let hasStandby = isOutermost && isCounting && board.hasWorkForHelper && isUnused
    if hasStandby { add(to: &group) }
    while board.goesOn, board.hasPlace, !Task.isCancelled {
      if begun > 0, slice.isOver {
        await Task.yield()
        slice = Slice(isReproducible: isReproducible)
        continue
      }
      if begun < Shard.direct {
        let pace = pace(isLater: isLater || begun > 0, in: slice)
        beginPuller(on: lane, in: slice, at: pace, into: &group)
      } else {
        if isOutermost { attendAlarm(in: &group) }
        beginShard(on: lane, in: slice, into: &group)
      }
      begun += 1
    }
    if hasStandby { retire() }
  }

  /// The pace of a puller that starts now. The clock is not read if the slice has just begun, or if
  /// the duration of the first child does not matter.
  ///
  /// - Parameter isLater: Whether other work has taken time since the slice began. Waking another
  ///   processor takes so long that the first child would look heavy, which would wake it again.
  private func pace(isLater: Bool, in slice: Slice) -> Pace {
    !isLater || isLong ? Pace(from: slice.start) : Pace(isReproducible: isReproducible)
  }

  /// Starts a puller if a place is free. It runs on the current stack until a child suspends.
  private func beginPuller(
    on lane: Int, in slice: Slice, at pace: Pace, into group: inout Group
  ) {
    guard board.takePlace() else { return }
    let number = board.pullerBegins(on: lane)
    group.addImmediateTask { [self] in
      defer { board.leavePlace() }
      let puller = Puller(number, on: lane, in: slice, at: pace)
      if isObserved { try await pullObserved(puller) } else { try await pull(puller) }
    }
    board.pullerReturned(to: lane)
  }

  /// Starts a nested group of pullers.
  private func beginShard(on lane: Int, in slice: Slice, into group: inout Group) {
    board.reserve.alarm.branchBegan()
    group.addImmediateTask { [self] in
      defer { board.reserve.alarm.branchEnded() }
      try await withThrowingDiscardingTaskGroup { shard in
        var begun = 0
        while begun < Shard.size, board.goesOn, board.hasPlace, !Task.isCancelled {
          let pace = pace(isLater: true, in: slice)
          beginPuller(on: lane, in: slice, at: pace, into: &shard)
          begun += 1
          if slice.isOver { break }
        }
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
      try await type.performListed(in: context) { disposal in
        guard let index = unsafe next(&puller, after: disposal, in: task) else { return nil }
        return list.listed(at: index)
      }
    case .mixed(let place):
      var child = unsafe next(&puller, after: nil, in: task)
      while let index = child {
        let slot = list.slot(at: index)
        let disposal = try await unsafe place[index].perform(into: slot, in: context)
        child = unsafe next(&puller, after: disposal, in: task)
      }
    }
  }
}

extension ParallelBoard {
  /// Runs the children and returns when all that began have ended.
  @usableFromInline nonisolated(nonsending) func run(
    _ list: ChildList, in context: OperationContext
  ) async {
    // Without children there are no lanes.
    if count > 0 { await Crew(list, board: self, in: context.oneDeeper).run() }
  }
}

extension Crew {
  /// Whether an extra worker saves time however short the children are.
  var isLong: Bool { board.count >= ParallelBoard.longCount }
}

/// The standby worker of a worker other than the caller's.
private final class LaneStandby: StandbyWorker, @unchecked Sendable {
  private let crew: Crew
  private let lane: Int

  init(of crew: Crew, behind lane: Int) {
    self.crew = crew
    self.lane = lane
  }

  override var pullerOnStack: UInt64 { crew.board.pullerOnStack(of: lane) }

  override var hasWorkForAnother: Bool { crew.board.hasWorkForAnother }

  override nonisolated(nonsending) func help(isCounted: Bool) async throws {
    crew.spare.remove(self)
    try await crew.help(isCounted: isCounted, isOutermost: false)
  }
}
