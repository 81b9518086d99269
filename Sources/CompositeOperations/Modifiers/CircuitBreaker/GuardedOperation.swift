extension ComposableOperation {
  /// Refuses runs of the operation while a circuit breaker is open.
  ///
  /// ```swift
  /// let server = CircuitBreaker(opensAfterFailures: 5, halfOpensAfter: .seconds(30), name: "server")
  /// let fetch = FetchIssues(repository: repository)
  ///   .timingOut(after: .seconds(10))
  ///   .guarded(by: server)
  ///   .retrying(attempts: 3, backoff: .exponential(from: .milliseconds(200)).jittered())
  /// ```
  ///
  /// A refused run ends in a ``CircuitOpenError`` before the body begins. A run that is already
  /// cancelled is not refused, and takes no place of a probe.
  ///
  /// The circuit breaker counts the outcome of everything before it in the chain. So a timeout
  /// before it is a failure. A timeout after it cancels the run, which is neither a success nor a
  /// failure. A retry after it counts each attempt.
  ///
  /// - Parameter breaker: The circuit breaker, which other operations may share.
  @inlinable public func guarded(by breaker: CircuitBreaker) -> some ComposableOperation<Success> {
    GuardedOperation(base: self, breaker: breaker)
  }
}

@usableFromInline struct GuardedOperation<Base: ComposableOperation>: TransparentOperation {
  @usableFromInline let base: Base
  @usableFromInline let breaker: CircuitBreaker

  @inlinable init(base: Base, breaker: CircuitBreaker) {
    self.base = base
    self.breaker = breaker
  }

  @inlinable nonisolated(nonsending) func performHeld(
    in context: OperationContext
  ) async throws -> HeldResult<Base.Success> {
    let admission = try breaker.admit(in: context)
    let inner = context.admitted(by: breaker, admission)
    do {
      let held = try await base.performHeld(in: inner)
      breaker.ended(admission, inner)
      return held
    } catch {
      breaker.ended(admission, in: error, inner)
      throw error
    }
  }
}
