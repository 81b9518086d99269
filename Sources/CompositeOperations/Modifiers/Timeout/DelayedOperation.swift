extension ComposableOperation {
  /// Delays the operation.
  ///
  /// A cancellation ends the wait at once. If the delay is zero or negative, there is no wait. If
  /// the clock throws, the run ends in its error.
  ///
  /// - Parameter delay: How long to wait, by the clock of the environment.
  @inlinable public func delayed(by delay: Duration) -> some ComposableOperation<Success> {
    DelayedOperation(base: self) { context in try await context.pause(delay) }
  }

  /// Delays the operation until an instant of a clock.
  ///
  /// A cancellation ends the wait at once. If the instant has passed, there is no wait. If the
  /// clock throws, the run ends in its error.
  ///
  /// - Parameters:
  ///   - moment: The instant at which the operation may begin.
  ///   - clock: The clock of the instant.
  public func delayed<Time: Clock>(
    until moment: Time.Instant, on clock: Time = ContinuousClock()
  ) -> some ComposableOperation<Success> where Time.Duration == Duration {
    DelayedOperation(base: self) { context in
      let delay = clock.now.duration(to: moment)
      if delay <= .zero { return }
      try await context.waiting(for: .moment) {
        if clock is ContinuousClock {
          try await TimerSleep.sleep(nanoseconds: delay.wholeNanoseconds)
        } else {
          try await clock.wait(until: moment)
        }
      }
    }
  }
}

@usableFromInline struct DelayedOperation<Base: ComposableOperation>: TransparentOperation {
  @usableFromInline typealias Wait =
    nonisolated(nonsending) @Sendable (OperationContext) async throws -> Void

  @usableFromInline let base: Base
  @usableFromInline let wait: Wait

  @inlinable init(base: Base, wait: @escaping Wait) {
    self.base = base
    self.wait = wait
  }

  @inlinable nonisolated(nonsending) func performHeld(
    in context: OperationContext
  ) async throws -> HeldResult<Base.Success> {
    try await wait(context)
    // The clock may have returned in spite of a cancellation.
    try Task.checkCancellation()
    return try await base.performHeld(in: context)
  }
}
