internal import Synchronization

/// Runs the children of a parallel composite.
///
/// A **puller** is a task that takes children and runs them one after another. The caller begins
/// one as an immediate task, which runs on the caller's own thread; when a child waits, the caller
/// gets its thread back and begins the next puller. So there are about as many tasks as children in
/// flight, and children that never wait cost no task of their own. **Extra workers** do the same on
/// other processors, each with a lane of its own; a ``StandbyWorker`` becomes one when a worker
/// keeps its thread for long. Pullers beyond the first few are grouped in **shards**, and deep
/// nesting continues on a fresh stack.
///
/// It is itself the standby worker of the caller's worker, so that a run of a few light children
/// makes no additional object.
@safe final class Crew: StandbyWorker, @unchecked Sendable {
  typealias Group = WorkerReserve.Group
  typealias Stop = WorkerReserve.Stop

  let list: ChildList
  let board: ParallelBoard
  /// What the children see.
  let context: OperationContext
  let isObserved: Bool
  /// Whether a preferred executor runs the tasks. Then nothing depends on clocks and on what else
  /// goes on in the process, so that an executor that repeats itself makes the run repeat itself.
  let isReproducible: Bool
  let hint: WorkHint
  /// The standby worker of a worker other than the caller's, if there is one that has not been
  /// started.
  fileprivate let spare = StandbyPlace<LaneStandby>()

  init(_ list: ChildList, board: ParallelBoard, in context: OperationContext) {
    self.list = list
    self.board = board
    self.context = context
    isObserved = context.scope?.isObserved == true
    isReproducible = Task.hasPreferredExecutor
    hint = board.laneCount > 1 ? WorkHint(for: list.firstType) : .unknown
  }

  /// Runs the children, as many as begin before the run is to stop, and returns when they have ended.
  // Inlined, as is what it calls: each additional asynchronous call takes a hundredth of a run of
  // two children.
  @inline(__always) nonisolated(nonsending) func run() async {
    if isObserved, board.goal != .firstResult {
      context.expectChildren(weighing: list.weight(of: board.count))
    }
    if context.isTooDeep { await leadOnFreshStack() } else { await lead() }
    // Once is enough, unless a child cancels the very task it runs in and others are left over.
    while board.goesOn, !Task.isCancelled { await leadOnFreshStack() }
  }

  private nonisolated(nonsending) func leadOnFreshStack() async {
    let fresh = Crew(list, board: board, in: context.onFreshStack)
    await UnstructuredTasks.run { await fresh.lead() }
  }

  /// The caller's lane, which begins the others.
  @inline(__always) private nonisolated(nonsending) func lead() async {
    board.reserve.begin()
    try? await withThrowingDiscardingTaskGroup { group in
      let hasExtraWorkers = wantsExtraWorkers && beginExtraWorkers(in: &group)
      await feed(lane: 0, into: &group, isOutermost: true, isLater: hasExtraWorkers)
      board.reserve.leaderBeginsNoMore()
    }
    await board.reserve.waitUntilOver()
  }

  /// Lets a task of the outermost group wait for a failure, unless one does already.
  private func attendAlarm(in group: inout Group) {
    guard board.reserve.claimAlarm() else { return }
    group.addImmediateTask(executorPreference: InlineExecutor.shared) { [self] in
      await board.reserve.alarm.wait()
      if board.isStopped { throw Stop() }
    }
  }

  // MARK: Extra workers

  /// Whether extra workers begin only where they save time, and count toward the limit of the
  /// process.
  ///
  /// False in a reproducible run, which may not depend on other runs. False also in a race, where a
  /// contender that computes until it is cancelled must not keep the others from beginning.
  private var isCounting: Bool { !isReproducible && board.goal != .firstResult }

  /// Whether extra workers begin before it is known how long the children of this run take.
  private var wantsExtraWorkers: Bool {
    board.laneCount > 1 && (isLong || hint.isHeavy || !isCounting)
  }

  /// Begins as many extra workers as there is work for.
  ///
  /// - Returns: Whether there are any.
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

  /// Adds a standby worker for a worker beside the caller's, unless there is one.
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

  /// Begins pullers on the current thread until no child is left to begin or no place is free.
  ///
  /// - Parameters:
  ///   - isOutermost: Whether the group is the outermost one of the run.
  ///   - isLater: Whether other work has preceded this, so that a new time slice has not just
  ///     begun.
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

  /// The pace of a puller that begins now. Where nobody asks how long its first child takes, and
  /// where the slice has just begun, that takes no reading of the clock.
  ///
  /// - Parameter isLater: Whether something has taken its time since the slice began. Waking another
  ///   processor does, and would make the first child look heavy enough for waking it the next time.
  private func pace(isLater: Bool, in slice: Slice) -> Pace {
    !isLater || isLong ? Pace(from: slice.start) : Pace(isReproducible: isReproducible)
  }

  /// Begins a puller if a place is free. It runs on the current stack until a child of it waits.
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

  /// Begins a group of pullers within the group.
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
  /// Inlined, because a frame more would find no room in the first kilobyte of the task's memory.
  @inline(__always) nonisolated(nonsending) func pull(_ puller: consuming Puller) async throws {
    // The task is asked whether it is cancelled without being counted. It is valid here because it is
    // the very task that runs this.
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

  /// Runs the children that a puller takes, until it takes no more or one of them throws.
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
    // Without children there is no lane either.
    if count > 0 { await Crew(list, board: self, in: context.oneDeeper).run() }
  }
}

extension Crew {
  /// Whether an extra worker saves time however short the children are.
  var isLong: Bool { board.count >= ParallelBoard.longCount }
}

/// The standby worker of a worker beside the caller's.
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
