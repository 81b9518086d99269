extension ComposableOperation {
  /// The same operation, and a closure after it, whatever it ended in.
  ///
  /// ```swift
  /// let issues = FetchIssues(repository: repository).finally { outcome in
  ///   await store.close()
  /// }
  /// ```
  ///
  /// The closure sees how the operation ended and cannot change that by a value or an error; a
  /// cancellation during the closure still wins. It runs after a cancellation too, is not cancelled by
  /// one, and is awaited, so that the run is over when everything is. Where the run does not begin,
  /// because it was cancelled before, the closure does not run; it does run where the operation was
  /// begun and skipped by a condition, or cancelled while it waited for permits or for its
  /// time. What is to be undone only where it was done belongs further inside.
  ///
  /// - Parameter body: What is to be done. Its task-local values, its priority and its executor are
  ///   those of the run.
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
    let end = await context.end(of: base)
    await UnstructuredTasks.runShielded { await body(end.outcome) }
    return HeldResult(try end.get(), disposal: end.disposal)
  }
}
