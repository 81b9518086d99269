/// The package's unstructured tasks. No other file creates any.
///
/// Each task copies the priority and the task-local values of its creator, and nothing else.
@usableFromInline package enum UnstructuredTasks {
  /// Starts an unstructured task.
  ///
  /// - Parameters:
  ///   - executor: The executor of the task; nil for Swift's own thread pool.
  ///   - priority: The priority of the task; nil for the caller's.
  ///   - isImmediate: Whether the task runs on the calling thread until it first suspends.
  package static func start<Value: Sendable>(
    on executor: (any TaskExecutor)?, at priority: TaskPriority? = nil, isImmediate: Bool = false,
    _ body: @escaping @Sendable () async -> Value
  ) -> Task<Value, Never> {
    // Even a preference for no executor takes time.
    guard let executor else {
      if isImmediate { return Task.immediate(priority: priority) { await body() } }
      return Task(priority: priority) { await body() }
    }
    if isImmediate {
      return Task.immediate(priority: priority, executorPreference: executor) { await body() }
    }
    return Task(executorPreference: executor, priority: priority) { await body() }
  }

  /// Starts an unstructured task whose body may throw.
  ///
  /// Such a task needs less memory and time than one that cannot throw, whose closure Swift 6.3.1
  /// wraps in another one.
  ///
  /// - Parameters:
  ///   - executor: The executor of the task; nil for Swift's own thread pool.
  ///   - priority: The priority of the task; nil for the caller's.
  ///   - isImmediate: Whether the task runs on the calling thread until it first suspends.
  @inlinable static func startThrowing<Value: Sendable>(
    on executor: (any TaskExecutor)?, at priority: TaskPriority? = nil, isImmediate: Bool = false,
    _ body: @escaping @isolated(any) @Sendable () async throws -> Value
  ) -> Task<Value, any Error> {
    guard let executor else {
      if isImmediate { return Task.immediate(priority: priority, operation: body) }
      return Task(priority: priority, operation: body)
    }
    if isImmediate {
      return Task.immediate(
        priority: priority, executorPreference: executor, operation: body)
    }
    return Task(executorPreference: executor, priority: priority, operation: body)
  }

  /// Runs a body in an unstructured task, waits for it, and cancels it with the calling task.
  ///
  /// For work that a child task cannot do. In Swift 6.3.1 a child task never runs above the
  /// priority of its parent. Also, the runtime cancels nested child tasks recursively, with 300
  /// bytes of stack for each level; ``NestedCalls`` limits the recursion between tasks that this
  /// method starts.
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

  /// Runs a body that does not throw in an unstructured task, waits for it, and cancels it with the
  /// calling task.
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

  /// Runs a body that the cancellation of the calling task does not cancel, and waits for it.
  ///
  /// - Parameter isImmediate: Whether the body may begin on the stack of the caller. It does not if
  ///   another such body is on the stack, because it may run the same operation again, nor under a
  ///   preferred executor, which chooses between jobs.
  @usableFromInline package static func runShielded(
    isImmediate: Bool = false, _ body: @escaping @Sendable () async -> Void
  ) async {
    if isImmediate, !Task.hasPreferredExecutor {
      let isOutermost = NestedCalls.begin(.closure)
      let task = start(on: nil, isImmediate: isOutermost, body)
      NestedCalls.end(.closure)
      await task.value
    } else {
      await start(on: Task.preferredExecutor, body).value
    }
  }
}
