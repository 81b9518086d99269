internal import Synchronization

/// The state of a run that several workers share: whether it has been stopped, and how the tasks of
/// its groups learn of that.
@usableFromInline class SharedRun: @unchecked Sendable {
  typealias Group = ThrowingDiscardingTaskGroup<any Error>

  /// Ends a task so that its group cancels the others.
  struct Stop: Error {}

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
