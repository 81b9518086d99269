internal import CompositeOperations
internal import Dispatch

/// A semaphore that blocks the thread of a connection.
final class Semaphore: Sendable {
  private let semaphore = DispatchSemaphore(value: 0)

  func wait() { semaphore.wait() }

  func signal() { semaphore.signal() }
}

/// Runs the jobs of a task on a thread that may wait.
final class ThreadExecutor: TaskExecutor {
  private let queue = DispatchQueue(label: "waiting test")

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }

  /// Runs a body that waits.
  static func run<Value: Sendable>(_ body: @Sendable () throws -> Value) async throws -> Value {
    try await withTaskExecutorPreference(ThreadExecutor()) { try await call(body) }
  }

  @concurrent private static func call<Value: Sendable>(
    _ body: @Sendable () throws -> Value
  ) async throws -> Value {
    try body()
  }
}

/// A number that threads increment.
final class Counter: Sendable {
  private let number = Lock(0)

  var value: Int { number.withLock { $0 } }

  @discardableResult func increment() -> Int {
    number.withLock {
      $0 += 1
      return $0
    }
  }
}
