/// An executor that runs each job immediately, on the thread that enqueues it.
///
/// For tasks of the engine that do very little when they are resumed: waking another thread for
/// them would take a hundred times longer. If the end of such a task cancels other tasks, their
/// cancellation handlers run on the resuming thread. So it must not be resumed under a lock.
final class InlineExecutor: TaskExecutor {
  static let shared = InlineExecutor()

  private init() {}

  func enqueue(_ job: consuming ExecutorJob) {
    // The unowned reference is valid, because the executor is never freed.
    unsafe job.runSynchronously(on: asUnownedTaskExecutor())
  }
}
