/// An unstructured task that is cancelled with the task that starts it, even between its start and the
/// registration of a cancellation handler.
///
/// Register a handler that calls ``cancel()`` first, and start the task inside it. The body does not begin before the
/// handle of the task is known, so each call of ``cancel()`` that has returned is visible to the body.
final class LinkedTask<Success: Sendable, Failure: Error>: Sendable {
  private struct State: Sendable {
    var task: Task<Success, Failure>?
    var isCancelled = false
    /// The task itself, which began before its handle was known.
    var waiter: CheckedContinuation<Void, Never>?
  }

  private let state = Lock(State())

  func cancel() {
    let task = state.withLock { state in
      state.isCancelled = true
      return state.task
    }
    task?.cancel()
  }

  func escalatePriority(to priority: TaskPriority) {
    state.withLock(\.task)?.escalatePriority(to: priority)
  }

  private func link(_ task: Task<Success, Failure>) {
    let waiter = state.withLock { state in
      state.task = task
      return state.waiter.take()
    }
    waiter?.resume()
  }

  /// Called by the new task before its body.
  private func waitForLink() async {
    if !state.withLock({ $0.task != nil }) {
      await withCheckedContinuation { waiter in
        let isLinked = state.withLock { state in
          if state.task == nil { state.waiter = waiter }
          return state.task != nil
        }
        if isLinked { waiter.resume() }
      }
    }
    if state.withLock(\.isCancelled) { unsafe withUnsafeCurrentTask { unsafe $0?.cancel() } }
  }
}

extension LinkedTask where Failure == any Error {
  /// Starts the task and returns its result. To be called once.
  func run(
    at priority: TaskPriority?, _ body: @escaping @Sendable () async throws -> Success
  ) async throws -> Success {
    let task = UnstructuredTasks.startThrowing(at: priority) {
      await self.waitForLink()
      return try await body()
    }
    link(task)
    return try await task.value
  }
}

extension LinkedTask where Failure == Never {
  /// Starts the task. To be called once.
  ///
  /// - Parameter executor: The preferred executor; nil for Swift's thread pool.
  @discardableResult func start(
    on executor: (any TaskExecutor)?, _ body: @escaping @Sendable () async -> Success
  ) -> Task<Success, Never> {
    let task = UnstructuredTasks.start(on: executor) {
      await self.waitForLink()
      return await body()
    }
    link(task)
    return task
  }
}
