internal import Synchronization

/// The state that coordinates the standby workers of a run, and passes a failure from other groups
/// to the outermost one.
struct WorkerReserve: ~Copyable, Sendable {
  typealias Group = ThrowingDiscardingTaskGroup<any Error>

  /// Ends a task so that its group cancels the others.
  struct Stop: Error {}

  let failureSignal = FailureSignal()
  /// Whether a task of the outermost group waits for the failureSignal.
  private let isFailureSignalAwaited = Atomic(false)

  private enum Leading: UInt8, AtomicRepresentable {
    case begins
    /// As `begins`, and the caller's worker is a branch of the failureSignal.
    case isBranch
    case over
  }

  /// Whether the caller's worker may still start other tasks.
  private let leading = Atomic(Leading.begins)
  /// The worker that is in no group of the run, if there is one.
  private let detachedWorker = Lock<Task<Void, Never>?>(nil)
  private let hasDetachedWorker = Atomic(false)

  /// - Returns: Whether the calling task must wait for the failureSignal; true once for each outermost
  ///   group. The wait does not end while the caller's worker may start other tasks.
  func claimFailureSignal() -> Bool {
    if isFailureSignalAwaited.exchange(true, ordering: .acquiringAndReleasing) { return false }
    waitForLeader()
    return true
  }

  // MARK: The caller's worker

  /// Prepares for a new outermost group.
  func begin() {
    if leading.load(ordering: .relaxed) == .begins { return }
    leading.store(.begins, ordering: .relaxed)
    isFailureSignalAwaited.store(false, ordering: .relaxed)
  }

  /// Records that the caller's worker starts no further tasks.
  func leaderBeginsNoMore() {
    if leading.exchange(.over, ordering: .acquiringAndReleasing) == .isBranch {
      failureSignal.branchEnded()
    }
  }

  /// Makes the caller's worker a branch of the failureSignal, as long as it may start other tasks.
  private func waitForLeader() {
    failureSignal.branchBegan()
    let isLeading = leading.compareExchange(
      expected: .begins, desired: .isBranch, ordering: .acquiringAndReleasing
    ).exchanged
    if !isLeading { failureSignal.branchEnded() }
  }

  /// Waits for the worker that may outlive the outermost group. Call this after that group has
  /// ended.
  nonisolated(nonsending) func waitUntilOver() async {
    guard hasDetachedWorker.load(ordering: .acquiring) else { return }
    await detachedWorker.withLock { $0.take() }?.value
  }

  // MARK: The standby worker's task

  /// Does the work of a started standby worker in a separate task, and waits for that or for the
  /// failureSignal.
  ///
  /// A nested group could not fail before all of its tasks have ended, and the standby worker's
  /// task is the only task of the outermost group that no child occupies. So the work runs in an
  /// unstructured task with the same priority and task-local values. The standby worker cancels
  /// that task, and passes the failure to the group.
  ///
  /// - Parameters:
  ///   - isOutermost: Whether the standby worker is in the outermost group.
  ///   - isStopped: Whether the run has been stopped.
  ///   - work: Does the work, and then ends the branch of the failureSignal that this method has begun.
  nonisolated(nonsending) func work(
    isOutermost: Bool, isStopped: () -> Bool, doing work: @escaping @Sendable () async -> Void
  ) async {
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
    if isStopped() { CancellationReports.deferring { worker.cancel() } }
  }
}
