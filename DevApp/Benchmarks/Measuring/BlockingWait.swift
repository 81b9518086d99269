import Dispatch
import Synchronization

/// Waits on a thread for asynchronous work.
enum BlockingWait {
  /// Runs a body in a task, and blocks this thread until it ends. All threads of the pool are free
  /// for the task, if this thread is none of them.
  ///
  /// - Throws: The error of the body.
  static func value<Value: Sendable>(
    of body: @escaping @Sendable () async throws -> Value
  ) throws -> Value {
    let result = Mutex<Result<Value, any Error>?>(nil)
    let isDone = DispatchSemaphore(value: 0)
    Task.detached {
      let value: Result<Value, any Error>
      do { value = .success(try await body()) } catch { value = .failure(error) }
      result.withLock { $0 = value }
      isDone.signal()
    }
    isDone.wait()
    guard let value = result.withLock(\.self) else { throw BenchmarkError("no result") }
    return try value.get()
  }
}
