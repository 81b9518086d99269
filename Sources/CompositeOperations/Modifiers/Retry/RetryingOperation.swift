extension ComposableOperation {
  /// Retries the operation while it fails, up to a number of attempts.
  ///
  /// ```swift
  /// let issues = FetchIssues(repository: repository)
  ///   .retrying(attempts: 3, backoff: .exponential(from: .milliseconds(100)).jittered())
  /// ```
  ///
  /// The number of attempts includes the first one. Each attempt is a separate run. A cancellation
  /// ends the run at once, also between two attempts, and is never retried. After an error that is
  /// ``RetryAdvising``, the next attempt waits for the advised delay if that is longer. If no
  /// attempt has a result, the run ends in a ``RetryError``.
  ///
  /// - Parameters:
  ///   - attempts: The maximum number of attempts.
  ///   - backoff: How long to wait before the next attempt, by the clock of the environment.
  ///   - budget: How long after the start of the run an attempt may begin; nil for any time.
  ///   - isWorthwhile: Whether to retry after an error.
  /// - Precondition: `attempts` is at least 1, and `budget` is not negative.
  @inlinable public func retrying(
    attempts: Int, backoff: Backoff = .none, within budget: Duration? = nil,
    when isWorthwhile: @escaping @Sendable (any Error) -> Bool = { _ in true }
  ) -> some ComposableOperation<Success> {
    retrying(upTo: attempts, backoff: backoff, within: budget) { failure in
      isWorthwhile(failure.error) ? .retry(after: failure.delay) : .stop
    }
  }

  /// Retries the operation while it fails, as a closure decides.
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
  /// Otherwise it behaves like ``retrying(attempts:backoff:within:when:)``. The label differs
  /// because a chain of overloads that differ only in their closures takes exponential time to
  /// compile.
  ///
  /// - Parameters:
  ///   - attempts: The maximum number of attempts.
  ///   - backoff: The source of ``FailedAttempt/delay``.
  ///   - budget: How long after the start of the run an attempt may begin; nil for any time.
  ///   - decide: Decides what follows a failed attempt, if another attempt is allowed. An error
  ///     that it throws ends the run.
  /// - Precondition: `attempts` is at least 1, and `budget` is not negative.
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

/// The policy of a retry. A class, because every run would copy a struct and few runs read it.
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
    // The clock is read only if there is a budget.
    let stopwatch = policy.budget == nil ? nil : Stopwatch(context.clock)
    let completion = await context.complete(base)
    if let error = completion.error {
      return try await retry(after: error, in: context, since: stopwatch)
    }
    return try completion.held()
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
        // After an error of the clock, no attempt follows.
        if !isCancellation { errors.append(error) }
        throw RetryError(errors: errors, representsCancellation: isCancellation)
      }
      let completion = await context.complete(any: operation, attempt: attempt)
      switch completion.outcome {
      case .result(let value):
        // No caller receives the errors of the earlier attempts.
        discard(errors)
        return HeldResult(value, cleanup: completion.cleanup)
      case .error(let error): errors.append(error)
      case .cancelled: throw cancellation(completion, after: errors)
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
      // The closure has received the last error, and may have rethrown it.
      discard(errors.dropLast())
      throw error
    }
  }

  /// The error that ends the run when an attempt after the first one was cancelled. A late value of
  /// the attempt is passed on, and the errors before it are discarded. A late error is added to
  /// these errors.
  private func cancellation(
    _ completion: Completion<Base.Success>, after errors: [any Error]
  ) -> any Error {
    switch completion.lateOutcome {
    case .result:
      discard(errors)
      return completion.errorToPassOn
    case .error(let error):
      return RetryError(errors: errors + [error], representsCancellation: true)
    case .cancelled, nil: return RetryError(errors: errors, representsCancellation: true)
    }
  }

  private func discard(_ errors: some Sequence<any Error>) {
    for error in errors { error.discardCarriedValues() }
  }
}

extension OperationContext {
  /// Runs a child whose type is only known at run time.
  fileprivate nonisolated(nonsending) func complete<Success: Sendable>(
    any child: any ComposableOperation<Success>, attempt: Int
  ) async -> Completion<Success> {
    await complete(child, asAttempt: attempt)
  }

  /// Reports an event to the observers of the run, unless it has ended.
  fileprivate func report(_ kind: @autoclosure () -> OperationEvent.Kind) {
    if let scope, scope.isObserved, !scope.hasEnded { scope.report(kind()) }
  }
}

/// The time on a clock since the stopwatch was created.
@usableFromInline struct Stopwatch: Sendable {
  private let read: @Sendable () -> Duration

  @usableFromInline init(_ clock: some Clock<Duration>) {
    let start = clock.now
    read = { start.duration(to: clock.now) }
  }

  var elapsed: Duration { read() }
}
