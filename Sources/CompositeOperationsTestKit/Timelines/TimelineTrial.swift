internal import CompositeOperations

/// One run of the composite of a timeline test, by a clock of its own and in an order of its own.
struct TimelineTrial<Success: Sendable> {
  /// What was seen.
  struct Report: Sendable {
    let composite: Timeline
    let children: [Timeline]
    /// How the composite ended; nil if it did not.
    let outcome: Outcome<Success>?
  }

  /// What goes on for more ticks goes on for ever.
  private static var maximumTicks: Int { 1_000 }
  /// A tick that takes more jobs does not end.
  private static var maximumJobs: Int { 1_000_000 }
  /// The composite among the operations that are recorded; its children are numbered from 0.
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
  /// - Throws: A ``ScriptExhaustedError`` if a child was run more often than its script says, and a
  ///   ``SeededExecutorStuckError`` if a tick did not end.
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
      // Also where a tick does not end, nobody is to be left behind.
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
        // A moment before the tick, so that nothing that it brings has come.
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
    // Nobody is to be left behind who waits for ever.
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
  /// How the composite ends, and whether that is because of somebody outside.
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
