extension ComposableOperation {
  /// The same operation, and a closure that is called when it starts.
  ///
  /// Not where it does not start, because it was cancelled before. What is said by modifiers around this one,
  /// such as waiting for permits, has been done by then. If the closure cancels the run, the body does
  /// not begin.
  ///
  /// - Parameter body: Called on the operation's thread, which waits for it.
  @inlinable public func onStart(
    _ body: @escaping @Sendable () -> Void
  ) -> some ComposableOperation<Success> {
    StartHookedOperation(base: self, body: body)
  }

  /// The same operation, and a closure that is called when it has ended, before whoever waits for it goes on.
  ///
  /// ```swift
  /// let issues = FetchIssues(repository: repository)
  ///   .onStart { print("fetching") }
  ///   .onEnd { outcome in print("fetched: \(outcome)") }
  /// ```
  ///
  /// It sees how the operation ended and cannot change that by a value or an error. If it cancels the
  /// run, the run ends as cancelled, because its end is not decided before the closure has returned;
  /// the outcome of the operation is then late. The closure is called after a cancellation too, but not
  /// where the operation did not start. What has to be awaited belongs in ``finally(_:)``.
  ///
  /// - Parameter body: Called on the operation's thread, which waits for it.
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
    let end = await context.end(of: base)
    body(end.outcome)
    return HeldResult(try end.get(), disposal: end.disposal)
  }
}
