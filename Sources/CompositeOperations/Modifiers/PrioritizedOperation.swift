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

  /// How the body ended in its own task.
  private struct End: Sendable {
    let result: Result<HeldResult<Base.Success>, any Error>
    let wasCancelled: Bool

    /// - Throws: If the body has cancelled its own task, an error that also ends the run as cancelled.
    func held() throws -> HeldResult<Base.Success> {
      if wasCancelled, !Task.isCancelled { throw result.asCancellation() }
      return try result.get()
    }
  }

  nonisolated(nonsending) func performHeld(
    in context: OperationContext
  ) async throws -> HeldResult<Base.Success> {
    if priority > Task.currentPriority || context.isTooDeep {
      let context = context.onFreshStack
      let end = try await UnstructuredTasks.run(at: priority) { await performAlone(in: context) }
      return try end.held()
    }
    let context = context.oneDeeper
    return try await withTaskGroup(of: End.self) { group in
      group.addTask(priority: priority) { await performAlone(in: context) }
      guard let end = await group.next() else {
        preconditionFailure("the task group has no child task")
      }
      return end
    }.held()
  }

  private nonisolated(nonsending) func performAlone(in context: OperationContext) async -> End {
    let result: Result<HeldResult<Base.Success>, any Error>
    do {
      // O2: the task may have been cancelled before it got a thread.
      try Task.checkCancellation()
      result = .success(try await base.performHeld(in: context))
    } catch {
      result = .failure(error)
    }
    return End(result: result, wasCancelled: Task.isCancelled)
  }
}
