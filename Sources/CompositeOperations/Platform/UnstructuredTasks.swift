/// The one place where unstructured tasks are made, for what needs them by nature.
///
/// Each copies priority and task-local values, and inherits nothing else.
@usableFromInline package enum UnstructuredTasks {
  /// A task of its own.
  ///
  /// - Parameters:
  ///   - executor: Where it runs; nil for Swift's own thread pool.
  ///   - priority: How urgent it is; nil for the priority of whoever calls this.
  ///   - isImmediate: Whether it runs on the calling thread until it waits.
  package static func start<Value: Sendable>(
    on executor: (any TaskExecutor)?, at priority: TaskPriority? = nil, isImmediate: Bool = false,
    _ body: @escaping @Sendable () async -> Value
  ) -> Task<Value, Never> {
    if isImmediate {
      return Task.immediate(priority: priority, executorPreference: executor) { await body() }
    }
    return Task(executorPreference: executor, priority: priority) { await body() }
  }

  /// Runs a body at a priority above the calling task's, and cancels it with that.
  ///
  /// A child task would not do: in Swift 6.3.1 one that is given a higher priority than its parent
  /// runs at its parent's.
  static func run<Value: Sendable>(
    at priority: TaskPriority, _ body: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    let task = Task(executorPreference: Task.preferredExecutor, priority: priority) {
      try await body()
    }
    return try await withTaskCancellationHandler {
      try await task.value
    } onCancel: {
      task.cancel()
    }
  }

  /// Runs a body that is not cancelled with the calling task, and waits for its end.
  ///
  /// Not on the calling thread's stack: the body may run the very operation again that it belongs to.
  @usableFromInline package static func runShielded(
    _ body: @escaping @Sendable () async -> Void
  ) async {
    await start(on: Task.preferredExecutor, body).value
  }
}
