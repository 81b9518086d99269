extension ComposableOperation {
  /// The same operation, begun later.
  ///
  /// A cancellation ends the wait at once. What takes no time at all, or less, does not wait.
  ///
  /// - Parameter delay: How long to wait before it begins, by the clock of the environment.
  @inlinable public func delayed(by delay: Duration) -> some ComposableOperation<Success> {
    DelayedOperation(base: self) { context in try await context.pause(delay) }
  }

  /// The same operation, begun when a clock has come to a moment.
  ///
  /// A cancellation ends the wait at once. A moment that has passed is not waited for.
  ///
  /// - Parameters:
  ///   - moment: When it may begin.
  ///   - clock: The clock whose moment that is.
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
          try await clock.sleep(until: moment, tolerance: nil)
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
    // A clock may have come to its moment and not to our cancellation.
    try Task.checkCancellation()
    return try await base.performHeld(in: context)
  }
}
