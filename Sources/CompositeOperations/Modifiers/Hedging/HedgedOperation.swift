extension ComposableOperation {
  /// Begins another attempt of the operation while the earlier ones still run, and ends with the
  /// first result.
  ///
  /// ```swift
  /// let page = FetchPage(url).hedged(after: .milliseconds(50))
  /// ```
  ///
  /// Use it against rare slow answers: most runs make one attempt, and a slow one is overtaken by
  /// the next. The operation must be safe to run twice at the same time.
  ///
  /// Another attempt begins when the delay has passed since the last one began, or immediately when
  /// an attempt fails; if the error advises a delay (``RetryAdvising``), none begins before that.
  /// Each attempt is a separate run. The first result cancels the other attempts. The run ends when
  /// all of them have ended, and their results are discarded: by the `discarding` of the operation,
  /// and not by one that is added after this modifier, which knows only the result of the run.
  ///
  /// If all attempts fail, the run ends in a ``RetryError`` with the error of every attempt. An
  /// attempt that cancels itself cancels the others, and the run ends as cancelled. If the clock
  /// throws, the attempts are cancelled, and its error is the last one of the ``RetryError``. The
  /// clock must react to a cancellation: the run does not end while the clock sleeps.
  ///
  /// - Parameters:
  ///   - delay: The time from the beginning of an attempt to the beginning of the next one, by the
  ///     clock of the environment. If it is zero or negative, all attempts begin immediately.
  ///   - attempts: The maximum number of attempts, including the first one.
  ///   - isWorthwhile: Whether other attempts may succeed after an error. If not, the run cancels
  ///     them and ends.
  /// - Precondition: `attempts` is at least 1.
  @inlinable public func hedged(
    after delay: Duration, attempts: Int = 2,
    when isWorthwhile: @escaping @Sendable (any Error) -> Bool = { _ in true }
  ) -> some ComposableOperation<Success> {
    HedgedOperation(base: self, delay: delay, attempts: attempts, isWorthwhile: isWorthwhile)
  }
}

@usableFromInline
struct HedgedOperation<Base: ComposableOperation>: SeparateRun {
  @usableFromInline let base: Base
  private let delay: Duration
  private let attempts: Int
  private let isWorthwhile: @Sendable (any Error) -> Bool

  @usableFromInline init(
    base: Base, delay: Duration, attempts: Int,
    isWorthwhile: @escaping @Sendable (any Error) -> Bool
  ) {
    precondition(attempts >= 1, "`attempts` must be at least 1 (was \(attempts))")
    self.base = base
    self.delay = delay
    self.attempts = attempts
    self.isWorthwhile = isWorthwhile
  }

  @usableFromInline nonisolated(nonsending) func performHeld(
    in context: OperationContext
  ) async throws -> HeldResult<Base.Success> {
    let hedge = Hedge<Base.Success>(attempts: attempts)
    if context.isTooDeep {
      await UnstructuredTasks.run { await compete(in: context.onFreshStack, for: hedge) }
    } else {
      await compete(in: context.oneDeeper, for: hedge)
    }
    return try hedge.held(isCancelled: Task.isCancelled)
  }

  /// Runs the attempts and returns when all that began have ended.
  private nonisolated(nonsending) func compete(
    in context: OperationContext, for hedge: Hedge<Base.Success>
  ) async {
    await withTaskCancellationHandler {
      // The attempt that throws cancels the others.
      try? await withThrowingDiscardingTaskGroup { group in
        var pause = HedgePause(delay: delay, clock: context.clock)
        while !Task.isCancelled, let attempt = hedge.beginAttempt() {
          // Not an immediate task: if it computed, the next attempt could not begin.
          group.addTask { try await run(attempt, in: context, for: hedge) }
          if await !waitForNext(after: &pause, in: context, for: hedge) { break }
        }
        if hedge.isOver { group.cancelAll() }
      }
    } onCancel: {
      hedge.stop()
    }
  }

  /// Runs an attempt.
  ///
  /// - Throws: ``Hedge/Over`` if the other attempts must be cancelled.
  private nonisolated(nonsending) func run(
    _ attempt: Int, in context: OperationContext, for hedge: Hedge<Base.Success>
  ) async throws {
    let attemptContext = context.forConcurrentAttempt(attempt)
    let completion = await attemptContext.complete(base, asAttempt: attempt)
    let isFinal = completion.error.map { !isWorthwhile($0) } ?? false
    if hedge.ended(attempt, in: completion, isFinal: isFinal) { throw Hedge<Base.Success>.Over() }
  }

  /// Waits until the next attempt may begin.
  ///
  /// - Returns: Whether there is one.
  private nonisolated(nonsending) func waitForNext(
    after pause: inout HedgePause, in context: OperationContext, for hedge: Hedge<Base.Success>
  ) async -> Bool {
    guard hedge.hasAttemptLeft else { return false }
    var time = pause.afterBeginning
    while true {
      switch await hedge.wait(for: time, by: context.customClock) {
      case .over: return false
      case .timePassed: return true
      case .failed(let error):
        time = pause.after(error)
        context.report(
          .retryScheduled(attempt: hedge.nextAttempt, after: max(.zero, time), because: error))
        if time <= .zero { return true }
      }
    }
  }
}

/// How long to wait for the next attempt.
private struct HedgePause {
  let delay: Duration
  let clock: any Clock<Duration>
  /// Until when errors advise to begin no attempt, since a stopwatch was started.
  private var blocked: (stopwatch: Stopwatch, until: Duration)?

  init(delay: Duration, clock: any Clock<Duration>) {
    self.delay = delay
    self.clock = clock
  }

  private var advised: Duration { blocked.map { $0.until - $0.stopwatch.elapsed } ?? .zero }

  /// The time to wait after an attempt has begun.
  var afterBeginning: Duration { max(delay, advised) }

  /// Returns the time to wait after an attempt has failed.
  mutating func after(_ error: any Error) -> Duration {
    guard let delay = (error as? any RetryAdvising)?.retryDelay else { return advised }
    let stopwatch = blocked?.stopwatch ?? Stopwatch(clock)
    blocked = (stopwatch, max(blocked?.until ?? .zero, stopwatch.elapsed + delay))
    return advised
  }
}
