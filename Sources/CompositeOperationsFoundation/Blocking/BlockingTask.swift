internal import CompositeOperations
internal import Dispatch

/// A task that runs a blocking function on a thread or a queue.
///
/// Such a function runs in a task, because only a task has the task-local values of its creator.
final class BlockingTask: TaskExecutor {
  typealias Function = @Sendable () -> Void
  typealias Failing = @Sendable (BlockingThreadsError) -> Void
  /// Schedules a function on another thread, or calls the second function if there is none.
  ///
  /// Returns a function that removes it, which returns whether it will therefore not be called.
  typealias Schedule =
    @Sendable (_ function: @escaping Function, _ fail: @escaping Failing) -> @Sendable () -> Bool

  private struct Waiting: Sendable {
    // Not the closure that runs it, which would keep this executor.
    let job: UnownedJob
    let remove: @Sendable () -> Bool
  }

  private let schedule: Schedule
  private let fail: Failing
  private let waiting = Lock<Waiting?>(nil)

  init(by schedule: @escaping Schedule, orFail fail: @escaping Failing) {
    self.schedule = schedule
    self.fail = fail
  }

  /// Starts the task, which calls the function once.
  func start(_ function: @escaping Function) -> Task<Void, Never> {
    UnstructuredTasks.start(on: self) { function() }
  }

  /// Lets the task end now if it still waits for a thread. Its function must have nothing to do.
  func remove() {
    guard let waiting = waiting.withLock({ $0.take() }), waiting.remove() else { return }
    runElsewhere(waiting.job)
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let remove = schedule {
      self.run(job)
    } _: { error in
      self.fail(error)
      self.runElsewhere(job)
    }
    waiting.withLock { $0 = Waiting(job: job, remove: remove) }
  }

  private func run(_ job: UnownedJob) {
    // Valid, because the caller keeps this executor; and each job is run once.
    unsafe job.runSynchronously(on: asUnownedTaskExecutor())
  }

  /// Runs a job without a function, which frees its task.
  private func runElsewhere(_ job: UnownedJob) {
    DispatchQueue.global().async { self.run(job) }
  }
}
