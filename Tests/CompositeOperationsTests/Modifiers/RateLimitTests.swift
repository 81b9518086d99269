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
}
