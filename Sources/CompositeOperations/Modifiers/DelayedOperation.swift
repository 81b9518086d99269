extension ComposableOperation {
  /// The same operation, begun later.
  ///
  /// A cancellation ends the wait at once. What takes no time at all, or less, does not wait.
  ///
  /// - Parameter delay: How long to wait before it begins, by the clock of the environment.
  public func delayed(by delay: Duration) -> some ComposableOperation<Success> {
    DelayedOperation(base: self) { context in try await context.wait(delay) }
  }

  /// The same operation, begun when a clock has come to a moment.
  ///
  /// A cancellation ends the wait at once. A moment that has passed is not waited for.
  ///
  /// - Parameters:
  ///   - moment: When it may begin.
  ///   - clock: The clock whose moment that is.
  public func delayed<Time: Clock>(
    until moment: Time.Instant, on clock: Time = ContinuousClock()
  ) -> some ComposableOperation<Success> where Time.Duration == Duration {
    DelayedOperation(base: self) { _ in
      if clock.now < moment { try await clock.sleep(until: moment, tolerance: nil) }
    }
  }
}

struct DelayedOperation<Base: ComposableOperation>: TransparentOperation {
  let base: Base
  let wait: nonisolated(nonsending) @Sendable (OperationContext) async throws -> Void

  init(
    base: Base,
    wait: nonisolated(nonsending) @escaping @Sendable (OperationContext) async throws -> Void
  ) {
    self.base = base
    self.wait = wait
  }

  nonisolated(nonsending) func performHeld(
    in context: OperationContext
  ) async throws -> HeldResult<Base.Success> {
    try await wait(context)
    // A clock may have come to its moment and not to our cancellation.
    try Task.checkCancellation()
    return try await base.performHeld(in: context)
  }
}
