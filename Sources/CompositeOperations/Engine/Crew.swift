/// Runs the children of a parallel composite.
///
/// A **puller** is a task that takes children and runs them one after another. The caller begins
/// one as an immediate task, which runs on the caller's own thread; when a child waits, the caller
/// gets its thread back and begins the next puller. So there are about as many tasks as children in
/// flight, and children that never wait cost no task of their own. **Helpers** do the same on other
/// processors, each with a lane of its own. Pullers beyond the first few stand in **shards**, and
/// deep nesting goes on on a fresh stack.
final class Crew: Sendable {
  typealias Group = ThrowingDiscardingTaskGroup<any Error>

  let list: ChildList
  let board: ParallelBoard
  /// What the children see.
  let context: OperationContext
  let isObserved: Bool
  /// Whether a preferred executor runs the tasks. Then nothing depends on clocks and on what else
  /// goes on in the process, so that an executor that repeats itself makes the run repeat itself.
  let isReproducible: Bool

  init(_ list: ChildList, board: ParallelBoard, in context: OperationContext) {
    self.list = list
    self.board = board
    self.context = context
    isObserved = context.scope?.isObserved == true
    isReproducible = Task.hasPreferredExecutor
  }

  /// Runs the children, as many as begin before the run is to stop, and returns when they have ended.
  nonisolated(nonsending) func run() async {
    if isObserved, board.goal != .firstResult {
      context.expectChildren(weighing: list.weight(of: board.count))
    }
    // Once is enough, unless a child cancels the very task it runs in and others are left over.
    repeat { await lead() } while board.goesOn && !Task.isCancelled
  }

  /// The caller's lane, which hires helpers for the others.
  private nonisolated(nonsending) func lead() async {
    if context.isTooDeep {
      let fresh = Crew(list, board: board, in: context.onFreshStack)
      await withDiscardingTaskGroup { group in group.addTask { await fresh.lead() } }
      return
    }
    try? await withThrowingDiscardingTaskGroup { group in
      var hasAlarm = false
      await feed(lane: 0, into: &group) { group, begun, slice in
        var wantsHelper = isHelperWelcome(in: slice)
        if !hasAlarm, wantsHelper || begun == Shard.direct {
          hasAlarm = true
          board.alarm.branchBegan()
          group.addImmediateTask(executorPreference: InlineExecutor.shared) { [self] in
            try await waitForAlarm()
          }
        }
        var hasHired = false
        while wantsHelper, !isHiring || Helpers.hire() {
          beginHelper(in: &group)
          hasHired = true
          wantsHelper = isHelperWelcome(in: slice)
        }
        return hasHired
      }
      if hasAlarm { board.alarm.branchEnded() }
    }
  }

  private nonisolated(nonsending) func waitForAlarm() async throws {
    await board.alarm.wait()
    if board.isStopped { throw Stop() }
  }

  // MARK: Helpers

  func isHelperWelcome(in slice: Slice) -> Bool {
    guard board.hasWorkForHelper else { return false }
    guard isHiring, let start = slice.start else { return true }
    return Helpers.isAvailable
      && (isLong || Helpers.mayBeWorthwhile(at: start))
  }

  /// Whether helpers are begun only where that pays, and counted for the whole process.
  ///
  /// Not where nothing may depend on what else goes on, and not in a race: there a contender that
  /// computes until it is cancelled must not keep the others from beginning.
  private var isHiring: Bool { !isReproducible && board.goal != .firstResult }

  private func beginHelper(in group: inout Group) {
    if isHiring, !isLong { Helpers.begins() }
    let lane = board.helperBegins()
    board.alarm.branchBegan()
    group.addTask { [self] in
      defer { board.alarm.branchEnded() }
      try await help(on: lane)
    }
  }

  private nonisolated(nonsending) func help(on lane: Int) async throws {
    try await withThrowingDiscardingTaskGroup { group in
      await feed(lane: lane, into: &group) { _, _, _ in false }
      if isHiring { Helpers.release() }
    }
  }

  // MARK: Pullers

  /// Begins pullers on the current thread until no child is left to begin or no place is free.
  ///
  /// - Parameter prepare: What is to be done before each. Says whether that took its time.
  private nonisolated(nonsending) func feed(
    lane: Int, into group: inout Group,
    prepare: (inout Group, _ begun: Int, _ slice: Slice) -> Bool
  ) async {
    var slice = Slice(isReproducible: isReproducible)
    var begun = 0
    while board.goesOn, board.hasPlace, !Task.isCancelled {
      if begun > 0, slice.isOver {
        await Task.yield()
        slice = Slice(isReproducible: isReproducible)
        continue
      }
      let isLater = prepare(&group, begun, slice) || begun > 0
      if begun < Shard.direct {
        beginPuller(on: lane, in: slice, at: pace(isLater: isLater, in: slice), into: &group)
      } else {
        beginShard(on: lane, in: slice, into: &group)
      }
      begun += 1
    }
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
    board.alarm.branchBegan()
    group.addImmediateTask { [self] in
      defer { board.alarm.branchEnded() }
      try await withThrowingDiscardingTaskGroup { shard in
        var begun = 0
        while begun < Shard.size, board.goesOn, board.hasPlace, !Task.isCancelled {
          let pace = pace(isLater: true, in: slice)
          beginPuller(on: lane, in: slice, at: pace, into: &shard)
          begun += 1
          if slice.isOver || isHelperWelcome(in: slice) { break }
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
    await Crew(list, board: self, in: context.oneDeeper).run()
  }
}

extension Crew {
  /// Ends a puller so that its group cancels the others.
  private struct Stop: Error {}

  /// Whether a helper is worth its while whatever the children do.
  var isLong: Bool { board.count >= 32 }
}
