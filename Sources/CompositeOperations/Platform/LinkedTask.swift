/// An unstructured task that is cancelled and escalated with the task that starts it, even while it
/// is being started.
///
/// Register the handlers that call ``cancel()`` and ``escalatePriority(to:)`` first, and start the
/// task inside them. The body does not begin before the handle of the task is known, so each call
/// of ``cancel()`` that has returned is visible to the body.
final class LinkedTask<Success: Sendable, Failure: Error>: Sendable {
  private struct State: Sendable {
    var task: Task<Success, Failure>?
    var isCancelled = false
    /// A priority to apply when the handle of the task is known.
    var escalation: TaskPriority?
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
    let task = state.withLock { state in
      if state.task == nil { state.escalation = priority }
      return state.task
    }
    task?.escalatePriority(to: priority)
  }

  /// Called by the creator before it creates the task.
  ///
  /// The handler of a cancellation that has arrived may be queued for a later call.
  private func inheritCancellation() {
    if Task.isCancelled { state.withLock { $0.isCancelled = true } }
  }

  private func link(_ task: Task<Success, Failure>) {
    let (waiter, escalation) = state.withLock { state in
      state.task = task
      return (state.waiter.take(), state.escalation)
    }
    if let escalation { task.escalatePriority(to: escalation) }
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
    inheritCancellation()
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
    inheritCancellation()
    let task = UnstructuredTasks.start(on: executor) {
      await self.waitForLink()
      return await body()
    }
    link(task)
    return task
  }
}
