extension ComposableOperation {
  /// Repeats the operation until its result satisfies a predicate.
  ///
  /// ```swift
  /// let finished = FetchStatus(job).repeating(backoff: .constant(.seconds(5))) { status in
  ///   status != .running
  /// }
  /// ```
  ///
  /// Each repetition is a separate run. The last result is the result of the run; the earlier ones
  /// are discarded. An error or a cancellation ends the run.
  ///
  /// - Parameters:
  ///   - times: How often the operation runs at most. The last result is accepted in any case.
  ///   - backoff: How long to wait before the next time, by the clock of the environment.
  ///   - isDone: Whether a result is accepted.
  /// - Precondition: `times` is at least 1.
  @inlinable public func repeating(
    times: Int = .max, backoff: Backoff = .none,
    until isDone: @escaping @Sendable (Success) -> Bool
  ) -> some ComposableOperation<Success> {
    RepeatingOperation(base: self, times: times, backoff: backoff, isDone: isDone)
  }

  /// Repeats the operation a number of times.
  ///
  /// The last result is the result of the run.
  ///
  /// - Parameters:
  ///   - times: How often the operation runs.
  ///   - backoff: How long to wait before the next time, by the clock of the environment.
  /// - Precondition: `times` is at least 1.
  @inlinable public func repeating(
    times: Int, backoff: Backoff = .none
  ) -> some ComposableOperation<Success> {
    repeating(times: times, backoff: backoff) { _ in false }
  }
}

@usableFromInline
struct RepeatingOperation<Base: ComposableOperation>: SeparateRun {
  @usableFromInline typealias Question = @Sendable (Base.Success) -> Bool

  @usableFromInline let base: Base
  @usableFromInline let times: Int
  @usableFromInline let backoff: Backoff
  @usableFromInline let hasDelays: Bool
  @usableFromInline let isDone: Question

  @usableFromInline var isRepeating: Bool { true }

  @usableFromInline init(
    base: Base, times: Int, backoff: Backoff, isDone: @escaping Question
  ) {
    precondition(times >= 1, "`times` must be at least 1 (was \(times))")
    self.base = base
    self.times = times
    self.backoff = backoff
    hasDelays = backoff.hasDelays
    self.isDone = isDone
  }

  @inlinable nonisolated(nonsending) func performHeld(
    in context: OperationContext
  ) async throws -> HeldResult<Base.Success> {
    let held = try await context.complete(base).held()
    if times == 1 || isDone(held.value) { return held }
    held.cleanup?()
    return try await performAgain(in: context)
  }

  // Inlinable: it calls an operation of a known type directly, in a fifth of the time.
  @inlinable nonisolated(nonsending) func performAgain(
    in context: OperationContext
  ) async throws -> HeldResult<Base.Success> {
    let pauses = hasDelays ? Pauses(backoff, context) : nil
    var left = times - 1
    var yields = YieldSchedule()
    while true {
      await yields.stepEnded()
      if let pauses {
        try await pauses.pause()
      } else if context.scope != nil {
        // A repetition that cannot begin is not reported. Without a scope, `complete` checks first.
        try Task.checkCancellation()
      }
      let held = try await context.complete(base).held()
      left -= 1
      if left == 0 || isDone(held.value) { return held }
      held.cleanup?()
    }
  }
}

/// The pauses of a run between two repetitions. A class, because most runs need none.
@usableFromInline final class Pauses {
  private let context: OperationContext
  private var delays: Backoff.Delays
  private var randomness: OperationRandomness

  @usableFromInline init(_ backoff: Backoff, _ context: OperationContext) {
    self.context = context
    delays = Backoff.Delays(backoff)
    randomness = context.randomness
  }

  @usableFromInline nonisolated(nonsending) func pause() async throws {
    try await context.pause(delays.delay(using: &randomness))
  }
}
