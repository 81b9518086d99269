/// Runs a job at once, on the thread of whoever enqueues it.
///
/// For a task that does next to nothing when it is resumed: waking another thread for it would take
/// a hundred times longer.
final class InlineExecutor: TaskExecutor {
  static let shared = InlineExecutor()

  private init() {}

  func enqueue(_ job: consuming ExecutorJob) {
    unsafe job.runSynchronously(on: asUnownedTaskExecutor())
  }
}
