/// An unstructured task that is cancelled and escalated with the task that starts it, even while it
/// is being started.
///
/// Register the handlers that call ``cancel()`` and ``escalatePriority(to:)`` first, and start the
/// task inside them. Each call of ``cancel()`` that has returned is visible to the body: the new
/// task registers itself before its body, because it may begin before its creator has its handle.
final class LinkedTask<Success: Sendable, Failure: Error>: Sendable {
  private struct State: Sendable {
    var task: Task<Success, Failure>?
    /// The task, between its beginning and the time at which its handle is known. Its creator then
    /// keeps its memory, and afterwards ``task`` does, which stays.
    var begun: RunningTask?
    var isCancelled = false
    /// A priority to apply when the task begins or its handle is known.
    var escalation: TaskPriority?
  }

  private let state = Lock(State())

  func cancel() {
    let (task, begun) = state.withLock { state in
      state.isCancelled = true
      return (state.task, state.begun)
    }
    if let task { task.cancel() } else { begun?.cancel() }
  }

  func escalatePriority(to priority: TaskPriority) {
    let (task, begun) = state.withLock { state in
      if state.task == nil, state.begun == nil { state.escalation = priority }
      return (state.task, state.begun)
    }
    if let task {
      task.escalatePriority(to: priority)
    } else {
      begun?.escalatePriority(to: priority)
    }
  }

  /// Called by the creator before it creates the task.
  ///
  /// The handler of a cancellation that has arrived may be queued for a later call.
  private func inheritCancellation() {
    if Task.isCancelled { state.withLock { $0.isCancelled = true } }
  }

  private func link(_ task: Task<Success, Failure>) {
    // The references are released outside the lock.
    let (begun, escalation, isCancelled) = state.withLock { state in
      state.task = task
      return (state.begun.take(), state.escalation.take(), state.isCancelled)
    }
    if begun == nil, isCancelled { task.cancel() }
    if let escalation { task.escalatePriority(to: escalation) }
  }

  /// Called by the new task before its body.
  private func begin() {
    let begun = RunningTask.own
    let (isCancelled, escalation) = state.withLock { state in
      if state.task == nil { state.begun = begun }
      return (state.isCancelled, state.escalation.take())
    }
    if isCancelled { begun.cancel() }
    if let escalation { begun.escalatePriority(to: escalation) }
  }
}

extension LinkedTask where Failure == any Error {
  /// Starts the task and returns its result. To be called once.
  func run(
    at priority: TaskPriority?, _ body: @escaping @Sendable () async throws -> Success
  ) async throws -> Success {
    inheritCancellation()
    let task = UnstructuredTasks.startThrowing(on: Task.preferredExecutor, at: priority) {
      self.begin()
      return try await body()
    }
    link(task)
    return try await task.value
  }
}

extension LinkedTask where Failure == Never {
  /// Starts the task. To be called once.
  ///
  /// - Parameters:
  ///   - executor: The preferred executor; nil for Swift's thread pool.
  ///   - isImmediate: Whether the task runs on the calling thread until it first suspends.
  @discardableResult func start(
    on executor: (any TaskExecutor)?, isImmediate: Bool = false,
    _ body: @escaping @Sendable () async -> Success
  ) -> Task<Success, Never> {
    inheritCancellation()
    let task = UnstructuredTasks.start(on: executor, isImmediate: isImmediate) {
      self.begin()
      return await body()
    }
    link(task)
    return task
  }
}
