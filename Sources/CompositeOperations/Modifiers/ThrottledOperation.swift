extension ComposableOperation {
  /// The same operation, which begins no sooner than a rate allows.
  ///
  /// ```swift
  /// let limit = RateLimit(10, per: .seconds(1))
  /// let pages = ParallelOperation(urls.map { FetchPage($0).throttled(by: limit) })
  /// ```
  ///
  /// A cancellation ends the wait at once, and takes nothing of the rate.
  ///
  /// - Parameter limit: The rate, which other operations may share.
  @inlinable public func throttled(by limit: RateLimit) -> some ComposableOperation<Success> {
    ThrottledOperation(base: self, limit: limit)
  }

  /// The same operation, which begins no more often than a rate allows, however often it is run.
  ///
  /// Each operation that is made in this way has a rate of its own. For several operations make one
  /// ``RateLimit`` and give it to all of them.
  ///
  /// A cancellation ends the wait at once, and takes nothing of the rate.
  ///
  /// - Parameters:
  ///   - count: How many runs may begin in a period.
  ///   - period: The period, by the clock of the environment.
  /// - Precondition: It is at least one, and the period is longer than nothing.
  @inlinable public func throttled(
    to count: Int, per period: Duration
  ) -> some ComposableOperation<Success> {
    throttled(by: RateLimit(count, per: period))
  }
}

@usableFromInline
struct ThrottledOperation<Base: ComposableOperation>: TransparentOperation {
  @usableFromInline let base: Base
  @usableFromInline let limit: RateLimit

  @inlinable init(base: Base, limit: RateLimit) {
    self.base = base
    self.limit = limit
  }

  @inlinable nonisolated(nonsending) func performHeld(
    in context: OperationContext
  ) async throws -> HeldResult<Base.Success> {
    try await context.waitForTurn(by: limit)
    return try await base.performHeld(in: context)
  }
}

extension OperationContext {
  /// Waits until a rate lets the next one begin.
  @usableFromInline nonisolated(nonsending) func waitForTurn(by limit: RateLimit) async throws {
    let turn = [PermitClaim(permits: limit.turn, number: 1)]
    if !PermitClaim.tryToTake(turn) { try await waiting(for: .rate) { try await take(turn) } }
    defer { PermitClaim.giveBack(turn) }
    // A clock may not mind a cancellation.
    try Task.checkCancellation()
    if let delay = limit.take(by: clock) {
      try await waiting(for: .rate) { try await wait(delay) }
      try Task.checkCancellation()
      limit.takeNext()
    }
  }
}
