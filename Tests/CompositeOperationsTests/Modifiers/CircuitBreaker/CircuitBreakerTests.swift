import CompositeOperations
import CompositeOperationsTestKit
import Testing

@Suite(.timeLimit(.minutes(10))) struct CircuitBreakerTests {
  let clock = ManualClock()
  var environment: OperationEnvironment { OperationEnvironment(clock: clock) }

  static let failed = TestError("failed")
  static let notFound = TestError("not found")

  static func breaker(
    failures: Int = 1, ofLast runs: Int? = nil, probes: Int = 1
  ) -> CircuitBreaker {
    CircuitBreaker(
      opensAfterFailures: failures, ofLast: runs, halfOpensAfter: .seconds(30), probes: probes,
      name: "server"
    ) { error in error as? TestError != notFound }
  }

  /// Returns a body that ends in a result, an error, or by cancelling itself.
  static func body(_ end: Character) -> SimpleOperation<Int> {
    SimpleOperation {
      switch end {
      case "r": return 1
      case "n": throw notFound
      case "c": throw CancellationError()
      default: throw failed
      }
    }
  }

  func run(_ end: Character, _ breaker: CircuitBreaker) async -> Outcome<Int> {
    await Self.body(end).guarded(by: breaker).run(in: environment)
  }

  // MARK: Opening

  /// The ends of runs: a result, a failure, an error that is not a failure, or a cancellation.
  private static let programs: [(failures: Int, ofLast: Int?, ends: String, opens: Bool)] = [
    (1, nil, "f", true), (1, nil, "rrncr", false), (3, nil, "fff", true),
    (3, nil, "ffrff", false), (3, nil, "ffrfff", true), (3, nil, "ffcf", true),
    (3, nil, "ffnff", false), (3, 5, "frfrf", true), (3, 5, "frfrrf", false),
    (3, 5, "frrrffrrrf", false), (3, 5, "frrrffrf", true), (2, 4, "fcccccf", true),
    (2, 4, "fnnnf", false), (2, 4, "fnnf", true), (10, 20, "rfrfrfrfrfrfrfrfrfrf", true),
    (.max, nil, "ffff", false), (.max, .max, "ffff", false), (2, .max, "frrrf", true),
    (.max - 1, .max, "ffff", false),
  ]

  @Test(arguments: programs.indices)
  func `Q4: a number of failures among the last runs opens the circuit breaker`(index: Int) async {
    let program = Self.programs[index]
    let breaker = Self.breaker(failures: program.failures, ofLast: program.ofLast)
    for end in program.ends {
      #expect(breaker.state == .closed, "\(program)")
      #expect(!(await run(end, breaker).error is CircuitOpenError), "\(program)")
    }
    #expect(breaker.state == (program.opens ? .open : .closed), "\(program)")
  }

  @Test func `Q4: an open circuit breaker refuses runs before their bodies begin`() async throws {
    let breaker = Self.breaker()
    _ = await run("f", breaker)
    let began = Flag()
    let operation = SimpleOperation { began.set() }.guarded(by: breaker)
    for seconds in [30, 29, 1] {
      clock.advance(to: ManualClock.Instant(offset: .seconds(30 - seconds)))
      let error = await operation.run(in: environment).error as? CircuitOpenError
      #expect(
        error
          == CircuitOpenError(
            name: "server", state: .open, timeUntilProbe: .seconds(seconds)))
      #expect(error?.retryDelay == .seconds(seconds))
      #expect(
        error?.description
          == "circuit breaker 'server' is open after failures: the next probe may begin in "
          + "\(seconds).0 seconds")
    }
    #expect(!began.isSet)
    #expect(breaker.state == .open)
  }

  @Test func `Q4: runs that began in an earlier state do not count`() async throws {
    let breaker = Self.breaker()
    let gates = (0..<4).map { _ in Gate() }
    let old = ["f", "r", "c", "f"].enumerated().map { index, end in
      SimpleOperation.withContext { context in
        try await gates[index].pass()
        return try await context.run(Self.body(Character(end)))
      }.guarded(by: breaker).start(in: environment)
    }
    func endOld(_ index: Int) async {
      gates[index].open()
      _ = await old[index].outcome
    }
    for gate in gates { await gate.waitForArrivals(1) }
    _ = await run("f", breaker)
    await endOld(0)
    clock.advance(by: .seconds(30))
    let gate = Gate()
    let probe = SimpleOperation { try await gate.pass() }.guarded(by: breaker)
      .start(in: environment)
    await gate.waitForArrivals(1)
    await endOld(1)
    #expect(breaker.state == .halfOpen)
    // The cancellation of an old run gives no place to another probe.
    await endOld(2)
    #expect(await run("r", breaker).error is CircuitOpenError)
    gate.open()
    _ = try await probe.outcome.get()
    #expect(breaker.state == .closed)
    await endOld(3)
    #expect(breaker.state == .closed)
    // A failure before the circuit breaker opened is forgotten when it has closed.
    let twice = Self.breaker(failures: 2, ofLast: 3)
    for end in "ff" { _ = await run(end, twice) }
    clock.advance(by: .seconds(30))
    for end in "rf" { _ = await run(end, twice) }
    #expect(twice.state == .closed)
  }

  @Test func `Q4: a cancelled run is not refused, and takes no place of a probe`() async {
    let breaker = Self.breaker()
    _ = await run("f", breaker)
    let began = Flag()
    let guarded = SimpleOperation { began.set() }.guarded(by: breaker)
    let cancelled = SimpleOperation.withContext { context in
      cancelCurrentTask()
      try await guarded.perform(in: context)
    }
    let environment = OperationEnvironment(
      clock: HookedClock(clock: clock) { cancelCurrentTask() })
    for seconds in [0, 30, 0] {
      clock.advance(by: .seconds(seconds))
      let run = cancelled.start(in: environment)
      #expect(await run.outcome.isCancelled)
      #expect(await run.lateOutcome == nil)
    }
    #expect(breaker.state == .open)
    // The pause has passed, and the clock cancels the run.
    #expect(await guarded.start(in: environment).outcome.isCancelled)
    #expect(!began.isSet)
    #expect(breaker.state == .halfOpen)
    #expect(await run("r", breaker).result == 1)
  }

  @Test func `Q4: the predicate and the clock are called only for runs that count`() async {
    let calls = Log<String>()
    let breaker = CircuitBreaker(
      opensAfterFailures: 1, halfOpensAfter: .seconds(30)
    ) { error in
      calls.add("\(error)")
      return error as? TestError != Self.notFound
    }
    let environment = OperationEnvironment(
      clock: HookedClock(clock: clock) { calls.add("clock") })
    func begin(
      _ end: Character, at gate: Gate, _ operation: some ComposableOperation<Int> = Self.body("r")
    ) async -> OperationRun<Int> {
      let run = SimpleOperation.withContext { context in
        try await gate.pass()
        _ = try await context.run(operation)
        return try await context.run(Self.body(end))
      }.guarded(by: breaker).start(in: environment)
      await gate.waitForArrivals(1)
      return run
    }
    let gates = (0..<3).map { _ in Gate() }
    let old = await begin("f", at: gates[0])
    let cancelled = await begin("f", at: gates[1])
    cancelled.cancel()
    _ = await cancelled.outcome
    _ = await Self.body("n").guarded(by: breaker).run(in: environment)
    _ = await Self.body("c").guarded(by: breaker).run(in: environment)
    _ = await Self.body("r").guarded(by: breaker).run(in: environment)
    #expect(calls.entries == ["\(Self.notFound)"])
    _ = await Self.body("f").guarded(by: breaker).run(in: environment)
    #expect(calls.entries.dropFirst() == ["\(Self.failed)", "clock"])
    calls.clear()
    // It began before the circuit breaker opened.
    gates[0].open()
    #expect(await old.outcome.error as? TestError == Self.failed)
    #expect(calls.entries == [])
    clock.advance(by: .seconds(30))
    let part = Self.body("f").guarded(by: breaker).ignoringErrors(with: 1)
    let probe = await begin("r", at: gates[2], part)
    calls.clear()
    gates[2].open()
    #expect(await probe.outcome.result == 1)
    #expect(calls.entries == [])
    #expect(breaker.state == .closed)
  }

  @Test func `Q4: the error of a refused run has no state in which runs begin`() {
    for state in [CircuitBreaker.State.closed, .open, .halfOpen] {
      let refusing = CircuitOpenError.State(rawValue: state.rawValue)
      #expect((refusing == nil) == (state == .closed))
    }
  }
}

/// A clock that calls a closure when it is read.
private struct HookedClock: Clock {
  let clock: ManualClock
  let onRead: @Sendable () -> Void

  var now: ManualClock.Instant {
    onRead()
    return clock.now
  }
  var minimumResolution: Duration { .zero }

  func sleep(until deadline: ManualClock.Instant, tolerance: Duration?) async throws {
    try await clock.sleep(until: deadline)
  }
}
