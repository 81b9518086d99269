extension OperationContext {
  /// The clock of the environment; nil for a `ContinuousClock`, for which the process's timer is
  /// used.
  @usableFromInline var customClock: (any Clock<Duration>)? { scope?.environment.customClock }

  /// Waits for a duration on the clock of the environment. Does not wait if it is zero or negative.
  ///
  /// - Throws: `CancellationError` as soon as the task is cancelled, even if there is nothing to
  ///   wait for, and any error of a custom clock.
  @usableFromInline nonisolated(nonsending) func wait(_ delay: Duration) async throws {
    try Task.checkCancellation()
    if delay <= .zero { return }
    if let customClock {
      // Limited to about a century: a clock may not be able to represent much later instants.
      try await customClock.sleep(for: min(delay, .seconds(3_000_000_000)))
    } else {
      try await TimerSleep.sleep(nanoseconds: delay.wholeNanoseconds)
    }
  }

  /// Waits like ``wait(_:)`` and reports the wait to the observers of the run.
  @usableFromInline nonisolated(nonsending) func pause(_ delay: Duration) async throws {
    guard delay > .zero else { return try await wait(delay) }
    try await waiting(for: .time(delay)) { try await wait(delay) }
  }

  /// Performs a body and reports to the observers of the run that it waits meanwhile.
  nonisolated(nonsending) func waiting<Value>(
    for wait: @autoclosure () -> OperationEvent.Wait,
    _ body: nonisolated(nonsending) () async throws -> Value
  ) async rethrows -> Value {
    guard let scope, scope.isObserved, !scope.hasEnded else { return try await body() }
    return try await scope.waiting(for: wait(), body)
  }
}
