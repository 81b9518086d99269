/// Runs a job at once, on the thread of whoever enqueues it.
///
/// For a task of the engine's own that does next to nothing when it is resumed: waking another thread
/// for it would take a hundred times longer. What the end of that task cancels is cancelled on the
/// same thread, with the cancellation handlers of whoever has some, so nobody may resume it under a
/// lock.
final class InlineExecutor: TaskExecutor {
  static let shared = InlineExecutor()

  private init() {}

  func enqueue(_ job: consuming ExecutorJob) {
    // The reference that is not counted is valid, because the executor is never freed.
    unsafe job.runSynchronously(on: asUnownedTaskExecutor())
  }
}
