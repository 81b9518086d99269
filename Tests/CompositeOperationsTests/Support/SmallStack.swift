import CompositeOperations
import Foundation

/// An executor with one thread and a stack of 512 KiB, the size of all threads except the main
/// thread on Apple's platforms.
final class SmallStack: TaskExecutor {
  private let jobs = NSCondition()
  private let state = Lock(State())

  private struct State: Sendable {
    var ready: [UnownedJob] = []
    var isOver = false
  }

  /// Runs a body on the executor's thread, and frees its values there.
  ///
  /// - Parameter body: Receives the environment for the runs that it starts.
  static func run(_ body: @escaping @Sendable (OperationEnvironment) async -> Void) async {
    let executor = SmallStack()
    let thread = Thread { executor.work() }
    // The sanitizers make frames many times as large.
    thread.stackSize = Scale.isSanitized ? 16 << 20 : 512 << 10
    thread.start()
    await Task(executorPreference: executor) {
      await body(OperationEnvironment(executor: executor))
    }.value
    executor.change { $0.isOver = true }
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    change { $0.ready.append(job) }
  }

  private func change(_ change: (inout State) -> Void) {
    jobs.lock()
    defer { jobs.unlock() }
    state.withLock(change)
    jobs.signal()
  }

  private func work() {
    while let ready = nextJobs() {
      for job in ready {
        // Each job runs only once, because it has been removed from the list.
        unsafe job.runSynchronously(on: asUnownedTaskExecutor())
      }
    }
  }

  /// Waits for jobs and returns them; nil when the body has ended.
  private func nextJobs() -> [UnownedJob]? {
    jobs.lock()
    defer { jobs.unlock() }
    while true {
      let ready = state.withLock { state -> [UnownedJob]? in
        defer { state.ready = [] }
        return state.ready.isEmpty && !state.isOver ? nil : state.ready
      }
      if let ready { return ready.isEmpty ? nil : ready }
      jobs.wait()
    }
  }
}
