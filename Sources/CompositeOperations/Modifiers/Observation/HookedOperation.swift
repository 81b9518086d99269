extension ComposableOperation {
  /// Calls a closure when the operation starts.
  ///
  /// The closure is not called if the run is cancelled before. It is called after the modifiers
  /// around this one, such as a wait for permits. If the closure cancels the run, the body does not
  /// begin.
  ///
  /// - Parameter body: Called synchronously by the operation.
  @inlinable public func onStart(
    _ body: @escaping @Sendable () -> Void
  ) -> some ComposableOperation<Success> {
    StartHookedOperation(base: self, body: body)
  }

  /// Calls a closure when the operation has ended, before its callers continue.
  ///
  /// ```swift
  /// let issues = FetchIssues(repository: repository)
  ///   .onStart { print("fetching") }
  ///   .onEnd { outcome in print("fetched: \(outcome)") }
  /// ```
  ///
  /// The closure receives the outcome and cannot return another one. If it cancels the run, the run
  /// ends as cancelled, because its outcome is decided after the closure has returned. The outcome
  /// of the operation is then a late outcome. The closure is also called after a cancellation, but
  /// not if the operation did not start. For a cleanup that suspends, use ``finally(_:)``.
  ///
  /// - Parameter body: Called synchronously by the operation.
  @inlinable public func onEnd(
    _ body: @escaping @Sendable (Outcome<Success>) -> Void
  ) -> some ComposableOperation<Success> {
    EndHookedOperation(base: self, body: body)
  }
}

@usableFromInline struct StartHookedOperation<Base: ComposableOperation>: TransparentOperation {
  @usableFromInline let base: Base
  @usableFromInline let body: @Sendable () -> Void

  @inlinable init(base: Base, body: @escaping @Sendable () -> Void) {
    self.base = base
    self.body = body
  }

  @inlinable nonisolated(nonsending) func performHeld(
    in context: OperationContext
  ) async throws -> HeldResult<Base.Success> {
    body()
    // The hook may have cancelled the run.
    try Task.checkCancellation()
    return try await base.performHeld(in: context)
  }
}

@usableFromInline struct EndHookedOperation<Base: ComposableOperation>: SeparateRun {
  @usableFromInline let base: Base
  @usableFromInline let body: @Sendable (Outcome<Base.Success>) -> Void

  @inlinable init(base: Base, body: @escaping @Sendable (Outcome<Base.Success>) -> Void) {
    self.base = base
    self.body = body
  }

  @inlinable nonisolated(nonsending) func performHeld(
    in context: OperationContext
  ) async throws -> HeldResult<Base.Success> {
    let completion = await context.complete(base)
    body(completion.outcome)
    return try completion.held()
  }
}
