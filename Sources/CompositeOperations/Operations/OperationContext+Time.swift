extension OperationContext {
  /// The clock of the environment, if that is not a `ContinuousClock`, for which the process has a timer.
  @usableFromInline var customClock: (any Clock<Duration>)? { scope?.environment.customClock }

  /// Waits by the clock of the environment. What takes no time, or less, takes none.
  ///
  /// - Throws: `CancellationError` as soon as the task is cancelled, also where there is nothing to
  ///   wait for, and the error of a clock of the user.
  @usableFromInline nonisolated(nonsending) func wait(_ delay: Duration) async throws {
    try Task.checkCancellation()
    if delay <= .zero { return }
    if let customClock {
      // At most about a century: a clock may not be able to represent much later instants.
      try await customClock.sleep(for: min(delay, .seconds(3_000_000_000)))
    } else {
      try await TimerSleep.sleep(nanoseconds: delay.wholeNanoseconds)
    }
  }

  /// The same as a part of the run, whose observers see that it waits.
  @usableFromInline nonisolated(nonsending) func pause(_ delay: Duration) async throws {
    guard delay > .zero else { return try await wait(delay) }
    try await waiting(for: .time(delay)) { try await wait(delay) }
  }

  /// Tells those who observe the run that it waits while a body is performed.
  nonisolated(nonsending) func waiting<Value>(
    for wait: @autoclosure () -> OperationEvent.Wait,
    _ body: nonisolated(nonsending) () async throws -> Value
  ) async rethrows -> Value {
    guard let scope, scope.isObserved, !scope.hasEnded else { return try await body() }
    return try await scope.waiting(for: wait(), body)
  }
}

extension OperationScope {
  /// Tells that the run waits while a body is performed.
  nonisolated(nonsending) func waiting<Value>(
    for wait: OperationEvent.Wait, _ body: nonisolated(nonsending) () async throws -> Value
  ) async rethrows -> Value {
    report(.waitingBegan(for: wait))
    defer { report(.waitingEnded(for: wait)) }
    return try await body()
  }
}
