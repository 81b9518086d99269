import CompositeOperations

/// Runs jobs on the calling thread in FIFO order.
final class InOrderExecutor: TaskExecutor {
  private let jobs = Lock<[UnownedJob]>([])

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.withLock { $0.append(job) }
  }

  func drain() {
    while let job = jobs.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
      // Each job runs only once, because it has been removed from the list.
      unsafe job.runSynchronously(on: asUnownedTaskExecutor())
    }
  }
}
