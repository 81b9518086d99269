internal import Synchronization

extension SourceRun {
  /// Runs the caller's worker, which starts the others.
  nonisolated(nonsending) func lead(in context: OperationContext) async {
    // Children can be left only if a child has cancelled its own task.
    repeat {
      reserve.begin()
      try? await withThrowingDiscardingTaskGroup { group in
        if isReproducible { beginWorkers(in: &group) }
        await feed(Feeder(of: self, isOutermost: true), into: &group, in: context)
        reserve.leaderBeginsNoMore()
      }
      await reserve.waitUntilOver()
    } while !isStopped && !Task.isCancelled && !source.isExhausted
  }

  /// Starts pullers while there are places and children.
  private nonisolated(nonsending) func feed(
    _ feeder: Feeder, into group: inout Group, in context: OperationContext
  ) async {
    var begun = 0
    var standby: Feeder?
    while await isFoodLeft() {
      if begun == 0, isStandbyWanted() {
        feeder.add(to: &group)
        self.standby.fill(with: feeder)
        standby = feeder
      }
      if begun < Shard.direct {
        beginPuller(on: feeder, in: &group, context)
      } else {
        if feeder.isOutermost { awaitFailureSignal(in: &group) }
        beginShard(on: feeder, in: &group, context)
        await feeder.feeding.waitUntilIdle()
      }
      begun += 1
    }
    if let standby { retire(standby) }
  }

  /// Whether there may be a child and a place for it. Waits until the source is idle.
  private nonisolated(nonsending) func isFoodLeft() async -> Bool {
    if isStopped || Task.isCancelled { return false }
    return await source.isReady() && places.load(ordering: .relaxed) > 0
  }

  /// Starts a puller if a place is free. It runs on the current stack until a child suspends.
  private func beginPuller(
    on feeder: Feeder, in group: inout Group, _ context: OperationContext
  ) {
    guard takePlace() else { return }
    _ = feeder.stack.pullerBegins()
    group.addImmediateTask { try await self.pull(in: context) }
    feeder.stack.pullerReturned()
  }

  /// Starts a nested group, which continues to start pullers until it is full.
  private func beginShard(on feeder: Feeder, in group: inout Group, _ context: OperationContext) {
    reserve.failureSignal.branchBegan()
    group.addImmediateTask {
      defer { self.reserve.failureSignal.branchEnded() }
      try await withThrowingDiscardingTaskGroup { shard in
        await feeder.feeding.acquireIgnoringCancellation()
        defer { feeder.feeding.release() }
        var begun = 0
        while begun < Shard.size, await self.isFoodLeft() {
          self.beginPuller(on: feeder, in: &shard, context)
          begun += 1
        }
      }
    }
  }

  /// Adds a task that waits for a failure to the outermost group, unless there is one.
  private func awaitFailureSignal(in group: inout Group) {
    guard reserve.claimFailureSignal() else { return }
    group.addImmediateTask(executorPreference: InlineExecutor.shared) {
      await self.reserve.failureSignal.wait()
      if self.isStopped { throw Stop() }
    }
  }

  // MARK: Other workers

  /// Starts a worker for each processor, in a run in which nothing may depend on durations.
  private func beginWorkers(in group: inout Group) {
    while takeWorker() {
      awaitFailureSignal(in: &group)
      reserve.failureSignal.branchBegan()
      group.addTask {
        defer { self.reserve.failureSignal.branchEnded() }
        try await self.work(isCounted: false)
      }
    }
  }

  /// - Returns: Whether another worker may start. The caller then starts it.
  fileprivate func takeWorker() -> Bool {
    var left = workersLeft.load(ordering: .relaxed)
    while left > 0 {
      let (isDone, seen) = workersLeft.weakCompareExchange(
        expected: left, desired: left - 1, ordering: .relaxed)
      if isDone { return true }
      left = seen
    }
    return false
  }

  fileprivate nonisolated(nonsending) func work(isCounted: Bool) async throws {
    try await withThrowingDiscardingTaskGroup { group in
      await feed(
        Feeder(of: self, isOutermost: false), into: &group, in: context.onFreshStack.oneDeeper)
      if isCounted { ExtraWorkers.release() }
    }
  }

  /// Whether another worker might find a child and a place for it.
  var hasWorkForAnother: Bool {
    workersLeft.load(ordering: .relaxed) > 0 && places.load(ordering: .relaxed) > 0 && !isStopped
      && !source.isExhausted
  }

  // MARK: The standby worker

  /// Whether the caller must add a standby worker.
  private func isStandbyWanted() -> Bool {
    !isReproducible && hasWorkForAnother && standby.claim()
  }

  private func retire(_ feeder: Feeder) {
    standby.remove(feeder)
    feeder.retire()
  }

  /// Starts the standby worker if there is one and the process has room for another worker.
  func startStandby() {
    guard hasWorkForAnother, standby.isOccupied, ExtraWorkers.acquire() else { return }
    if standby.take()?.start(isCounted: true) != true { ExtraWorkers.release() }
  }
}

extension SourceRun {
  /// Starts pullers. It is also the standby worker for the case that a child occupies its thread.
  @safe final class Feeder: StandbyWorker, @unchecked Sendable {
    private let run: SourceRun
    /// Whether its group is the outermost one of the run.
    let isOutermost: Bool
    let stack = PullerStack()
    /// Held by a shard that starts pullers in place of its feeder.
    let feeding = AsyncMutex()

    init(of run: SourceRun, isOutermost: Bool) {
      self.run = run
      self.isOutermost = isOutermost
    }

    override var pullerOnStack: UInt64 { stack.current }

    override var hasWorkForAnother: Bool { run.hasWorkForAnother }

    override nonisolated(nonsending) func help(isCounted: Bool) async throws {
      run.standby.remove(self)
      guard run.takeWorker() else {
        if isCounted { ExtraWorkers.release() }
        return
      }
      await run.reserve.work(
        isOutermost: isOutermost, isStopped: { run.isStopped },
        doing: { [run] in
          try? await run.work(isCounted: isCounted)
          run.reserve.failureSignal.branchEnded()
        })
      if run.isStopped { throw Stop() }
    }
  }
}
