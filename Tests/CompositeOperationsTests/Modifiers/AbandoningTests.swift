import CompositeOperations
import CompositeOperationsTestKit
import Testing

@Suite(.timeLimit(.minutes(10))) struct AbandoningTests {
  @Test(.timeLimit(.minutes(10)))
  func `T3: an abandoning timeout does not wait for the body, and an event reports its end`()
    async throws
  {
    for end in ["value", "error", "stops"] {
      let clock = ManualClock()
      let recorder = RecordingObserver()
      let gate = Gate()
      let discarded = Log<Int>()
      let body = SimpleOperation<Int> {
        await gate.passIgnoringCancellation()
        // The run ends before the body is cancelled, because cancellation handlers may block.
        while !Task.isCancelled { await Task.yield() }
        if end == "error" { throw TestError("late") }
        if end == "stops" { throw CancellationError() }
        return 7
      }.discarding { discarded.add($0) }.named("slow")
      let environment = OperationEnvironment(clock: clock, observers: [recorder])
      let run = body.timingOut(after: .seconds(2), .abandoning).start(in: environment)
      await gate.waitForArrivals(1)
      await clock.waitForSleepers(1)
      clock.advance(by: .seconds(2))
      // The body still waits at the gate.
      let error = await run.outcome.error as? TimeoutError
      #expect(error?.name == "slow" && error?.limit == .seconds(2))
      #expect(discarded.entries == [])
      gate.open()
      while recorder.events.count < 4 { await Task.yield() }
      let kind = ["value": "result 7", "error": "error late", "stops": "cancelled"][end] ?? ""
      #expect(
        recorder.short == [
          "slow created", "slow started",
          "slow ended: error timeout: 'slow' took longer than 2.0 seconds",
          "slow ended an abandoned body: \(kind)",
        ])
      while end == "value", discarded.count == 0 { await Task.yield() }
      #expect(discarded.entries == (end == "value" ? [7] : []))
    }
  }

  @Test func `T3: a cancellation from outside abandons the body, too`() async throws {
    let clock = ManualClock()
    let gate = Gate()
    let discarded = Log<Int>()
    let run = SimpleOperation {
      await gate.passIgnoringCancellation()
      return 7
    }.discarding { discarded.add($0) }.timingOut(after: .seconds(2), .abandoning)
      .start(in: OperationEnvironment(clock: clock))
    await gate.waitForArrivals(1)
    await clock.waitForSleepers(1)
    run.cancel()
    #expect(await run.outcome.isCancelled)
    #expect(clock.sleeperCount == 0)
    gate.open()
    while discarded.count == 0 { await Task.yield() }
    #expect(discarded.entries == [7])
  }

  @Test(arguments: Setting.all)
  func `T3: a body within the limit has the same outcome as without a timeout`(setting: Setting)
    async throws
  {
    let clock = ManualClock()
    let discarded = Log<Int>()
    for body in [setting.giving(7), setting.failing(), setting.stopping()] {
      let operation = body.discarding { discarded.add($0) }
        .timingOut(after: .seconds(1), .abandoning)
      let plain = try await setting.run { await body.run() }
      let outcome = try await setting.run {
        await operation.run(in: OperationEnvironment(clock: clock))
      }
      #expect(outcome.kind == plain.kind)
    }
    #expect(clock.sleeperCount == 0)
    #expect(discarded.entries == [])
    let none = await setting.giving(7).timingOut(after: .zero, .abandoning).run()
    #expect(none.error is TimeoutError)
  }

  @Test func `T3: the value of a body that ends when it is abandoned is discarded or the result`()
    async throws
  {
    for _ in 0..<200 {
      let clock = ManualClock()
      let gate = Gate()
      let discarded = Log<Int>()
      let run = SimpleOperation {
        await gate.passIgnoringCancellation()
        return 7
      }.discarding { discarded.add($0) }.timingOut(after: .seconds(1), .abandoning)
        .start(in: OperationEnvironment(clock: clock))
      await gate.waitForArrivals(1)
      await clock.waitForSleepers(1)
      async let _ = clock.advance(by: .seconds(1))
      gate.open()
      let outcome = await run.outcome
      if outcome.result == nil {
        #expect(outcome.error is TimeoutError)
        while discarded.count == 0 { await Task.yield() }
      }
      #expect(discarded.count == (outcome.result == nil ? 1 : 0))
    }
  }
}
