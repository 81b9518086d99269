internal import Synchronization

/// A worker that waits for its use: a child task of a run that has been created, and not enqueued.
///
/// A worker runs children on its own thread, one after another, as long as none of them waits. While one computes, the
/// rest would wait behind it. No other thread can create a child task of the run then, with its priority, its task-local
/// values and its cancellation; so one is created beforehand. It is started when a puller finds that its children take
/// long, or by the ``StallMonitor``, when a puller has kept its thread for a millisecond. Otherwise the one who made it
/// ends it, without another thread.
///
/// It is the executor of its task, because that is how Swift hands a new task over. Subclasses say what it does.
// Sendable: `next`, `previous` and `lastSeen` are the monitor's, which reaches them with a lock of its own held.
@safe class StandbyWorker: TaskExecutor, @unchecked Sendable {
  private enum Fate {
    /// The task has not been created.
    static var none: UInt { 0 }
    static var retired: UInt { 1 }
    static var started: UInt { 2 }
    static var startedAndCounted: UInt { 3 }
  }

  /// The task's job, until that is taken; then what became of it.
  private final let job = Atomic<UInt>(Fate.none)
  /// Whether a thread has been asked for, which takes the job when it is there.
  private final let isStarting = Atomic(false)
  // Written before the job is there.
  private final var priority = TaskPriority.medium

  unowned(unsafe) final var next: StandbyWorker?
  unowned(unsafe) final var previous: StandbyWorker?
  /// The puller that kept its thread at the monitor's last look.
  private final var lastSeen: UInt64 = 0

  // MARK: For subclasses

  /// The number of the puller that has kept its thread since a worker began it; 0 if none does.
  var pullerOnStack: UInt64 { preconditionFailure() }

  /// Whether another worker would find something to do.
  var hasWorkForAnother: Bool { preconditionFailure() }

  /// Does a share of the work, in the standby worker's task.
  ///
  /// - Parameter isCounted: Whether it counts among the extra workers of the process.
  /// - Throws: If the run is to stop.
  nonisolated(nonsending) func help(isCounted: Bool) async throws { preconditionFailure() }

  // MARK: Its task

  /// Creates the task. To be called once, and to be followed by ``retire()``.
  final func add(to group: inout WorkerReserve.Group) {
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
    // Resumed: it does next to nothing more, so the one who resumes it may as well do that.
    if !isNew { unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
  }

  /// Whether no task has been created.
  final var isUnused: Bool { job.load(ordering: .relaxed) == Fate.none }

  /// Whether the task has been created and not been taken.
  final var isStandingBy: Bool {
    job.load(ordering: .relaxed) > Fate.startedAndCounted && !isStarting.load(ordering: .relaxed)
  }

  /// Takes the job. The one who gets it runs it, once.
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

  /// Starts the worker on a thread of Swift's pool; one that has been started or has retired stays as it is.
  ///
  /// - Parameter isCounted: Whether it counts among the extra workers of the process; the caller has acquired one.
  /// - Returns: Whether this call did it.
  @discardableResult final func start(isCounted: Bool) -> Bool {
    guard job.load(ordering: .acquiring) > Fate.startedAndCounted,
      !isStarting.exchange(true, ordering: .relaxed)
    else { return false }
    // The thread takes the job, and not this call: the pool may have none for a while, and the run may end meanwhile.
    _ = UnstructuredTasks.start(on: nil, at: priority) { [self] in
      if let job = take(for: isCounted ? Fate.startedAndCounted : Fate.started) {
        unsafe job.runSynchronously(on: asUnownedTaskExecutor())
      } else if isCounted {
        ExtraWorkers.release()
      }
    }
    return true
  }

  /// Ends the worker if it has not been started. To be called by the task whose group it stands in.
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

  /// Whether a puller keeps its worker's thread that did so at the last look, while there is work for another worker.
  ///
  /// To be asked by the monitor, once a look.
  final func isNeeded() -> Bool {
    let puller = pullerOnStack
    defer { lastSeen = puller }
    return puller != 0 && puller == lastSeen && hasWorkForAnother
  }
}
