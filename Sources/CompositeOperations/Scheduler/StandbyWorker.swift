internal import Synchronization

/// A worker in reserve: a child task of a run that has been created but not enqueued.
///
/// A worker runs children on its own thread, one after another, as long as none of them waits. A
/// child that computes would keep the following ones from beginning, and no other thread can create
/// a child task of the run with its priority, task-local values and cancellation. So that task is
/// created in advance. A puller starts it when its children take long, or the ``StallMonitor``
/// starts it when a child has kept its thread for a millisecond. Otherwise the worker that created
/// it ends it, without another thread.
///
/// It is the executor of its task, because Swift passes a new task to its executor. Subclasses
/// define its work.
// Sendable: only the monitor uses `next`, `previous` and `lastSeen`, with its own lock held.
@safe class StandbyWorker: TaskExecutor, @unchecked Sendable {
  private enum Fate {
    /// The task has not been created.
    static var none: UInt { 0 }
    static var retired: UInt { 1 }
    static var started: UInt { 2 }
    static var startedAndCounted: UInt { 3 }
  }

  /// The task's job until it is taken, and the task's fate after that.
  private final let job = Atomic<UInt>(Fate.none)
  /// Whether a thread has been requested that will take the job.
  private final let isStarting = Atomic(false)
  // Written before the job is stored.
  private final var priority = TaskPriority.medium

  unowned(unsafe) final var next: StandbyWorker?
  unowned(unsafe) final var previous: StandbyWorker?
  /// The puller that occupied its thread at the monitor's last check.
  private final var lastSeen: UInt64 = 0

  // MARK: For subclasses

  /// The number of the puller that has kept its thread since its start; 0 if there is none. It
  /// changes while the children of the puller end.
  var pullerOnStack: UInt64 { preconditionFailure() }

  /// Whether there is work for another worker.
  var hasWorkForAnother: Bool { preconditionFailure() }

  /// Does a share of the work, in the standby worker's task.
  ///
  /// - Parameter isCounted: Whether it counts among the extra workers of the process.
  /// - Throws: If the run has been stopped, so that its group cancels the other tasks.
  nonisolated(nonsending) func help(isCounted: Bool) async throws { preconditionFailure() }

  // MARK: Its task

  /// Creates the task. Call this once, and ``retire()`` later.
  final func add(to group: inout ScheduledRun.Group) {
    group.addTask(executorPreference: self) { [self] in try await work() }
    StallMonitor.watch(self)
  }

  final func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    if isUnused { priority = TaskPriority(job.priority) ?? .medium }
    let bits = unsafe unsafeBitCast(job, to: UInt.self)
    let isNew = self.job.compareExchange(
      expected: Fate.none, desired: bits, ordering: .acquiringAndReleasing
    ).exchanged
    // The task has been resumed. It has little left to do, so the resuming thread runs it.
    if !isNew { unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
  }

  /// Whether no task has been created.
  final var isUnused: Bool { job.load(ordering: .relaxed) == Fate.none }

  /// Whether the task has been created and not been taken.
  final var isStandingBy: Bool {
    job.load(ordering: .relaxed) > Fate.startedAndCounted && !isStarting.load(ordering: .relaxed)
  }

  /// Takes the job. The caller that receives it runs it, once.
  private final func take(for fate: UInt) -> UnownedJob? {
    var now = job.load(ordering: .acquiring)
    while now > Fate.startedAndCounted {
      let (isDone, seen) = job.weakCompareExchange(
        expected: now, desired: fate, ordering: .acquiringAndReleasing)
      if isDone { return unsafe unsafeBitCast(now, to: UnownedJob.self) }
      now = seen
    }
    return nil
  }

  /// Starts the worker on a thread of Swift's pool. Does nothing if it has been started or has
  /// retired.
  ///
  /// - Parameter isCounted: Whether it counts among the extra workers of the process. The caller
  ///   has acquired one.
  /// - Returns: Whether this call has started it.
  @discardableResult final func start(isCounted: Bool) -> Bool {
    guard job.load(ordering: .acquiring) > Fate.startedAndCounted,
      !isStarting.exchange(true, ordering: .relaxed)
    else { return false }
    // The new task takes the job, not this call: it may have to wait for a thread, and the run may
    // end before.
    _ = UnstructuredTasks.start(on: nil, at: priority) { [self] in
      if let job = take(for: isCounted ? Fate.startedAndCounted : Fate.started) {
        unsafe job.runSynchronously(on: asUnownedTaskExecutor())
      } else if isCounted {
        ExtraWorkers.release()
      }
    }
    return true
  }

  /// Ends the worker if it has not been started. Called by the task whose group it is in.
  final func retire() {
    StallMonitor.unwatch(self)
    guard let job = take(for: Fate.retired) else { return }
    unsafe job.runSynchronously(on: asUnownedTaskExecutor())
  }

  private final nonisolated(nonsending) func work() async throws {
    let fate = job.load(ordering: .acquiring)
    if fate != Fate.retired { try await help(isCounted: fate == Fate.startedAndCounted) }
  }

  // MARK: The monitor

  /// Whether a puller has kept its worker's thread since the last check, while there is work for
  /// another worker.
  ///
  /// Called by the monitor, once per check.
  final func isNeeded() -> Bool {
    let puller = pullerOnStack
    defer { lastSeen = puller }
    return puller != 0 && puller == lastSeen && hasWorkForAnother
  }
}

/// The place for a standby worker in a run that needs at most one of them.
///
/// There may be two workers for a short time, while one of them is being started or retired. This
/// costs an additional task.
struct StandbyPlace<Worker: StandbyWorker>: ~Copyable, Sendable {
  private let worker = Lock<Worker?>(nil)
  /// Whether there is a worker, or one is being created.
  private let isClaimed = Atomic(false)

  var isOccupied: Bool { isClaimed.load(ordering: .relaxed) }

  /// - Returns: Whether the place was free. The caller then creates a worker and calls
  ///   ``fill(with:)``.
  func claim() -> Bool { !isClaimed.exchange(true, ordering: .acquiringAndReleasing) }

  func fill(with worker: Worker) { self.worker.withLock { $0 = worker } }

  /// Empties the place for the next worker.
  ///
  /// - Returns: The worker, for the caller to start.
  func take() -> Worker? { free(worker.withLock { $0.take() }) }

  /// Empties the place if this worker is in it, because it begins to work or ends.
  func remove(_ worker: Worker) {
    _ = free(self.worker.withLock { $0 === worker ? $0.take() : nil })
  }

  private func free(_ worker: Worker?) -> Worker? {
    if worker != nil { isClaimed.store(false, ordering: .releasing) }
    return worker
  }
}
