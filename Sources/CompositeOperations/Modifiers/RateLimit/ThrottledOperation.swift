extension ComposableOperation {
  /// Delays the operation until a rate limit lets it begin.
  ///
  /// ```swift
  /// let limit = RateLimit(10, per: .seconds(1))
  /// let pages = ParallelOperation(urls.map { FetchPage($0).throttled(by: limit) })
  /// ```
  ///
  /// A cancellation ends the wait at once, and does not count towards the rate.
  ///
  /// - Parameter limit: The rate limit, which other operations may share.
  @inlinable public func throttled(by limit: RateLimit) -> some ComposableOperation<Success> {
    ThrottledOperation(base: self, limit: limit)
  }

  /// Delays runs of the operation so that no more than a number of them begin in a period.
  ///
  /// Each call of this method makes a separate limit. For several operations, make one
  /// ``RateLimit`` and use ``throttled(by:)``.
  ///
  /// A cancellation ends the wait at once, and does not count towards the rate.
  ///
  /// - Parameters:
  ///   - count: How many runs may begin in a period.
  ///   - period: The length of a period, by the clock of the environment.
  /// - Precondition: `count` is at least 1, and `period` is positive.
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
  /// Waits until a rate limit lets the next operation begin.
  @usableFromInline nonisolated(nonsending) func waitForTurn(by limit: RateLimit) async throws {
    try Task.checkCancellation()
    if limit.tryToTake(by: clock) { return }
    if !limit.tryToLead() {
      let leads = try await waiting(for: .rate) { try await limit.waitForTurn() }
      guard leads else {
        // The token may have been given at the same time as the task was cancelled.
        if !Task.isCancelled { return }
        limit.giveBack()
        throw CancellationError()
      }
    }
    defer { limit.passOn() }
    try Task.checkCancellation()
    if let delay = limit.take(by: clock) {
      try await waiting(for: .rate) { try await wait(delay) }
      // A clock may ignore a cancellation.
      try Task.checkCancellation()
      limit.takeNext()
    }
  }
}
