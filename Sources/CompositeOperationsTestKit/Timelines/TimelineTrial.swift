internal import CompositeOperations

/// One run of the composite of a timeline test, with its own clock and its own order.
struct TimelineTrial<Success: Sendable> {
  /// The observed behavior.
  struct Report: Sendable {
    let composite: Timeline
    let children: [Timeline]
    /// The outcome of the composite; nil if it did not end.
    let outcome: Outcome<Success>?
  }

  /// An operation that takes more ticks is treated as one without an end.
  private static var maximumTicks: Int { 1_000 }
  /// A tick that takes more jobs is treated as one without an end.
  private static var maximumJobs: Int { 1_000_000 }
  /// The number of the composite in the recorder; children are numbered from 0.
  private static var composite: Int { -1 }

  private let seed: UInt64
  private let recorder = TimelineRecorder()
  private let clock = ManualClock()
  private let executor: SeededExecutor

  init(seed: UInt64) {
    self.seed = seed
    executor = SeededExecutor(seed: seed)
  }

  /// - Parameter cancellationTick: When to cancel the composite from outside; nil for never.
  /// - Throws: A ``ScriptExhaustedError`` if a child was run more often than its script allows, and
  ///   a ``SeededExecutorStuckError`` if a tick did not end.
  func run(
    _ scripts: [TimelineScript], cancellingAt cancellationTick: Int?,
    by composing: ([AnyOperation<Int>]) -> AnyOperation<Success>
  ) throws -> Report {
    let children = scripts.enumerated().map { number, script in
      AnyOperation(TimelineChild(script, number: number, recorder: recorder))
    }
    let number = recorder.began(Self.composite)
    let run = composing(children).start(
      in: OperationEnvironment(clock: clock, randomness: .seeded(seed), executor: executor))
    defer {
      // Cancels the run even if a tick does not end, so that no task is left.
      run.cancel()
      executor.drain(upTo: 1_000)
    }
    let ending = Ending()
    Task(executorPreference: executor) { [recorder] in
      let outcome = await run.outcome
      let mark = ending.ended(outcome)
      recorder.happened(.ended(mark), to: number, of: Self.composite)
    }
    for tick in 0..<Self.maximumTicks {
      if tick == cancellationTick {
        // Just before the tick, so that nothing of the tick has happened yet.
        clock.advance(to: .init(offset: .seconds(tick) - .nanoseconds(1)))
        recorder.ticked(tick)
        if ending.outcome == nil {
          recorder.happened(.asked, to: number, of: Self.composite)
          ending.asked()
          run.cancel()
        }
        try drain()
      }
      recorder.ticked(tick)
      clock.advance(to: .init(offset: .seconds(tick)))
      try drain()
      while let deadline = clock.nextDeadline, deadline.offset < .seconds(tick + 1) {
        clock.advance(to: deadline)
        try drain()
      }
      if clock.sleeperCount == 0, tick >= cancellationTick ?? 0 { break }
    }
    let report = Report(
      composite: recorder.timeline(of: Self.composite),
      children: scripts.indices.map(recorder.timeline(of:)), outcome: ending.outcome)
    // Cancels the run so that no task waits forever.
    run.cancel()
    try drain()
    if let exhaustion = recorder.exhaustion { throw exhaustion }
    return report
  }

  private func drain() throws {
    let jobs = executor.drain(upTo: Self.maximumJobs)
    if jobs == Self.maximumJobs {
      throw SeededExecutorStuckError(seed: seed, jobs: jobs, isAtLimit: true)
    }
  }
}

extension TimelineTrial {
  /// The end of the composite, and whether it was cancelled from outside.
  private final class Ending: Sendable {
    private let state = Lock((outcome: Outcome<Success>?.none, wasAsked: false))

    var outcome: Outcome<Success>? { state.withLock { $0.outcome } }

    func asked() { state.withLock { $0.wasAsked = true } }

    func ended(_ outcome: Outcome<Success>) -> TimelineMark {
      state.withLock { state in
        state.outcome = outcome
        return switch outcome {
        case .result: .result
        case .error: .error
        case .cancelled: state.wasAsked ? .cancelled : .stops
        }
      }
    }
  }
}
