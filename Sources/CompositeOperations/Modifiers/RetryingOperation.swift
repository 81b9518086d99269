extension ComposableOperation {
  /// The same operation again while it fails, for a number of attempts.
  ///
  /// ```swift
  /// let issues = FetchIssues(repository: repository)
  ///   .retrying(attempts: 3, backoff: .exponential(from: .milliseconds(100)).jittered())
  /// ```
  ///
  /// Attempts are counted with the first one. Each is a run of its own. A cancellation ends the run at
  /// once, also between two attempts, and is never retried. Where an error is ``RetryAdvising``, the
  /// next attempt waits for what it says if that is longer.
  ///
  /// - Parameters:
  ///   - attempts: How many attempts there are at most.
  ///   - backoff: How long to wait before the next one, by the clock of the environment.
  ///   - budget: How long the run may take before the last attempt begins; nil for any time.
  ///   - isWorthwhile: Whether to try again after an error.
  /// - Precondition: There is at least one attempt, and the budget is not negative.
  @inlinable public func retrying(
    attempts: Int, backoff: Backoff = .none, within budget: Duration? = nil,
    when isWorthwhile: @escaping @Sendable (any Error) -> Bool = { _ in true }
  ) -> some ComposableOperation<Success> {
    RetryingOperation(
      base: self,
      policy: RetryPolicy(
        attempts: attempts, backoff: backoff, budget: budget, isWorthwhile: isWorthwhile))
  }
}

/// When an operation that failed is tried again.
@usableFromInline struct RetryPolicy: Sendable {
  let attempts: Int
  let backoff: Backoff
  let budget: Duration?
  let isWorthwhile: @Sendable (any Error) -> Bool

  @usableFromInline init(
    attempts: Int, backoff: Backoff, budget: Duration?,
    isWorthwhile: @escaping @Sendable (any Error) -> Bool
  ) {
    precondition(attempts >= 1, "There is at least 1 attempt, the first one, and not \(attempts).")
    precondition(
      budget ?? .zero >= .zero, "A budget of time is not negative, and not \(budget ?? .zero).")
    self.attempts = attempts
    self.backoff = backoff
    self.budget = budget
    self.isWorthwhile = isWorthwhile
  }

  @usableFromInline var hasBudget: Bool { budget != nil }
}

@usableFromInline
struct RetryingOperation<Base: ComposableOperation>: SeparateRun {
  @usableFromInline let base: Base
  @usableFromInline let policy: RetryPolicy

  @inlinable init(base: Base, policy: RetryPolicy) {
    self.base = base
    self.policy = policy
  }

  @inlinable nonisolated(nonsending) func performHeld(
    in context: OperationContext
  ) async throws -> HeldResult<Base.Success> {
    // The clock is read only where somebody counts the time.
    let stopwatch = policy.hasBudget ? Stopwatch(context.clock) : nil
    let end = await context.end(of: base)
    switch end.outcome {
    case .result(let value): return HeldResult(value, disposal: end.disposal)
    case .error(let error): return try await retry(after: error, in: context, since: stopwatch)
    case .cancelled: throw CancellationError()
    }
  }

  @usableFromInline nonisolated(nonsending) func retry(
    after error: any Error, in context: OperationContext, since start: Stopwatch?
  ) async throws -> HeldResult<Base.Success> {
    var errors = [error]
    var delays = Backoff.Delays(policy.backoff)
    var randomness = context.randomness
    while errors.count < policy.attempts, let last = errors.last, policy.isWorthwhile(last) {
      var delay = delays.delay(using: &randomness)
      if let advised = (last as? any RetryAdvising)?.retryDelay { delay = max(delay, advised) }
      if let budget = policy.budget, let start, start.elapsed + delay > budget { break }
      do {
        try await context.wait(delay)
      } catch {
        throw RetryError(errors: errors, representsCancellation: true)
      }
      let end = await context.end(of: base)
      switch end.outcome {
      case .result(let value):
        // Nobody will see what the attempts before came to.
        RetryError(errors: errors, representsCancellation: false).discardValues()
        return HeldResult(value, disposal: end.disposal)
      case .error(let error): errors.append(error)
      case .cancelled: throw RetryError(errors: errors, representsCancellation: true)
      }
    }
    throw RetryError(errors: errors, representsCancellation: false)
  }
}
