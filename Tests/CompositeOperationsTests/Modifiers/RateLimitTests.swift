import CompositeOperations
import CompositeOperationsTestKit
import Testing

@Suite(.timeLimit(.minutes(10))) struct RateLimitTests {
  @Test func `E5: no more operations begin than the rate allows, in FIFO order`()
    async throws
  {
    let clock = ManualClock()
    let began = Log<Duration>()
    let operation = SimpleOperation { began.add(clock.now.offset) }
      .throttled(to: 4, per: .seconds(2))
    let run = ParallelOperation((0..<10).map { _ in operation })
      .start(in: OperationEnvironment(clock: clock))
    for index in 4..<10 {
      await clock.waitForSleepers(1)
      clock.advance(by: .milliseconds(500))
      // Another operation may sleep before this one has read the clock.
      while began.count <= index { await Task.yield() }
    }
    _ = try await run.outcome.get()
    let halves = began.entries.map { $0 / .milliseconds(500) }
    #expect(halves == [0, 0, 0, 0, 1, 2, 3, 4, 5, 6])
    // After a pause, as many operations begin at once as in one period.
    clock.advance(by: .seconds(100))
    let again = ParallelOperation((0..<5).map { _ in operation })
      .start(in: OperationEnvironment(clock: clock))
    await clock.waitForSleepers(1)
    #expect(began.count == 14)
    clock.advance(by: .milliseconds(500))
    _ = try await again.outcome.get()
  }

  @Test func `E5: a cancellation ends the wait immediately and uses none of the rate`()
    async throws
  {
    let clock = ManualClock()
    let environment = OperationEnvironment(clock: clock)
    let limit = RateLimit(1, per: .seconds(1))
    let began = Log<Duration>()
    let operation = SimpleOperation { began.add(clock.now.offset) }.throttled(by: limit)
    _ = await operation.run(in: environment)
    let cancelled = operation.start(in: environment)
    await clock.waitForSleepers(1)
    cancelled.cancel()
    #expect(await cancelled.outcome.isCancelled)
    let next = operation.start(in: environment)
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(1))
    _ = try await next.outcome.get()
    #expect(began.entries == [.zero, .seconds(1)])
  }

  @Test func `E5: an operation with another clock waits by that clock, and not forever`()
    async throws
  {
    let limit = RateLimit(1, per: .seconds(1))
    let operation = SimpleOperation {}.throttled(by: limit)
    try await operation.run(in: OperationEnvironment(clock: ManualClock())).get()
    let clock = ManualClock()
    for _ in 0..<2 {
      let run = operation.start(in: OperationEnvironment(clock: clock))
      await clock.waitForSleepers(1)
      clock.advance(by: try #require(clock.nextDeadline).offset - clock.now.offset)
      try await run.outcome.get()
    }
  }

  @Test func `E5: no body begins after a cancellation that the clock ignores`() async {
    let clock = DeafClock()
    let environment = OperationEnvironment(clock: clock)
    let began = Log<String>()
    let operation = SimpleOperation { began.add("began") }.throttled(to: 1, per: .seconds(1))
    _ = await operation.run(in: environment)
    let run = operation.start(in: environment)
    await clock.waitForSleepers(1)
    run.cancel()
    clock.advance()
    #expect(await run.outcome.isCancelled)
    #expect(began.count == 1)
  }

  @Test func `E5: operations whose time has come begin after one sleep, in FIFO order`() async {
    let clock = ManualClock()
    let executor = InOrderExecutor()
    let began = Log<Int>()
    let limit = RateLimit(4, per: .seconds(2))
    let run = ParallelOperation(
      (0..<300).map { index in SimpleOperation { began.add(index) }.throttled(by: limit) },
      width: .limited(to: 300)
    ).start(in: OperationEnvironment(clock: clock, executor: executor))
    executor.drain()
    #expect(began.entries == [0, 1, 2, 3])
    clock.advance(by: .milliseconds(1_500))
    executor.drain()
    #expect(began.entries == [0, 1, 2, 3, 4, 5, 6])
    #expect(clock.sleeperCount == 1)
    // Not more than the bucket holds, however long the sleep was.
    clock.advance(by: .seconds(100))
    executor.drain()
    #expect(began.entries == Array(0..<11))
    for _ in 0..<289 {
      clock.advance(by: .milliseconds(500))
      executor.drain()
    }
    #expect(began.entries == Array(0..<300))
    #expect(await run.outcome.result != nil)
  }

  @Test func `E5: a token that a cancelled operation does not use counts for later ones`() async {
    let clock = ManualClock()
    let executor = InOrderExecutor()
    let environment = OperationEnvironment(clock: clock, executor: executor)
    let limit = RateLimit(2, per: .seconds(2))
    let began = Log<String>()
    let cancelNext = Log<@Sendable () -> Void>()
    func start(_ name: String, _ body: @escaping @Sendable () -> Void = {}) -> OperationRun<Void> {
      SimpleOperation {
        began.add("\(name) at \(clock.now.offset)")
        body()
      }.throttled(by: limit).start(in: environment)
    }
    let first = [start("0"), start("1")]
    executor.drain()
    // When this one begins, the next one has its token, and has not continued.
    let sleeping = start("2") { for cancel in cancelNext.entries { cancel() } }
    executor.drain()
    let cancelled = start("3")
    cancelNext.add { cancelled.cancel() }
    let last = start("4")
    executor.drain()
    clock.advance(by: .seconds(3))
    executor.drain()
    #expect(
      began.entries == [
        "0 at 0.0 seconds", "1 at 0.0 seconds", "2 at 3.0 seconds", "4 at 3.0 seconds",
      ])
    #expect(await cancelled.outcome.isCancelled)
    for run in first + [sleeping, last] { #expect(await run.outcome.result != nil) }
  }

  @Test func `E5: no operation waits while there are tokens`() async {
    let recorder = RecordingObserver()
    let limit = RateLimit(1_000_000, per: .milliseconds(1))
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask {
          for _ in 0..<200 {
            let run = SimpleOperation {}.throttled(by: limit)
            _ = await run.run(in: OperationEnvironment(observers: [recorder]))
          }
        }
      }
    }
    let waits = recorder.events.filter { if case .waitingBegan = $0.kind { true } else { false } }
    #expect(waits.isEmpty)
  }

  @Test func `E5: an operation that comes while a token is due does not overtake the waiting ones`()
    async
  {
    let clock = ManualClock()
    let executor = InOrderExecutor()
    let environment = OperationEnvironment(clock: clock, executor: executor)
    let limit = RateLimit(1, per: .seconds(1))
    let began = Log<Int>()
    func start(_ index: Int) -> OperationRun<Void> {
      SimpleOperation { began.add(index) }.throttled(by: limit).start(in: environment)
    }
    var runs = [start(0), start(1)]
    executor.drain()
    // It continues before the waiting one, whose token is due.
    runs.append(start(2))
    clock.advance(by: .seconds(1))
    executor.drain()
    #expect(began.entries == [0, 1])
    clock.advance(by: .seconds(1))
    executor.drain()
    #expect(began.entries == [0, 1, 2])
    for run in runs { #expect(await run.outcome.result != nil) }
  }

  @Test func `E5: operations that are cancelled at any time leave the rate to the others`() async {
    let limit = RateLimit(50, per: .milliseconds(1))
    let began = Log<Void>()
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<8 {
        group.addTask {
          var random = SystemRandomNumberGenerator()
          for _ in 0..<Scale.cases(5_000) {
            let run = SimpleOperation { began.add(()) }.throttled(by: limit).start()
            for _ in 0..<(random.next() % 4) { await Task.yield() }
            if number % 2 == 0 { run.cancel() }
            let outcome = await run.outcome
            #expect(number % 2 == 0 || outcome.result != nil)
          }
        }
      }
    }
    #expect(await SimpleOperation {}.throttled(by: limit).run().result != nil)
    #expect(began.count >= 4 * Scale.cases(5_000))
  }
}
