internal import Synchronization

extension SourceRun {
  /// Begins pullers while there are places and children.
  nonisolated(nonsending) func feed(in context: OperationContext) async {
    // Once is enough, unless a child cancels the very task it runs in and others are left over.
    repeat {
      try? await withThrowingDiscardingTaskGroup { group in
        var begun = 0
        while await isFoodLeft() {
          hireHelpers(in: &group, context)
          if begun < Shard.direct {
            beginPuller(in: &group, context)
          } else {
            if begun == Shard.direct {
              alarm.branchBegan()
              group.addImmediateTask(executorPreference: InlineExecutor.shared) {
                try await self.waitForAlarm()
              }
            }
            beginShard(in: &group, context)
            await feeding.waitUntilIdle()
          }
          begun += 1
        }
        if begun > Shard.direct { alarm.branchEnded() }
      }
    } while !isStopped && !Task.isCancelled && !source.isExhausted
  }

  /// Whether there is a child to begin and a place for it; waits until the source can tell.
  private nonisolated(nonsending) func isFoodLeft() async -> Bool {
    if isStopped || Task.isCancelled { return false }
    return await source.isReady() && places.load(ordering: .relaxed) > 0
  }

  /// Begins a puller if a place is free. It runs on the current stack until a child of it waits.
  private func beginPuller(in group: inout Group, _ context: OperationContext) {
    guard takePlace() else { return }
    let puller = stack.pullerBegins()
    group.addImmediateTask { try await self.pull(as: puller, in: context) }
    stack.pullerReturned()
  }

  /// Begins a group of pullers within the group, which goes on feeding until it is full.
  private func beginShard(in group: inout Group, _ context: OperationContext) {
    alarm.branchBegan()
    group.addImmediateTask {
      defer { self.alarm.branchEnded() }
      try await withThrowingDiscardingTaskGroup { shard in
        await self.feeding.enter()
        defer { self.feeding.leave() }
        var begun = 0
        while begun < Shard.size, await self.isFoodLeft(), !self.wantsHelper {
          self.beginPuller(in: &shard, context)
          begun += 1
        }
      }
    }
  }

  private nonisolated(nonsending) func waitForAlarm() async throws {
    await alarm.wait()
    if isStopped { throw Stop() }
  }

  // MARK: Helpers

  private var wantsHelper: Bool {
    helpers.load(ordering: .relaxed) > 0 && isHelperWelcome.load(ordering: .relaxed)
      && Helpers.isAvailable
  }

  private func hireHelpers(in group: inout Group, _ context: OperationContext) {
    let isReproducible = Task.hasPreferredExecutor
    while helpers.load(ordering: .relaxed) > 0 {
      let isWelcome = isReproducible || isHelperWelcome.load(ordering: .relaxed) && Helpers.hire()
      guard isWelcome else { return }
      helpers.wrappingSubtract(1, ordering: .relaxed)
      group.addTask { try await self.help(in: context.onFreshStack, isHired: !isReproducible) }
    }
  }

  /// A puller on another processor.
  private nonisolated(nonsending) func help(
    in context: OperationContext, isHired: Bool
  ) async throws {
    try await withThrowingDiscardingTaskGroup { group in
      if takePlace() {
        group.addImmediateTask { try await self.pull(as: nil, in: context.oneDeeper) }
      }
      if isHired { Helpers.release() }
    }
  }
}
