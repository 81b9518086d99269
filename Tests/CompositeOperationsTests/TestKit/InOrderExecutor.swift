import CompositeOperations

/// Runs jobs on the calling thread in the order in which they came.
final class InOrderExecutor: TaskExecutor {
  private let jobs = Lock<[UnownedJob]>([])

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.withLock { $0.append(job) }
  }

  func drain() {
    while let job = jobs.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
      // A job is run once: it has been taken out of the list.
      unsafe job.runSynchronously(on: asUnownedTaskExecutor())
    }
  }
}
