import CompositeOperations
import Foundation

/// An executor of one thread with a stack of 512 KiB, as all threads but the main one have on Apple's
/// platforms.
final class SmallStack: TaskExecutor {
  private let jobs = NSCondition()
  private let state = Lock(State())

  private struct State: Sendable {
    var ready: [UnownedJob] = []
    var isOver = false
  }

  /// Runs a body on a thread of its own, and frees there what the body leaves.
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
        // A job that was enqueued here is run once: it has been taken out of the list.
        unsafe job.runSynchronously(on: asUnownedTaskExecutor())
      }
    }
  }

  /// Waits for jobs; nil when the body is over.
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
