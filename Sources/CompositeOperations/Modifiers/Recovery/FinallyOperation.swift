extension ComposableOperation {
  /// Runs a closure after the operation has ended, however it ended.
  ///
  /// ```swift
  /// let issues = FetchIssues(repository: repository).finally { outcome in
  ///   await store.close()
  /// }
  /// ```
  ///
  /// The closure receives the outcome and cannot return another one. It also runs after a
  /// cancellation, is not cancelled itself, and is awaited: the run ends after the closure has
  /// returned. If the run is cancelled while the closure runs, it ends as cancelled.
  ///
  /// If the run is cancelled before it begins, the closure does not run. It does run if the
  /// operation is skipped by a condition, or cancelled while it waits for permits or for a delay.
  /// To clean up only after the body has begun, apply `finally` further inside.
  ///
  /// - Parameter body: The cleanup. It has the task-local values, the priority and the executor of
  ///   the run.
  @inlinable public func finally(
    _ body: @escaping @Sendable (Outcome<Success>) async -> Void
  ) -> some ComposableOperation<Success> {
    FinallyOperation(base: self, body: body)
  }
}

@usableFromInline struct FinallyOperation<Base: ComposableOperation>: SeparateRun {
  @usableFromInline typealias Body = @Sendable (Outcome<Base.Success>) async -> Void

  @usableFromInline let base: Base
  @usableFromInline let body: Body

  @inlinable init(base: Base, body: @escaping Body) {
    self.base = base
    self.body = body
  }

  @inlinable nonisolated(nonsending) func performHeld(
    in context: OperationContext
  ) async throws -> HeldResult<Base.Success> {
    let completion = await context.complete(base)
    await context.runShielded { [body] in await body(completion.outcome) }
    return try completion.held()
  }
}

extension OperationContext {
  /// Runs a closure of a body that the cancellation of the run does not cancel, and waits for it.
  @inlinable nonisolated(nonsending) func runShielded(
    _ body: @escaping @Sendable () async -> Void
  ) async {
    // Not on the caller's actor.
    let actor = #isolation
    await UnstructuredTasks.runShielded(isImmediate: actor == nil && isShallow, body)
  }
}
