extension ComposableOperation {
  /// The same operation, which fails when it takes too long.
  ///
  /// When the time is over the body is cancelled, and the run ends in a ``TimeoutError``, whatever the
  /// body returns. A cancellation from outside still counts before that. Where no time is given, or
  /// less than none, the body does not begin.
  ///
  /// What the time covers follows from the place in the chain: one attempt here, and all attempts
  /// together there.
  ///
  /// ```swift
  /// fetch.timingOut(after: .seconds(10)).retrying(attempts: 3)
  /// fetch.retrying(attempts: 3).timingOut(after: .seconds(25))
  /// ```
  ///
  /// - Parameters:
  ///   - limit: How long the operation may take, by the clock of the environment.
  ///   - mode: What is to become of a body that has been cancelled.
  @inlinable public func timingOut(
    after limit: Duration, _ mode: TimeoutMode = .waiting
  ) -> some ComposableOperation<Success> {
    TimingOutOperation(base: self, limit: limit, mode: mode)
  }
}

/// What becomes of a body that took too long.
public enum TimeoutMode: Hashable, Sendable {
  /// The run ends when the body has returned, which it does soon if it minds its cancellation.
  case waiting
  /// The run ends at once, also when it is cancelled from outside, and leaves the body behind.
  ///
  /// The body goes on in a task of its own until it returns, and keeps what it took itself; permits that
  /// are taken around the timeout come back. ``OperationEvent/Kind/abandonedBodyEnded(_:)`` tells of its
  /// end. It is for what does not mind a cancellation, on a clock that does.
  case abandoning
}

/// The error of an operation that took too long.
public struct TimeoutError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The name of the operation.
  public let name: String
  /// How long it might have taken.
  public let limit: Duration

  /// - Parameters:
  ///   - name: What took too long.
  ///   - limit: How long it was allowed to take.
  public init(name: String, limit: Duration) {
    self.name = name
    self.limit = limit
  }

  public var description: String { "\(name) took longer than \(limit)" }
}

@usableFromInline struct TimingOutOperation<Base: ComposableOperation>: TransparentOperation {
  @usableFromInline let base: Base
  @usableFromInline let limit: Duration
  @usableFromInline let mode: TimeoutMode

  @inlinable init(base: Base, limit: Duration, mode: TimeoutMode) {
    self.base = base
    self.limit = limit
    self.mode = mode
  }

  @usableFromInline var expiry: TimeoutError { TimeoutError(name: operationName, limit: limit) }

  @inlinable nonisolated(nonsending) func performHeld(
    in context: OperationContext
  ) async throws -> HeldResult<Base.Success> {
    try Task.checkCancellation()
    guard limit > .zero else { throw expiry }
    switch mode {
    case .waiting: return try await performAwaited(in: context)
    case .abandoning: return try await performAbandoned(in: context)
    }
  }

  // Compiled with the type of the operation: what depends on it is half of the cost otherwise.
  @inlinable nonisolated(nonsending) func performAwaited(
    in context: OperationContext
  ) async throws -> HeldResult<Base.Success> {
    let memory = UnsafeMutablePointer<Base.Success>.allocate(capacity: 1)
    defer { unsafe memory.deallocate() }
    let slot = unsafe ResultSlot(at: memory)
    let contest = TimeoutContest()
    try? await withThrowingDiscardingTaskGroup { group in
      // Who throws ends the other one.
      if context.isTooDeep {
        let context = context.onFreshStack
        group.addTask { try await play(into: slot, in: context, against: contest) }
      } else {
        let context = context.oneDeeper
        group.addImmediateTask { try await play(into: slot, in: context, against: contest) }
      }
      // A body that did not wait is over, and needs no clock.
      if contest.isDecided { return }
      group.addImmediateTask { try await contest.wait(limit, in: context) }
    }
    switch contest.end {
    case .value(let disposal): return HeldResult(unsafe memory.move(), disposal: disposal)
    case .error(let error): throw error
    case .valueTooLate:
      unsafe memory.deinitialize(count: 1)
      throw expiry
    case .tooLate: throw expiry
    }
  }

  @inlinable nonisolated(nonsending) func play(
    into slot: ResultSlot, in context: OperationContext, against contest: TimeoutContest
  ) async throws {
    do {
      contest.bodyEnded(try await base.perform(into: slot, in: context))
    } catch {
      contest.bodyFailed(error)
    }
    throw TimeoutContest.Over()
  }

  @usableFromInline nonisolated(nonsending) func performAbandoned(
    in context: OperationContext
  ) async throws -> HeldResult<Base.Success> {
    let base = base
    let held = try await AbandonableBody.perform(in: context, within: limit) { context in
      try await base.performHeld(in: context)
    }
    guard let held else { throw expiry }
    return held
  }
}
