import CompositeOperations
import CompositeOperationsTestKit
import Testing

/// An operation that reads the time left.
private let reading = SimpleOperation.withContext { context in context.timeLeft }

private typealias Wrapping = @Sendable (AnyOperation<Duration?>) -> AnyOperation<Duration?>

/// Every way in which an operation can be below a timeout.
private let wrappings: [(name: String, wrap: Wrapping)] = [
  ("directly", { $0 }),
  (
    "child of a body",
    { base in
      AnyOperation(SimpleOperation.withContext { context in try await context.run(base) })
    }
  ),
  (
    "child of a child",
    { base in
      let child = SimpleOperation.withContext { context in try await context.run(base) }
      return AnyOperation(
        SimpleOperation.withContext { context in try await context.run(child) })
    }
  ),
  ("list", { AnyOperation(ParallelOperation([$0, $0]).map { $0[1] }) }),
  ("tuple", { AnyOperation(ParallelOperation($0, SimpleOperation { 1 }).map { $0.0 }) }),
  ("source", { base in AnyOperation(ParallelOperation { [base] }.map { $0[0] }) }),
  ("growing", { AnyOperation(ParallelOperation(growing: [$0]).map { $0[0] }) }),
  ("race", { AnyOperation(RaceOperation([$0])) }),
  (
    "graph",
    { base in
      AnyOperation(
        OperationGraph { graph in
          let first = graph.add(SimpleOperation { 1 })
          return graph.add(needing: first) { _ in base }
        })
    }
  ),
  (
    "step",
    { base in
      AnyOperation(
        SequentialOperation(.linear([base])).map { steps in
          steps.last?.result(as: Duration?.self) ?? nil
        })
    }
  ),
  ("then", { base in AnyOperation(SimpleOperation { 1 }.then { _ in base }) }),
  ("attempt", { AnyOperation($0.retrying(attempts: 2)) }),
  (
    "second attempt",
    { base in
      let attempts = Log<Int>()
      return AnyOperation(
        base.map { left in
          if attempts.addNumber() == 1 { throw TestError("failed") }
          return left
        }.retrying(attempts: 2))
    }
  ),
  ("hedged attempt", { AnyOperation($0.hedged(after: .seconds(600))) }),
  ("permits", { AnyOperation($0.limited(by: Permits(1))) }),
  ("pool", { AnyOperation($0.submitted(to: OperationPool())) }),
  ("fallback", { AnyOperation(SimpleOperation { throw TestError("no") }.fallingBack(to: $0)) }),
  ("finally", { AnyOperation($0.finally { _ in }) }),
  ("prioritized", { AnyOperation($0.prioritized(at: .high)) }),
  ("observed", { AnyOperation($0.named("n").observed(by: RecordingObserver())) }),
  ("condition", { AnyOperation($0.requiring(Condition("c") { true })) }),
]

@Suite(.timeLimit(.minutes(10))) struct TimeLeftTests {
  @Test func `T5: the time left is the time until the nearest deadline, and nil without one`()
    async throws
  {
    let (clock, other) = (ManualClock(), ManualClock())
    let environment = OperationEnvironment(clock: clock)
    let (near, far) = (Duration.seconds(2), Duration.seconds(5))
    #expect(try await reading.run().get() == nil)
    #expect(try await reading.run(in: environment).get() == nil)
    #expect(
      try await reading.observed(by: RecordingObserver()).run().get() == nil)
    let moment = other.now.advanced(by: near)
    let cases: [(any ComposableOperation<Duration?>, Duration)] = [
      (reading.timingOut(after: near), near),
      (reading.timingOut(after: near, .abandoning), near),
      (reading.timingOut(until: moment, on: other), near),
      (reading.timingOut(until: moment, on: other, .abandoning), near),
      (reading.timingOut(after: near).timingOut(after: far), near),
      (reading.timingOut(after: far).timingOut(after: near), near),
      (reading.timingOut(after: far).timingOut(until: moment, on: other), near),
      (reading.timingOut(until: moment, on: other).timingOut(after: far), near),
      (reading.timingOut(after: far, .abandoning).timingOut(after: near), near),
      // By the process's timer, which is later.
      (reading.timingOut(until: .now + .seconds(600)).timingOut(after: near), near),
      (reading.timingOut(after: near).timingOut(until: .now + .seconds(600)), near),
    ]
    for (index, (operation, expected)) in cases.enumerated() {
      #expect(try await operation.run(in: environment).get() == expected, "case \(index)")
    }
  }

  @Test func `T5: the time left decreases, and is zero after the deadline`() async throws {
    for mode in [TimeoutMode.waiting, .abandoning] {
      let clock = ManualClock()
      let seen = Log<Duration?>()
      let gate = Gate()
      let run = SimpleOperation.withContext { context in
        seen.add(context.timeLeft)
        clock.advance(by: .milliseconds(1_500))
        seen.add(context.timeLeft)
        clock.advance(by: .seconds(1))
        if mode == .waiting { seen.add(context.timeLeft) }
        await gate.passIgnoringCancellation()
      }.timingOut(after: .seconds(2), mode).start(in: OperationEnvironment(clock: clock))
      await gate.waitForArrivals(1)
      gate.open()
      #expect(await run.outcome.error is TimeoutError)
      let passed = mode == .waiting ? [Duration.zero] : []
      #expect(seen.entries == [.seconds(2), .milliseconds(500)] + passed)
    }
  }

  @Test func `T5: the process's timer measures the time left of other timeouts`() async throws {
    let limit = Duration.seconds(600)
    let operations: [any ComposableOperation<Duration?>] = [
      reading.timingOut(after: limit), reading.timingOut(after: limit, .abandoning),
      reading.timingOut(until: .now + limit),
      reading.timingOut(after: limit * 9).timingOut(after: limit),
      reading.timingOut(after: limit).timingOut(after: limit * 9),
      reading.timingOut(after: limit).timingOut(after: limit * 9, .abandoning),
    ]
    for operation in operations {
      let left = try #require(try await operation.run().get())
      #expect(left > .zero && left <= limit)
    }
    // This does not fit into 64 bits of nanoseconds.
    let long = try await reading.timingOut(after: .seconds(Int64.max / 4)).run().get()
    #expect(long.map { $0 > .seconds(1_000_000_000) } == true)
  }

  @Test(arguments: wrappings.map(\.name), [false, true])
  fileprivate func `T5: everything below a timeout has its deadline`(
    name: String, isObserved: Bool
  ) async throws {
    let clock = ManualClock()
    let wrap = try #require(wrappings.first { $0.name == name }).wrap
    var environment = OperationEnvironment(clock: clock)
    if isObserved { environment.observers = [RecordingObserver()] }
    for mode in [TimeoutMode.waiting, .abandoning] {
      let inside = wrap(AnyOperation(reading)).timingOut(after: .seconds(3), mode)
      #expect(try await inside.run(in: environment).get() == .seconds(3))
      // Only below the timeout.
      let beside = ParallelOperation([AnyOperation(inside), wrap(AnyOperation(reading))])
      #expect(try await beside.run(in: environment).get() == [.seconds(3), nil])
      let after = inside.then { _ in wrap(AnyOperation(reading)) }
      #expect(try await after.run(in: environment).get() == nil)
    }
  }

  @Test func `T5: a shared run, a separate run and a kept context have no deadline`() async throws {
    let clock = ManualClock()
    let environment = OperationEnvironment(clock: clock)
    let separate: [any ComposableOperation<Duration?>] = [
      reading.shared(in: SharedRuns<Int, Duration?>(), for: 1),
      SimpleOperation { try await reading.run().get() },
      SimpleOperation.withContext { context in
        try await reading.start(in: context.environment).outcome.get()
      },
    ]
    for (index, operation) in separate.enumerated() {
      let limited = AnyOperation(operation).timingOut(after: .seconds(3))
      #expect(try await limited.run(in: environment).get() == nil, "case \(index)")
    }
    for mode in [TimeoutMode.waiting, .abandoning] {
      for observers in [[], [RecordingObserver()]] {
        let keeping = SimpleOperation.withContext { context in context }
          .timingOut(after: .seconds(3), mode)
        let kept = try await keeping.run(
          in: OperationEnvironment(clock: clock, observers: observers)
        ).get()
        #expect(kept.timeLeft == nil)
        #expect(try await kept.run(reading) == nil)
        #expect(try await kept.run(reading.timingOut(after: .seconds(1))) == .seconds(1))
      }
    }
  }

  @Test(arguments: wrappings.map(\.name), [false, true])
  fileprivate func `T5: an abandoned body has no deadline any more`(
    name: String, isObserved: Bool
  ) async throws {
    let wrap = try #require(wrappings.first { $0.name == name }).wrap
    let observers = isObserved ? [RecordingObserver()] : []
    let environment = OperationEnvironment(clock: ManualClock(), observers: observers)
    let (gate, done) = (Gate(), Gate())
    let (before, after) = (Log<Duration?>(), Log<Duration?>())
    let body = SimpleOperation.withContext { context in
      before.add(context.timeLeft)
      await gate.passIgnoringCancellation()
      after.add(context.timeLeft)
      done.open()
      return Duration?.none
    }
    let run = wrap(AnyOperation(body)).timingOut(after: .seconds(2), .abandoning)
      .start(in: environment)
    await gate.waitForArrivals(1)
    run.cancel()
    #expect(await run.outcome.isCancelled)
    gate.open()
    try await done.pass()
    // A list has two bodies.
    #expect(before.entries.first == .seconds(2))
    #expect(after.entries.allSatisfy { $0 == nil })
  }

  @Test(arguments: wrappings.map(\.name), [false, true])
  fileprivate func `T5: a context that is kept beyond its timeout has no deadline`(
    name: String, isObserved: Bool
  ) async throws {
    let wrap = try #require(wrappings.first { $0.name == name }).wrap
    let observers = isObserved ? [RecordingObserver()] : []
    let environment = OperationEnvironment(clock: ManualClock(), observers: observers)
    for mode in [TimeoutMode.waiting, .abandoning] {
      let contexts = Log<OperationContext>()
      let keeping = SimpleOperation.withContext { context in
        contexts.add(context)
        return context.timeLeft
      }
      let limited = wrap(AnyOperation(keeping)).timingOut(after: .seconds(3), mode)
      let checked = limited.map { left in
        for context in contexts.entries {
          #expect(context.timeLeft == nil)
          let child = try await context.run(reading)
          #expect(child == nil)
        }
        return left
      }
      // Also within another timeout, which the kept context is not below any more.
      let outcome = await checked.timingOut(after: .seconds(9)).run(in: environment)
      #expect(try outcome.get() == .seconds(3))
    }
  }

  @Test func `T5: until a timeout ends, it also counts in contexts that were kept within it`()
    async throws
  {
    for observers in [[], [RecordingObserver()]] {
      let environment = OperationEnvironment(clock: ManualClock(), observers: observers)
      let keeping = SimpleOperation.withContext { context in
        let kept = try await context.run(SimpleOperation.withContext { context in context })
        return [kept.timeLeft, try await kept.run(reading)]
      }
      let seen = try await keeping.timingOut(after: .seconds(3)).run(in: environment).get()
      #expect(seen == [.seconds(3), .seconds(3)])
    }
  }

  @Test func `T5: of the timeouts around an abandoned body, only those within its own count`()
    async throws
  {
    for observers in [[], [RecordingObserver()]] {
      let clock = ManualClock()
      let (gate, done, rest) = (Gate(), Gate(), Gate())
      let seen = Log<Duration?>()
      let run = SimpleOperation.withContext { context in
        seen.add(context.timeLeft)
        await gate.passIgnoringCancellation()
        seen.add(context.timeLeft)
        done.open()
      }.timingOut(after: .seconds(9)).timingOut(after: .seconds(2), .abandoning)
        .fallingBack(to: SimpleOperation { try await rest.pass() })
        .timingOut(after: .seconds(5))
        .start(in: OperationEnvironment(clock: clock, observers: observers))
      await gate.waitForArrivals(1)
      await clock.waitForSleepers(3)
      clock.advance(by: .seconds(2))
      await rest.waitForArrivals(1)
      gate.open()
      try await done.pass()
      rest.open()
      try await run.outcome.get()
      #expect(seen.entries == [.seconds(2), .seconds(7)])
    }
  }

  @Test func `T5: in random nestings, the time left is that until the nearest deadline`()
    async throws
  {
    for seed in 0..<UInt64(Scale.cases(20_000)) {
      let program = NestedTimeouts(seed: seed)
      let left = try await program.operation.run(in: program.environment).get()
      try #require(left == program.expected, "seed \(seed): \(program.lines)")
    }
  }
}

/// A random nesting of timeouts on two clocks, and of other operations.
private final class NestedTimeouts {
  private enum Place { case environment, other }

  private let (clock, other) = (ManualClock(), ManualClock())
  private var chance: Chance
  private var deadlines: [(place: Place, offset: Duration)] = []
  private var now = (environment: Duration.zero, other: Duration.zero)
  private(set) var lines: [String] = []
  private(set) var expected: Duration?
  let environment: OperationEnvironment
  private(set) var operation = AnyOperation(reading)

  init(seed: UInt64) {
    chance = Chance(seed: seed)
    environment = OperationEnvironment(
      clock: clock, observers: chance.percent(30) ? [RecordingObserver()] : [])
    operation = nested(chance.number(1...7))
  }

  private func time(_ place: Place) -> Duration {
    switch place {
    case .environment: now.environment
    case .other: now.other
    }
  }

  /// Builds from the outside, in the order in which the operations begin.
  private func nested(_ depth: Int) -> AnyOperation<Duration?> {
    guard depth > 0 else {
      expected = deadlines.map { $0.offset - time($0.place) }.min()
      return AnyOperation(reading)
    }
    let limit = Duration.milliseconds(chance.number(1_000...9_000))
    let mode: TimeoutMode = chance.percent(30) ? .abandoning : .waiting
    switch chance.number(0...9) {
    case 0...2:
      lines.append("timingOut(after: \(limit), \(mode))")
      deadlines.append((.environment, now.environment + limit))
      return AnyOperation(nested(depth - 1).timingOut(after: limit, mode))
    case 3...4:
      lines.append("timingOut(until: \(limit), \(mode))")
      let moment = ManualClock.Instant(offset: now.other + limit)
      deadlines.append((.other, moment.offset))
      return AnyOperation(nested(depth - 1).timingOut(until: moment, on: other, mode))
    case 5...6:
      let (clock, isOther) = chance.percent(50) ? (clock, false) : (other, true)
      let passing = Duration.milliseconds(chance.number(1...100))
      lines.append("\(isOther ? "other clock" : "clock") advances by \(passing)")
      if isOther { now.other += passing } else { now.environment += passing }
      let inner = nested(depth - 1)
      return AnyOperation(SimpleOperation { clock.advance(by: passing) }.then { _ in inner })
    case 7 where chance.percent(30):
      lines.append("shared")
      deadlines = []
      return AnyOperation(
        nested(depth - 1).shared(in: SharedRuns<Int, Duration?>(), for: 1))
    default:
      // The pool has another environment, and thus another clock.
      let (name, wrap) = chance.pick(
        wrappings.filter { $0.name != "pool" && $0.name != "list" && $0.name != "second attempt" }
          .map { (1, $0) })
      lines.append(name)
      return wrap(nested(depth - 1))
    }
  }
}
