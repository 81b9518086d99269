extension ComposableOperation {
  /// Runs the operation, and everything below it, at another task priority.
  ///
  /// A priority below the priority of the waiter does not slow the run down: Swift raises it to the
  /// priority of the waiter.
  ///
  /// - Parameter priority: The priority.
  public func prioritized(at priority: TaskPriority) -> some ComposableOperation<Success> {
    PrioritizedOperation(base: self, priority: priority)
  }
}

struct PrioritizedOperation<Base: ComposableOperation>: TransparentOperation {
  let base: Base
  let priority: TaskPriority

  nonisolated(nonsending) func performHeld(
    in context: OperationContext
  ) async throws -> HeldResult<Base.Success> {
    if priority > Task.currentPriority || context.isTooDeep {
      let context = context.onFreshStack
      return try await UnstructuredTasks.run(at: priority) { try await begin(in: context) }
    }
    let context = context.oneDeeper
    return try await withThrowingTaskGroup(of: HeldResult<Base.Success>.self) { group in
      group.addTask(priority: priority) { try await begin(in: context) }
      guard let held = try await group.next() else {
        preconditionFailure("the task group has no child task")
      }
      return held
    }
  }

  private nonisolated(nonsending) func begin(
    in context: OperationContext
  ) async throws -> HeldResult<Base.Success> {
    // O2: the task may have been cancelled before it got a thread.
    try Task.checkCancellation()
    return try await base.performHeld(in: context)
  }
}
