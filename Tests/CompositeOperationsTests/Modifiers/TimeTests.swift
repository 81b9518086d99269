import CompositeOperations
import CompositeOperationsTestKit
import Testing

@Suite struct TimeTests {
  @Test func `T1: a delayed operation begins after its delay`() async {
    let clock = ManualClock()
    let environment = OperationEnvironment(clock: clock)
    let began = Log<Duration>()
    let operation = SimpleOperation { began.add(clock.now.offset) }
    let delayed = operation.delayed(by: .seconds(2)).start(in: environment)
    let until = operation.delayed(until: clock.now.advanced(by: .seconds(3)), on: clock)
      .start(in: environment)
    await clock.waitForSleepers(2)
    clock.advance(by: .milliseconds(1_999))
    #expect(clock.sleeperCount == 2 && began.entries == [])
    clock.advance(by: .milliseconds(1))
    #expect(await delayed.outcome.result != nil)
    clock.advance(by: .seconds(1))
    #expect(await until.outcome.result != nil)
    #expect(began.entries == [.seconds(2), .seconds(3)])
    // A delay of zero or less ends without a wait: the clock is not advanced any further.
    for duration in [Duration.zero, .seconds(-1)] {
      _ = await operation.delayed(by: duration).run(in: environment)
      let moment = clock.now.advanced(by: duration)
      _ = await operation.delayed(until: moment, on: clock).run(in: environment)
    }
    #expect(began.count == 6)
  }

  @Test func `T1: a cancellation ends a delay immediately, and the body does not begin`() async {
    let clock = ManualClock()
    let began = Log<String>()
    let operation = SimpleOperation { began.add("began") }
    let delayed: [any ComposableOperation<Void>] = [
      operation.delayed(by: .seconds(1)),
      operation.delayed(until: clock.now.advanced(by: .seconds(1)), on: clock),
    ]
    for operation in delayed {
      let run = operation.start(in: OperationEnvironment(clock: clock))
      await clock.waitForSleepers(1)
      run.cancel()
      #expect(await run.outcome.isCancelled)
    }
    let cancelling = SimpleOperation.withContext { context in
      cancelCurrentTask()
      #expect(await context.outcome(of: operation.delayed(by: .zero)).isCancelled)
    }
    _ = await cancelling.start().outcome
    #expect(began.entries == [])
  }

  @Test func `T1: no body begins after a cancellation that the clock ignores`() async {
    let clock = DeafClock()
    let began = Log<String>()
    let run = SimpleOperation { began.add("began") }
      .delayed(until: clock.now.advanced(by: .seconds(1)), on: clock).start()
    await clock.waitForSleepers(1)
    run.cancel()
    clock.advance()
    #expect(await run.outcome.isCancelled)
    #expect(began.entries == [])
  }

  @Test func `T2: an operation within the limit has the same outcome as without a timeout`() async {
    let clock = ManualClock()
    let environment = OperationEnvironment(clock: clock)
    for suspends in [false, true] {
      let setting = Setting(suspends: suspends, workers: .all)
      let limit = Duration.seconds(1)
      #expect(await setting.giving(7).timingOut(after: limit).run(in: environment).result == 7)
      let bad = await setting.failing().timingOut(after: limit).run(in: environment)
      #expect(bad.kind == "error failed")
      #expect(await setting.stopping().timingOut(after: limit).run(in: environment).isCancelled)
      #expect(clock.sleeperCount == 0)
    }
  }

  @Test func `T2: when the time has passed, the body is cancelled and the run ends in a timeout`()
    async
  {
    for end in ["value", "error", "stops"] {
      let clock = ManualClock()
      let gate = Gate()
      let discarded = Log<Int>()
      let body = SimpleOperation<Int> {
        try? await clock.sleep(for: .seconds(100))
        #expect(Task.isCancelled)
        await gate.passIgnoringCancellation()
        if end == "error" { throw TestError("late") }
        if end == "stops" { throw CancellationError() }
        return 7
      }.discarding { discarded.add($0) }.named("slow")
      let run = body.timingOut(after: .seconds(2)).start(in: OperationEnvironment(clock: clock))
      await clock.waitForSleepers(2)
      clock.advance(by: .seconds(2))
      // The run does not end before its body.
      await gate.waitForArrivals(1)
      gate.open()
      let error = await run.outcome.error as? TimeoutError
      #expect(error == TimeoutError(name: "slow", limit: .seconds(2)), "\(end)")
      #expect(error?.description == "timeout: 'slow' took longer than 2.0 seconds")
      #expect(discarded.entries == (end == "value" ? [7] : []), "\(end)")
    }
  }

  @Test func `T2: a cancellation from outside takes precedence over a timeout`() async {
    for expiresFirst in [false, true] {
      let clock = ManualClock()
      let gate = Gate()
      let discarded = Log<Int>()
      let body = SimpleOperation {
        await gate.passIgnoringCancellation()
        return 7
      }.discarding { discarded.add($0) }
      let run = body.timingOut(after: .seconds(2)).start(in: OperationEnvironment(clock: clock))
      await gate.waitForArrivals(1)
      await clock.waitForSleepers(1)
      if expiresFirst { clock.advance(by: .seconds(2)) }
      run.cancel()
      gate.open()
      #expect(await run.outcome.isCancelled)
      #expect(discarded.entries == [7])
    }
  }

  @Test func `T2: with a time of zero or less, the body does not begin`() async {
    let began = Log<String>()
    let body = SimpleOperation { began.add("began") }.named("body")
    for limit in [Duration.zero, .seconds(-1)] {
      let outcome = await body.timingOut(after: limit).run()
      #expect(outcome.error as? TimeoutError == TimeoutError(name: "body", limit: limit))
    }
    #expect(began.entries == [])
  }

  @Test func `T2: the position in the chain determines what the time includes`() async {
    let clock = ManualClock()
    let began = Log<Duration>()
    let slow = SimpleOperation<Int> {
      began.add(clock.now.offset)
      try await clock.sleep(for: .seconds(10))
      return 1
    }
    let each = slow.timingOut(after: .seconds(3)).retrying(attempts: 2)
    let run = each.start(in: OperationEnvironment(clock: clock))
    for _ in 0..<2 {
      await clock.waitForSleepers(2)
      clock.advance(by: .seconds(3))
    }
    #expect((await run.outcome.error as? RetryError)?.errors.count == 2)
    #expect(began.entries == [.zero, .seconds(3)])
    let all = slow.retrying(attempts: 2).timingOut(after: .seconds(3))
    let other = all.start(in: OperationEnvironment(clock: clock))
    await clock.waitForSleepers(2)
    clock.advance(by: .seconds(3))
    #expect(await other.outcome.error is TimeoutError)
    #expect(began.count == 3)
  }

  @Test func `T2: a run that ends when its time expires has one outcome, and no value is lost`()
    async
  {
    for _ in 0..<200 {
      let clock = ManualClock()
      let gate = Gate()
      let discarded = Log<Int>()
      let body = SimpleOperation {
        await gate.passIgnoringCancellation()
        return 7
      }.discarding { discarded.add($0) }
      let run = body.timingOut(after: .seconds(1)).start(in: OperationEnvironment(clock: clock))
      await gate.waitForArrivals(1)
      await clock.waitForSleepers(1)
      async let _ = clock.advance(by: .seconds(1))
      gate.open()
      let outcome = await run.outcome
      #expect(outcome.result == 7 || outcome.error is TimeoutError)
      #expect(discarded.count == (outcome.result == 7 ? 0 : 1))
    }
  }

  @Test func `a duration of any length is accepted`() async {
    for duration in [
      Duration(attoseconds: .max), .seconds(Int64.max), Duration(attoseconds: .max / 2),
    ] {
      let yielding = SimpleOperation {
        await Task.yield()
        return 1
      }
      let policy = RetryPolicy(attempts: 2, within: duration)
      func operations() -> [AnyOperation<Int>] {
        [
          AnyOperation(yielding.timingOut(after: duration)),
          AnyOperation(yielding.timingOut(after: duration, .abandoning)),
          AnyOperation(yielding.hedged(after: duration)),
          AnyOperation(yielding.throttled(to: 1, per: duration)),
          AnyOperation(yielding.retrying(policy)),
          AnyOperation(
            yielding.shared(in: SharedRuns<Int, Int>(keepingResultsFor: duration), for: 1)),
        ]
      }
      for environment in [OperationEnvironment(), OperationEnvironment(clock: ManualClock())] {
        for operation in operations() {
          #expect(await operation.run(in: environment).result == 1)
        }
      }
      let waiting = yielding.delayed(by: duration).start()
      waiting.cancel()
      #expect(await waiting.outcome.isCancelled)
    }
    let negative = Duration(attoseconds: .min)
    #expect(await SimpleOperation { 1 }.delayed(by: negative).run().result == 1)
    #expect(await SimpleOperation { 1 }.timingOut(after: negative).run().error is TimeoutError)
  }
}
