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

  /// Starts a task whose body throws, on the executor that the calling task prefers.
  ///
  /// - Parameter priority: The priority of the task; nil for the priority of the calling task.
  static func startThrowing<Value: Sendable>(
    at priority: TaskPriority?, _ body: @escaping @Sendable () async throws -> Value
  ) -> Task<Value, any Error> {
    Task(executorPreference: Task.preferredExecutor, priority: priority) { try await body() }
  }

  /// Runs a body in an unstructured task, waits for it, and cancels it with the calling task.
  ///
  /// For work that a child task cannot do. In Swift 6.3.1 a child task never runs above the
  /// priority of its parent. And the runtime cancels nested child tasks recursively, with 300 bytes
  /// of stack for each level; between tasks started here ``NestedCalls`` limits the recursion.
  ///
  /// - Parameter priority: The priority of the task; nil for the priority of the calling task.
  @usableFromInline static func run<Value: Sendable>(
    at priority: TaskPriority? = nil, _ body: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    let task = LinkedTask<Value, any Error>()
    return try await withTaskCancellationHandler {
      try await task.run(at: priority, body)
    } onCancel: {
      NestedCalls.make(.cancel) { task.cancel() }
    }
  }

  /// Runs a body that does not throw in an unstructured task, waits for it, and cancels it with the calling task.
  @usableFromInline static func run<Value: Sendable>(
    _ body: @escaping @Sendable () async -> Value
  ) async -> Value {
    let task = LinkedTask<Value, Never>()
    return await withTaskCancellationHandler {
      await task.start(on: Task.preferredExecutor, body).value
    } onCancel: {
      NestedCalls.make(.cancel) { task.cancel() }
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
