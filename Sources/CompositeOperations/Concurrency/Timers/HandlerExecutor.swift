/// An executor that runs jobs on the ``HandlerThreads``.
///
/// For tasks that sleep on a custom clock and must continue while operations occupy every thread of
/// Swift's pool.
final class HandlerExecutor: TaskExecutor {
  static let shared = HandlerExecutor()

  private init() {}

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    // Valid, because the executor is never freed; and each job is run once.
    HandlerThreads.shared.run { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
