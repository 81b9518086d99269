extension ComposableOperation {
  /// Retries the operation while it fails, up to a number of attempts.
  ///
  /// ```swift
  /// let issues = FetchIssues(repository: repository)
  ///   .retrying(attempts: 3, backoff: .exponential(from: .milliseconds(100)).jittered())
  /// ```
  ///
  /// The number of attempts includes the first one. Each attempt is a separate run. A cancellation
  /// ends the run at once, also between two attempts, and is never retried. If a ``RetryAdvising``
  /// error requests a longer delay than the backoff, the next attempt waits for that delay. If no
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
    retrying(
      RetryPolicy(attempts: attempts, backoff: backoff, within: budget, when: isWorthwhile))
  }

  /// Retries the operation while it fails, by a policy.
  ///
  /// It behaves like ``retrying(attempts:backoff:within:when:)``, except that the policy determines
  /// the error of a run whose attempts have all failed.
  ///
  /// - Parameter policy: How often, when and after which errors to make another attempt.
  @inlinable public func retrying(_ policy: RetryPolicy) -> some ComposableOperation<Success> {
    RetryingOperation(base: self, plan: RetryPlan(policy: policy, decide: nil))
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
  /// In all other respects, it behaves like ``retrying(attempts:backoff:within:when:)``. The label
  /// differs because a chain of overloads that differ only in their closures takes exponential time
  /// to compile.
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
    let policy = RetryPolicy(attempts: attempts, backoff: backoff, within: budget)
    return retrying(policy, deciding: decide)
  }

  /// Retries the operation while it fails, as a closure decides within the limits of a policy.
  ///
  /// It behaves like ``retrying(upTo:backoff:within:deciding:)``. The closure is called after the
  /// errors for which the policy permits another attempt.
  ///
  /// - Parameters:
  ///   - policy: The limits, and the error of a run whose attempts have all failed.
  ///   - decide: Decides what follows a failed attempt. An error that it throws ends the run.
  @inlinable public func retrying(
    _ policy: RetryPolicy,
    deciding decide:
      nonisolated(nonsending) @escaping @Sendable (FailedAttempt) async throws ->
      RetryDecision<Success>
  ) -> some ComposableOperation<Success> {
    RetryingOperation(base: self, plan: RetryPlan(policy: policy, decide: decide))
  }
}

/// A policy with its closure. A class, because every run would copy a struct and few runs read it.
@usableFromInline final class RetryPlan<Success: Sendable>: Sendable {
  @usableFromInline typealias Decision =
    nonisolated(nonsending) @Sendable (FailedAttempt) async throws -> RetryDecision<Success>

  let policy: RetryPolicy
  /// Decides about another attempt that the policy permits; nil to follow the policy.
  let decide: Decision?
  @usableFromInline let hasBudget: Bool

  @usableFromInline init(policy: RetryPolicy, decide: Decision?) {
    self.policy = policy
    self.decide = decide
    hasBudget = policy.budget != nil
  }

  /// Returns the error of a run that ends after failed attempts.
  func error(after errors: [any Error]) -> any Error {
    switch policy.finalError {
    case .allAttempts: return RetryError(errors: errors, representsCancellation: false)
    case .lastAttempt: return lastError(of: errors)
    }
  }

  /// Returns the error of a run that is cancelled after failed attempts.
  func cancellation(after errors: [any Error]) -> any Error {
    switch policy.finalError {
    case .allAttempts: return RetryError(errors: errors, representsCancellation: true)
    case .lastAttempt: return lastError(of: errors).asCancellation
    }
  }

  private func lastError(of errors: [any Error]) -> any Error {
    guard let last = errors.last else { preconditionFailure("no attempt has failed") }
    discard(errors.dropLast())
    return last
  }

  func discard(_ errors: some Sequence<any Error>) {
    for error in errors { error.discardCarriedValues() }
  }
}

@usableFromInline
struct RetryingOperation<Base: ComposableOperation>: SeparateRun {
  @usableFromInline let base: Base
  @usableFromInline let plan: RetryPlan<Base.Success>

  @inlinable init(base: Base, plan: RetryPlan<Base.Success>) {
    self.base = base
    self.plan = plan
  }

  @inlinable nonisolated(nonsending) func performHeld(
    in context: OperationContext
  ) async throws -> HeldResult<Base.Success> {
    // The clock is read only if there is a budget.
    let stopwatch = plan.hasBudget ? Stopwatch(context.clock) : nil
    let completion = await context.complete(base)
    if let error = completion.error {
      return try await retry(after: error, in: context, since: stopwatch)
    }
    return try completion.held()
  }

  @usableFromInline nonisolated(nonsending) func retry(
    after error: any Error, in context: OperationContext, since start: Stopwatch?
  ) async throws -> HeldResult<Base.Success> {
    let policy = plan.policy
    var errors = [error]
    var delays = Backoff.Delays(policy.backoff)
    var randomness = context.randomness
    var operation: any ComposableOperation<Base.Success> = base
    var yields = YieldSchedule()
    while errors.count < policy.attempts, let last = errors.last {
      var delay = delays.delay(using: &randomness)
      if let advised = (last as? any RetryAdvising)?.retryDelay { delay = max(delay, advised) }
      let isAdvised = (last as? any RetryAdvising)?.retryDelay != nil
      let jitter = isAdvised ? Double.random(in: 0...1, using: &randomness) : 0
      let failure = FailedAttempt(number: errors.count, error: last, delay: delay, jitter: jitter)
      guard policy.isWorthwhile(last),
        case .retry(let delay, let other) = try await decision(after: failure, of: errors)
      else { break }
      if let other { operation = other }
      await yields.stepEnded()
      if let budget = policy.budget, let start, start.elapsed + delay > budget { break }
      let attempt = errors.count + 1
      context.report(.retryScheduled(attempt: attempt, after: max(.zero, delay), because: last))
      do {
        try await context.pause(delay)
      } catch {
        if Task.isCancelled || error.meansCancellation { throw plan.cancellation(after: errors) }
        // After an error of the clock, no attempt follows.
        throw plan.error(after: errors + [error])
      }
      let completion = await context.forAttempt(attempt).complete(any: operation, attempt: attempt)
      switch completion.outcome {
      case .result(let value):
        // No caller receives the errors of the earlier attempts.
        plan.discard(errors)
        return HeldResult(value, cleanup: completion.cleanup)
      case .error(let error): errors.append(error)
      case .cancelled: throw cancellation(completion, after: errors)
      }
    }
    throw plan.error(after: errors)
  }

  private nonisolated(nonsending) func decision(
    after failure: FailedAttempt, of errors: [any Error]
  ) async throws -> RetryDecision<Base.Success> {
    guard let decide = plan.decide else { return .retry(after: failure.delay) }
    do {
      return try await decide(failure)
    } catch _ where Task.isCancelled {
      throw plan.cancellation(after: errors)
    } catch {
      // The closure has received the last error, and may have rethrown it.
      plan.discard(errors.dropLast())
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
      plan.discard(errors)
      return completion.errorToPassOn
    case .error(let error): return plan.cancellation(after: errors + [error])
    case .cancelled, nil: return plan.cancellation(after: errors)
    }
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
  func report(_ kind: @autoclosure () -> OperationEvent.Kind) {
    if let scope, scope.isObserved, !scope.hasEnded { scope.report(kind()) }
  }
}

/// The time on a clock since the stopwatch was created.
@usableFromInline package struct Stopwatch: Sendable {
  private let read: @Sendable () -> Duration

  @usableFromInline package init(_ clock: some Clock<Duration>) {
    let start = clock.now
    read = { start.duration(to: clock.now) }
  }

  package var elapsed: Duration { read() }
}
