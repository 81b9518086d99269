internal import Synchronization
internal import SystemSupport

/// One run of a graph.
///
/// A **puller** runs a node, then a dependent that has become ready, and so on. If there is none,
/// it takes a node from the queue. A **feeder** starts pullers as immediate tasks, as a ``ParallelScheduler``
/// does: they run on the feeder's thread until a node suspends. The feeder waits while no node is
/// ready. There is one feeder for each processor as soon as a second one can be useful. If a node
/// occupies the thread of the first feeder, a ``StandbyWorker`` starts the others.
@safe final class GraphRun: StandbyWorker, @unchecked Sendable {
  typealias Group = SharedRun.Group
  private typealias Stop = SharedRun.Stop

  /// The state of a task that starts pullers.
  private final class Feeder: Sendable {
    let stack = PullerStack()
    /// Held by a shard that starts pullers in place of its feeder.
    let feeding = AsyncMutex()
  }

  private let runState: GraphRunState
  private let context: OperationContext
  private let isReproducible: Bool
  private let feederCount: Int
  /// Whether other feeders save time however short the nodes are.
  private let isLong: Bool
  private let hasAllFeeders = Atomic(false)
  /// The recent durations of nodes of the first node's type; nil if there are no nodes.
  private let hint: WorkHint?
  private let firstFeeder = Feeder()

  init(_ runState: GraphRunState, limit: Int, in context: OperationContext) {
    self.runState = runState
    self.context = context
    isReproducible = Task.hasPreferredExecutor
    isLong = runState.plan.count >= 256
    feederCount = min(Processors.count, limit, runState.plan.count)
    hint = runState.plan.nodes.first.map { WorkHint(for: type(of: $0.work)) }
  }

  /// Runs the nodes until the run stops, and returns when all that began have ended.
  nonisolated(nonsending) func run() async {
    await withTaskCancellationHandler {
      // Nodes can be left only if a node has cancelled its own task.
      repeat { await lead() } while !runState.isOver && !runState.isStopped && !Task.isCancelled
    } onCancel: {
      runState.cancel()
    }
  }

  private nonisolated(nonsending) func lead() async {
    if context.isTooDeep {
      await UnstructuredTasks.run { [self] in await lead(in: context.onFreshStack) }
    } else {
      await lead(in: context)
    }
  }

  private nonisolated(nonsending) func lead(in context: OperationContext) async {
    hasAllFeeders.store(false, ordering: .relaxed)
    runState.begin()
    try? await withThrowingDiscardingTaskGroup { group in
      let hasStandby = !isReproducible && feederCount > 1 && !runState.plan.isChain && isUnused
      if hasStandby { add(to: &group) }
      await feed(firstFeeder, into: &group, in: context) { group in
        if hasAllFeeders.exchange(true, ordering: .relaxed) { return }
        runState.awaitFailure(in: &group)
        addFeeders(feederCount - 1, to: &group)
      }
      if hasStandby { retire() }
      runState.leaderBeginsNoMore()
    }
    await runState.waitUntilOver()
  }

  private func addFeeders(_ count: Int, to group: inout Group) {
    for _ in 0..<max(0, count) {
      runState.branchBegan()
      group.addTask { [self] in
        defer { runState.branchEnded() }
        try await withThrowingDiscardingTaskGroup { group in await feedBeside(into: &group) }
      }
    }
  }

  /// Feeds beside the first feeder, on another stack.
  private nonisolated(nonsending) func feedBeside(into group: inout Group) async {
    await feed(Feeder(), into: &group, in: context.onFreshStack.oneDeeper) { _ in }
  }

  // MARK: Feeding

  /// Starts pullers until no further node becomes ready.
  ///
  /// - Parameter notAlone: Called when other feeders can be useful: when a puller has returned the
  ///   thread, or at once if the nodes are many or long.
  private nonisolated(nonsending) func feed(
    _ feeder: Feeder, into group: inout Group, in context: OperationContext,
    notAlone: (inout Group) -> Void
  ) async {
    var slice = TimeSlice(isReproducible: isReproducible)
    var begun = 0
    while !Task.isCancelled, await runState.queue.waitForReady() {
      if slice.isOver {
        await Task.yield()
        slice = TimeSlice(isReproducible: isReproducible)
      }
      if begun == 0, isWorthHelping { notAlone(&group) }
      if begun < Shard.direct {
        beginPuller(of: feeder, in: slice, into: &group, context)
        if !runState.isOver { notAlone(&group) }
      } else {
        beginShard(of: feeder, in: slice, into: &group, context)
        await feeder.feeding.waitUntilIdle()
      }
      begun += 1
    }
  }

  /// Whether other feeders start before it is known how long the nodes of this run take.
  private var isWorthHelping: Bool {
    !runState.plan.isChain && (isLong || !isReproducible && hint?.isHeavy == true)
  }

  /// Starts a puller if a node is ready. It runs on the current stack until a node suspends.
  private func beginPuller(
    of feeder: Feeder, in slice: TimeSlice, into group: inout Group, _ context: OperationContext
  ) {
    guard let node = runState.queue.takeWithPlace() else { return }
    // Each woken feeder wakes the next one before it runs a node.
    if runState.queue.hasReady { runState.queue.wakeOne() }
    let number = feeder.stack.pullerBegins()
    group.addImmediateTask { [self] in
      try await pull(from: node, as: number, of: feeder, in: slice, context)
    }
    feeder.stack.pullerReturned()
  }

  /// Starts a nested group, which continues to start pullers until it is full.
  private func beginShard(
    of feeder: Feeder, in slice: TimeSlice, into group: inout Group, _ context: OperationContext
  ) {
    runState.addShard(to: &group) { shard in
      await feeder.feeding.acquireIgnoringCancellation()
      defer { feeder.feeding.release() }
      var slice = slice
      var begun = 0
      while begun < Shard.size, !Task.isCancelled, await self.runState.queue.waitForReady() {
        if slice.isOver {
          await Task.yield()
          slice = TimeSlice(isReproducible: self.isReproducible)
        }
        self.beginPuller(of: feeder, in: slice, into: &shard, context)
        begun += 1
      }
    }
  }

  // MARK: Pulling

  /// Runs nodes one after another, in the place that the caller has taken.
  private nonisolated(nonsending) func pull(
    from first: Int, as number: UInt64, of feeder: Feeder, in slice: TimeSlice,
    _ context: OperationContext
  ) async throws {
    // An unretained reference, to check for cancellation. It is valid, because this task runs here.
    let task = unsafe UnsafeCurrentTask.own
    var slice = slice
    var pace = SamplingInterval(from: slice.start)
    var finished = 0
    defer { runState.finished(finished) }
    var current: Int? = first
    // Read once per node, for its end and for the start of the next one: no user code runs in
    // between, unless the puller yields.
    var isCancelled = unsafe task.isCancelled
    while let node = current {
      if runState.isStopped || isCancelled { return runState.queue.giveBack(node) }
      do {
        let cleanup = try await runState.plan.nodes[node].body(runState, node, context)
        isCancelled = unsafe task.isCancelled
        if runState.isObserved {
          // The body has recorded how the node ended.
        } else if isCancelled {
          runState.endedLate(node, cleanup: cleanup)
        } else {
          runState.endedInResult(node, cleanup: cleanup)
        }
      } catch {
        isCancelled = unsafe task.isCancelled
        await threw(error, node, wasCancelled: isCancelled, in: context)
      }
      if runState.stop(behind: node) {
        runState.queue.leave()
        throw Stop()
      }
      current = runState.release(behind: node, finished: &finished) ?? runState.queue.takeOrLeave()
      guard let next = current, pace.isTimeToLook() else { continue }
      let each = pace.look(longest: SamplingInterval.mixedStride)
      if let each, !isLong { hint?.note(each) }
      let isHeavy = each.map { $0 > ExtraWorkers.worthwhile } ?? true
      let isOnStack = feeder.stack.holds(number)
      let wantsHelp = isHeavy && runState.queue.hasReady
      if wantsHelp, hasAllFeeders.load(ordering: .relaxed) { runState.queue.wakeOne() }
      let isOver = slice.isOver || isReproducible
      if isOnStack {
        // Returns to the feeder, which starts other feeders or yields the thread.
        if isOver || wantsHelp { return runState.queue.giveBack(next) }
      } else if isOver {
        await Task.yield()
        isCancelled = unsafe task.isCancelled
        slice = TimeSlice(isReproducible: isReproducible)
      }
    }
  }

  /// Records the error that a node has thrown.
  private nonisolated(nonsending) func threw(
    _ error: any Error, _ node: Int, wasCancelled: Bool, in context: OperationContext
  ) async {
    guard runState.isObserved else {
      return runState.ended(node, with: error, wasCancelled: wasCancelled)
    }
    let slot = runState.slot(of: node)
    let work = runState.plan.nodes[node].work
    runState.ended(node, in: await work.completeUnmade(with: error, into: slot, in: context))
  }

  // MARK: The standby worker

  override var pullerOnStack: UInt64 { firstFeeder.stack.current }

  override var hasWorkForAnother: Bool {
    !hasAllFeeders.load(ordering: .relaxed) && runState.queue.canBegin
  }

  /// Starts the other feeders.
  override nonisolated(nonsending) func help(isCounted: Bool) async throws {
    if hasAllFeeders.exchange(true, ordering: .relaxed) { return }
    try await runState.help(isOutermost: true) { [self] in
      try? await withThrowingDiscardingTaskGroup { group in
        addFeeders(feederCount - 2, to: &group)
        await feedBeside(into: &group)
      }
      runState.branchEnded()
    }
  }
}
