internal import Synchronization

extension SourceRun {
  /// Runs the caller's worker, which starts the others.
  nonisolated(nonsending) func lead(in context: OperationContext) async {
    // Children can be left only if a child has cancelled its own task.
    repeat {
      begin()
      try? await withThrowingDiscardingTaskGroup { group in
        if isReproducible { beginWorkers(in: &group) }
        await feed(Feeder(of: self, isOutermost: true), into: &group, in: context)
        leaderBeginsNoMore()
      }
      await waitUntilOver()
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
        if feeder.isOutermost { awaitFailure(in: &group) }
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
    return await source.isReady() && places.isFree
  }

  /// Starts a puller if a place is free. It runs on the current stack until a child suspends.
  private func beginPuller(
    on feeder: Feeder, in group: inout Group, _ context: OperationContext
  ) {
    guard places.take() != nil else { return }
    _ = feeder.stack.pullerBegins()
    group.addImmediateTask { try await self.pull(in: context) }
    feeder.stack.pullerReturned()
  }

  /// Starts a nested group, which continues to start pullers until it is full.
  private func beginShard(on feeder: Feeder, in group: inout Group, _ context: OperationContext) {
    addShard(to: &group) { shard in
      await feeder.feeding.acquireIgnoringCancellation()
      defer { feeder.feeding.release() }
      var begun = 0
      while begun < Shard.size, await self.isFoodLeft() {
        self.beginPuller(on: feeder, in: &shard, context)
        begun += 1
      }
    }
  }

  // MARK: Other workers

  /// Starts a worker for each processor, in a run in which nothing may depend on durations.
  private func beginWorkers(in group: inout Group) {
    while workersLeft.take() != nil {
      awaitFailure(in: &group)
      branchBegan()
      group.addTask {
        defer { self.branchEnded() }
        try await self.work(isCounted: false)
      }
    }
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
    workersLeft.isFree && places.isFree && !isStopped
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
      guard run.workersLeft.take() != nil else {
        if isCounted { ExtraWorkers.release() }
        return
      }
      try await run.help(isOutermost: isOutermost) { [run] in
        try? await run.work(isCounted: isCounted)
        run.branchEnded()
      }
    }
  }
}
