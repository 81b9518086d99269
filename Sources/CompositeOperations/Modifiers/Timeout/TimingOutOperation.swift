extension ComposableOperation {
  /// Fails if the operation takes longer than a limit.
  ///
  /// When the limit is reached, the body is cancelled. When the body has returned, the run ends in
  /// a ``TimeoutError``, whatever the body returned. A cancellation of the run takes precedence
  /// over the timeout. If the limit is zero or negative, the body does not begin.
  ///
  /// The limit covers the part of the chain before it. Here, the first line limits each attempt,
  /// and the second all attempts together:
  ///
  /// ```swift
  /// fetch.timingOut(after: .seconds(10)).retrying(attempts: 3)
  /// fetch.retrying(attempts: 3).timingOut(after: .seconds(25))
  /// ```
  ///
  /// - Parameters:
  ///   - limit: How long the operation may take, by the clock of the environment.
  ///   - mode: Whether the run waits for a body that has been cancelled.
  @inlinable public func timingOut(
    after limit: Duration, _ mode: TimeoutMode = .waiting
  ) -> some ComposableOperation<Success> {
    TimingOutOperation(
      base: self, limit: .after(limit, nanoseconds: limit.wholeNanoseconds), mode: mode)
  }

  /// Fails if the operation has not ended by an instant of a clock.
  ///
  /// ```swift
  /// let deadline = ContinuousClock.now + .seconds(30)
  /// let pages = ParallelOperation(urls.map { FetchPage($0).timingOut(until: deadline) })
  /// ```
  ///
  /// In all other respects, it behaves like ``timingOut(after:_:)``. The limit of the
  /// ``TimeoutError`` is the time that was left when the run began. If the instant has passed by
  /// then, the body does not begin.
  ///
  /// - Parameters:
  ///   - moment: The instant by which the operation must have ended.
  ///   - clock: The clock of the instant.
  ///   - mode: Whether the run waits for a body that has been cancelled.
  public func timingOut<Time: Clock>(
    until moment: Time.Instant, on clock: Time = ContinuousClock(), _ mode: TimeoutMode = .waiting
  ) -> some ComposableOperation<Success> where Time.Duration == Duration {
    TimingOutOperation(
      base: self, limit: .until { TimeLimit(until: moment, on: clock) }, mode: mode)
  }
}

/// Whether a run waits for a body that took too long.
public enum TimeoutMode: Hashable, Sendable {
  /// The run ends when the cancelled body has returned.
  case waiting
  /// The run abandons the body and ends at once when the limit is reached or the run is cancelled.
  ///
  /// The body continues in a task of its own until it returns, and keeps the permits that it took
  /// itself; permits that are taken around the timeout are given back.
  /// ``OperationEvent/Kind/abandonedBodyEnded(_:)`` reports its end. Use this mode for a body that
  /// ignores its cancellation. The clock must react to a cancellation:
  ///
  /// ```swift
  /// let quick = fetch.timingOut(after: .seconds(5), .abandoning)
  /// ```
  case abandoning
}

/// The error of an operation that took too long.
///
/// ```swift
/// if case .error(let error as TimeoutError) = await fetch.timingOut(after: .seconds(5)).run() {
///   print("\(error.name) took longer than \(error.limit)")
/// }
/// ```
public struct TimeoutError: Error, Hashable, Codable, Sendable, CustomStringConvertible {
  /// The name of the operation.
  public let name: String
  /// How long the operation was allowed to take.
  public let limit: Duration

  /// Creates a timeout error.
  ///
  /// - Parameters:
  ///   - name: The name of the operation.
  ///   - limit: How long the operation was allowed to take.
  public init(name: String, limit: Duration) {
    self.name = name
    self.limit = limit
  }

  public var description: String { "timeout: '\(name)' took longer than \(limit)" }
}

@usableFromInline struct TimingOutOperation<Base: ComposableOperation>: TransparentOperation {
  @usableFromInline enum Limit: Sendable {
    /// By the clock of the environment. The nanoseconds are stored so that a run need not compute
    /// them.
    case after(Duration, nanoseconds: Int64)
    /// By a clock of its own. Evaluated at the beginning of a run.
    case until(@Sendable () -> TimeLimit)
  }

  @usableFromInline let base: Base
  @usableFromInline let limit: Limit
  @usableFromInline let mode: TimeoutMode

  @inlinable init(base: Base, limit: Limit, mode: TimeoutMode) {
    self.base = base
    self.limit = limit
    self.mode = mode
  }

  @usableFromInline func expiry(_ limit: Duration) -> TimeoutError {
    TimeoutError(name: operationName, limit: limit)
  }

  @inlinable nonisolated(nonsending) func performHeld(
    in context: OperationContext
  ) async throws -> HeldResult<Base.Success> {
    try Task.checkCancellation()
    if case .after(let duration, let nanoseconds) = limit, nanoseconds > 0, mode == .waiting,
      context.customClock == nil
    {
      return try await performTimed(within: nanoseconds, duration, in: context)
    }
    let limit = timeLimit(in: context)
    guard limit.nanoseconds > 0 else { throw expiry(limit.duration) }
    switch mode {
    case .waiting: return try await performTimed(within: limit, in: context)
    case .abandoning: return try await performAbandoned(within: limit, in: context)
    }
  }

  @usableFromInline func timeLimit(in context: OperationContext) -> TimeLimit {
    switch limit {
    case .after(let duration, _): TimeLimit(duration, by: context.customClock)
    case .until(let limit): limit()
    }
  }

  // Inlinable, to be specialized for the type of the operation: the generic parts would otherwise
  // be half of the cost.
  @inlinable nonisolated(nonsending) func performTimed(
    within nanoseconds: Int64, _ duration: Duration, in context: OperationContext
  ) async throws -> HeldResult<Base.Success> {
    let memory = UnsafeMutablePointer<Base.Success>.allocate(capacity: 1)
    defer { unsafe memory.deallocate() }
    let slot = unsafe ResultSlot(at: memory)
    let contest = TimeoutContest(alarm: nil, in: context)
    contest.start(nanoseconds)
    let context = context.limited(by: contest)
    await withDiscardingTaskGroup { group in
      if context.isTooDeep {
        let context = context.onFreshStack
        group.addImmediateTask {
          await UnstructuredTasks.run { await play(into: slot, in: context, against: contest) }
        }
      } else {
        let context = context.oneDeeper
        group.addImmediateTask { await play(into: slot, in: context, against: contest) }
      }
    }
    context.timeoutEnded()
    return try unsafe result(of: contest, in: memory, within: duration)
  }

  /// The same with any clock.
  @usableFromInline nonisolated(nonsending) func performTimed(
    within limit: TimeLimit, in context: OperationContext
  ) async throws -> HeldResult<Base.Success> {
    guard let alarm = limit.alarm else {
      return try await performTimed(within: limit.nanoseconds, limit.duration, in: context)
    }
    let memory = UnsafeMutablePointer<Base.Success>.allocate(capacity: 1)
    defer { unsafe memory.deallocate() }
    let slot = unsafe ResultSlot(at: memory)
    let contest = TimeoutContest(alarm: alarm, in: context)
    let context = context.limited(by: contest)
    // The task that throws ends the other one.
    try? await withThrowingDiscardingTaskGroup { group in
      // First, because a body that does not wait keeps tasks that are added after it from
      // beginning.
      if Task.hasPreferredExecutor {
        group.addImmediateTask { try await contest.sleep() }
      } else {
        group.addImmediateTask(executorPreference: HandlerExecutor.shared) {
          try await contest.sleep()
        }
      }
      if context.isTooDeep {
        let context = context.onFreshStack
        group.addImmediateTask {
          await UnstructuredTasks.run { await play(into: slot, in: context, against: contest) }
          throw TimeoutContest.Over()
        }
      } else {
        let context = context.oneDeeper
        group.addImmediateTask {
          await play(into: slot, in: context, against: contest)
          throw TimeoutContest.Over()
        }
      }
    }
    context.timeoutEnded()
    return try unsafe result(of: contest, in: memory, within: limit.duration)
  }

  /// Returns how the run ends after all tasks of the contest have ended.
  @inlinable func result(
    of contest: TimeoutContest, in memory: UnsafeMutablePointer<Base.Success>,
    within limit: Duration
  ) throws -> HeldResult<Base.Success> {
    switch contest.end {
    case .value(let cleanup, let wasCancelled):
      let held = HeldResult(unsafe memory.move(), cleanup: cleanup)
      // The body has cancelled its own task, and not the task of the run.
      if wasCancelled, !Task.isCancelled { throw held.asCancellation }
      return held
    case .error(let error, let wasCancelled):
      throw wasCancelled && !Task.isCancelled ? error.asCancellation : error
    case .tooLate(let hasValue, let clockError):
      if hasValue { unsafe memory.deinitialize(count: 1) }
      throw clockError ?? expiry(limit)
    }
  }

  @inlinable nonisolated(nonsending) func play(
    into slot: ResultSlot, in context: OperationContext, against contest: TimeoutContest
  ) async {
    guard contest.bodyBegins() else { return }
    do {
      let cleanup = try await base.perform(into: slot, in: context)
      contest.bodyEnded(cleanup, wasCancelled: Task.isCancelled)
    } catch {
      contest.bodyFailed(error, wasCancelled: Task.isCancelled)
    }
    if contest.isBeingCancelled { await contest.waitUntilCancelled() }
  }

  @usableFromInline nonisolated(nonsending) func performAbandoned(
    within limit: TimeLimit, in context: OperationContext
  ) async throws -> HeldResult<Base.Success> {
    let base = base
    let deadline = EnclosingDeadline(of: limit, in: context)
    let context = context.limited(by: deadline)
    defer { context.timeoutEnded() }
    let held = try await AbandonableBody.perform(in: context, within: limit) { context in
      try await base.performHeld(in: context)
    }
    guard let held else { throw expiry(limit.duration) }
    return held
  }
}
