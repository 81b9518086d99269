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
    retrying(upTo: attempts, backoff: backoff, within: budget) { failure in
      isWorthwhile(failure.error) ? .retry(after: failure.delay) : .stop
    }
  }

  /// The same operation again while it fails, as a closure decides.
  ///
  /// ```swift
  /// let issues = FetchIssues(repository: repository).retrying(upTo: 5) { failure in
  ///   switch failure.error {
  ///   case is NotFound: .stop
  ///   case is LoginExpired: .retry(with: Login().then { FetchIssues(repository: repository) })
  ///   default: .retry(after: .seconds(failure.number))
  ///   }
  /// }
  /// ```
  ///
  /// In all else it is ``retrying(attempts:backoff:within:when:)``. The label differs because a chain of
  /// overloads that differ in nothing but their closures takes exponential time to compile.
  ///
  /// - Parameters:
  ///   - attempts: How many attempts there are at most.
  ///   - backoff: What the closure is told about how long to wait.
  ///   - budget: How long the run may take before the last attempt begins; nil for any time.
  ///   - decide: Says what follows on an attempt that failed, if there may be another one. An error
  ///     that it throws is the run's.
  /// - Precondition: There is at least one attempt, and the budget is not negative.
  @inlinable public func retrying(
    upTo attempts: Int, backoff: Backoff = .none, within budget: Duration? = nil,
    deciding decide:
      nonisolated(nonsending) @escaping @Sendable (FailedAttempt) async throws ->
      RetryDecision<Success>
  ) -> some ComposableOperation<Success> {
    RetryingOperation(
      base: self,
      policy: RetryPolicy(attempts: attempts, backoff: backoff, budget: budget, decide: decide))
  }
}

/// When an operation that failed is tried again. A class, because few ask and every run would copy it.
@usableFromInline final class RetryPolicy<Success: Sendable>: Sendable {
  @usableFromInline typealias Decision =
    nonisolated(nonsending) @Sendable (FailedAttempt) async throws -> RetryDecision<Success>

  let attempts: Int
  let backoff: Backoff
  @usableFromInline let budget: Duration?
  let decide: Decision

  @usableFromInline init(
    attempts: Int, backoff: Backoff, budget: Duration?, decide: @escaping Decision
  ) {
    precondition(attempts >= 1, "`attempts` must be at least 1 (was \(attempts))")
    precondition(
      budget ?? .zero >= .zero, "`budget` must not be negative (was \(budget ?? .zero))")
    self.attempts = attempts
    self.backoff = backoff
    self.budget = budget
    self.decide = decide
  }
}

@usableFromInline
struct RetryingOperation<Base: ComposableOperation>: SeparateRun {
  @usableFromInline let base: Base
  @usableFromInline let policy: RetryPolicy<Base.Success>

  @inlinable init(base: Base, policy: RetryPolicy<Base.Success>) {
    self.base = base
    self.policy = policy
  }

  @inlinable nonisolated(nonsending) func performHeld(
    in context: OperationContext
  ) async throws -> HeldResult<Base.Success> {
    // The clock is read only where somebody counts the time.
    let stopwatch = policy.budget == nil ? nil : Stopwatch(context.clock)
    let end = await context.end(of: base)
    switch end.outcome {
    case .result(let value): return HeldResult(value, disposal: end.disposal)
    case .error(let error): return try await retry(after: error, in: context, since: stopwatch)
    case .cancelled: throw end.reason ?? CancellationError()
    }
  }

  @usableFromInline nonisolated(nonsending) func retry(
    after error: any Error, in context: OperationContext, since start: Stopwatch?
  ) async throws -> HeldResult<Base.Success> {
    var errors = [error]
    var delays = Backoff.Delays(policy.backoff)
    var randomness = context.randomness
    var operation: any ComposableOperation<Base.Success> = base
    var yields = YieldSchedule()
    while errors.count < policy.attempts, let last = errors.last {
      var delay = delays.delay(using: &randomness)
      if let advised = (last as? any RetryAdvising)?.retryDelay { delay = max(delay, advised) }
      let failure = FailedAttempt(number: errors.count, error: last, delay: delay)
      guard case .retry(let delay, let other) = try await decision(after: failure, of: errors)
      else { break }
      if let other { operation = other }
      await yields.stepEnded()
      if let budget = policy.budget, let start, start.elapsed + delay > budget { break }
      let attempt = errors.count + 1
      context.report(.retryScheduled(attempt: attempt, after: max(.zero, delay), because: last))
      do {
        try await context.pause(delay)
      } catch {
        let isCancellation = Task.isCancelled || error.meansCancellation
        // A clock that fails keeps the next attempt from beginning.
        if !isCancellation { errors.append(error) }
        throw RetryError(errors: errors, representsCancellation: isCancellation)
      }
      let end = await context.end(ofAny: operation, attempt: attempt)
      switch end.outcome {
      case .result(let value):
        // Nobody will see what the attempts before came to.
        giveUp(errors)
        return HeldResult(value, disposal: end.disposal)
      case .error(let error): errors.append(error)
      case .cancelled: throw cancellation(because: end.reason, after: errors)
      }
    }
    throw RetryError(errors: errors, representsCancellation: false)
  }

  private nonisolated(nonsending) func decision(
    after failure: FailedAttempt, of errors: [any Error]
  ) async throws -> RetryDecision<Base.Success> {
    do {
      return try await policy.decide(failure)
    } catch _ where Task.isCancelled {
      throw RetryError(errors: errors, representsCancellation: true)
    } catch {
      // The last one was the closure's, which may have thrown it on.
      giveUp(errors.dropLast())
      throw error
    }
  }

  /// The error that ends the run when an attempt after the first one was cancelled. A late value of
  /// the attempt is passed on, and the errors before it are discarded. A late error is added to those
  /// errors.
  private func cancellation(
    because reason: (any Error)?, after errors: [any Error]
  ) -> any Error {
    switch reason?.late(as: Base.Success.self) {
    case .result:
      giveUp(errors)
      return reason ?? CancellationError()
    case .error(let error):
      return RetryError(errors: errors + [error], representsCancellation: true)
    case .cancelled, nil: return RetryError(errors: errors, representsCancellation: true)
    }
  }

  private func giveUp(_ errors: some Sequence<any Error>) {
    for error in errors { error.discardCarriedValues() }
  }
}

extension OperationContext {
  /// Runs a child whose type is not known.
  fileprivate nonisolated(nonsending) func end<Success: Sendable>(
    ofAny child: any ComposableOperation<Success>, attempt: Int
  ) async -> RunEnd<Success> {
    await end(of: child, asAttempt: attempt)
  }

  /// Tells those who observe the run of something, unless it has ended.
  fileprivate func report(_ kind: @autoclosure () -> OperationEvent.Kind) {
    if let scope, scope.isObserved, !scope.hasEnded { scope.report(kind()) }
  }
}
