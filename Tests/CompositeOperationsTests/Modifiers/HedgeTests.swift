import CompositeOperations
import CompositeOperationsTestKit
import Testing

private struct BusyError: RetryAdvising, Equatable {
  let retryDelay: Duration?
}

/// An operation whose attempts each wait at a gate of their own.
private final class Attempts: Sendable {
  let clock = ManualClock()
  /// When the attempts began.
  let began = Log<Duration>()
  let discarded = Log<Int>()
  private let gates = (0..<8).map { _ in Gate() }
  /// Opened when the attempts that ignore their cancellation are cancelled.
  private let cancellations = (0..<8).map { _ in Gate() }
  private let ends = Lock<[Int: Result<Int, any Error>]>([:])

  /// An operation whose attempts return their numbers, from 1.
  ///
  /// - Parameter isDeaf: Whether the attempts ignore their cancellation.
  func operation(isDeaf: Bool = false) -> some ComposableOperation<Int> {
    SimpleOperation { [self] in
      let number = began.addNumbered(clock.now.offset)
      if isDeaf {
        await withTaskCancellationHandler {
          await gates[number].passIgnoringCancellation()
        } onCancel: {
          cancellations[number].open()
        }
      } else {
        try await gates[number].pass()
      }
      return try ends.withLock { $0[number] ?? .success(number) }.get()
    }.discarding { [discarded] in discarded.add($0) }
  }

  var environment: OperationEnvironment { OperationEnvironment(clock: clock) }

  func waitForBeginning(of attempt: Int) async { await gates[attempt].waitForArrivals(1) }

  func waitForCancellation(of attempt: Int) async {
    await cancellations[attempt].passIgnoringCancellation()
  }

  /// Lets an attempt end in its number.
  func end(_ attempt: Int) { gates[attempt].open() }

  func fail(_ attempt: Int, with error: any Error = TestError("failed")) {
    ends.withLock { $0[attempt] = .failure(error) }
    gates[attempt].open()
  }

  /// Advances the clock by milliseconds when a number of tasks sleep.
  func advance(_ milliseconds: Int, sleepers: Int = 1) async {
    await clock.waitForSleepers(sleepers)
    clock.advance(by: .milliseconds(milliseconds))
  }
}

@Suite(.timeLimit(.minutes(10))) struct HedgeTests {
  @Test func `R8: another attempt begins after the delay, and the first result is the outcome`()
    async
  {
    for winner in 1...3 {
      let attempts = Attempts()
      let run = attempts.operation().hedged(after: .milliseconds(50), attempts: 3)
        .start(in: attempts.environment)
      await attempts.waitForBeginning(of: 1)
      for attempt in 2...3 {
        await attempts.advance(49)
        #expect(attempts.began.count == attempt - 1)
        await attempts.advance(1)
        await attempts.waitForBeginning(of: attempt)
      }
      #expect(attempts.clock.sleeperCount == 0)
      attempts.end(winner)
      #expect(await run.outcome.result == winner)
      #expect(attempts.began.entries == [.zero, .milliseconds(50), .milliseconds(100)])
    }
  }

  @Test(arguments: Setting.all)
  func `R8: no other attempt begins if the first one ends within the delay`(setting: Setting)
    async throws
  {
    let clock = ManualClock()
    let began = Log<String>()
    let body = SimpleOperation {
      began.add("began")
      await setting.pause()
      return 7
    }
    for limit in 1...3 {
      let operation = body.hedged(after: .seconds(1_000_000), attempts: limit)
      let outcome = try await setting.run {
        await operation.run(in: OperationEnvironment(clock: clock))
      }
      #expect(outcome.result == 7)
      #expect(try await setting.run { await operation.run() }.result == 7)
    }
    #expect(began.count == 6)
    #expect(clock.sleeperCount == 0)
  }

  @Test func `R8: an attempt that fails begins the next one, and the delay begins again`() async {
    let attempts = Attempts()
    let run = attempts.operation().hedged(after: .milliseconds(50), attempts: 3)
      .start(in: attempts.environment)
    await attempts.waitForBeginning(of: 1)
    await attempts.advance(30)
    attempts.fail(1)
    await attempts.waitForBeginning(of: 2)
    while attempts.clock.nextDeadline?.offset != .milliseconds(80) { await Task.yield() }
    await attempts.advance(50)
    await attempts.waitForBeginning(of: 3)
    attempts.end(2)
    #expect(await run.outcome.result == 2)
    #expect(
      attempts.began.entries == [.zero, .milliseconds(30), .milliseconds(80)])
  }

  @Test func `R8: no attempt begins before the delay that an error advises`() async {
    let attempts = Attempts()
    let run = attempts.operation().hedged(after: .milliseconds(50), attempts: 3)
      .start(in: attempts.environment)
    await attempts.waitForBeginning(of: 1)
    await attempts.advance(10)
    attempts.fail(1, with: BusyError(retryDelay: .milliseconds(200)))
    while attempts.clock.nextDeadline?.offset != .milliseconds(210) { await Task.yield() }
    await attempts.advance(200)
    await attempts.waitForBeginning(of: 2)
    // Without an advised delay that is left.
    attempts.fail(2, with: BusyError(retryDelay: .zero))
    await attempts.waitForBeginning(of: 3)
    attempts.end(3)
    #expect(await run.outcome.result == 3)
    #expect(
      attempts.began.entries == [.zero, .milliseconds(210), .milliseconds(210)])
  }

  @Test func `R8: with a delay of zero or less, all attempts begin immediately`() async {
    for delay in [Duration.zero, .seconds(-1)] {
      let attempts = Attempts()
      let run = attempts.operation().hedged(after: delay, attempts: 4)
        .start(in: attempts.environment)
      for attempt in 1...4 { await attempts.waitForBeginning(of: attempt) }
      attempts.end(3)
      #expect(await run.outcome.result == 3)
      #expect(attempts.began.count == 4)
    }
  }

  @Test func `R8: without a clock of its own, the delay is measured by the process's timer`()
    async
  {
    let began = Log<Int>()
    let outcome = await SimpleOperation {
      let number = began.addNumber()
      if number == 1 { try await Gate().pass() }
      return number
    }.hedged(after: .nanoseconds(1)).run()
    #expect(outcome.result == 2)
  }

  @Test func `R8: each attempt is a run of its own, which observers see`() async {
    let attempts = Attempts()
    let observer = RecordingObserver()
    let run = attempts.operation().named("fetch").hedged(after: .milliseconds(50), attempts: 3)
      .named("hedged")
      .start(in: OperationEnvironment(clock: attempts.clock, observers: [observer]))
    await attempts.waitForBeginning(of: 1)
    attempts.fail(1)
    await attempts.waitForBeginning(of: 2)
    attempts.end(2)
    _ = await run.outcome
    #expect(
      observer.short == [
        "hedged created", "hedged started", "hedged started a child", "fetch created",
        "fetch started", "fetch ended: error failed",
        "hedged is retried, attempt 2 after 0.0 seconds: failed", "hedged started a child",
        "fetch created", "fetch started", "fetch ended: result 2", "hedged ended: result 2",
      ])
    let numbers = observer.events.filter { $0.name == "fetch" }.map(\.attempt)
    #expect(numbers == [1, 1, 1, 2, 2, 2])
    #expect(Set(observer.events.map(\.id)).count == 3)
  }

  @Test func `R8: a wrong count is a programming error`() async {
    await #expect(processExitsWith: .failure) {
      _ = SimpleOperation { 1 }.hedged(after: .seconds(1), attempts: 0)
    }
  }

  @Test func `R9: if all attempts fail, the error contains the error of each, in order`() async {
    let attempts = Attempts()
    let run = attempts.operation().hedged(after: .milliseconds(50), attempts: 3)
      .start(in: attempts.environment)
    await attempts.waitForBeginning(of: 1)
    await attempts.advance(50)
    await attempts.waitForBeginning(of: 2)
    attempts.fail(2, with: TestError("two"))
    await attempts.waitForBeginning(of: 3)
    attempts.fail(3, with: TestError("three"))
    // The run does not end while an attempt may have a result.
    attempts.fail(1, with: TestError("one"))
    let error = await run.outcome.error as? RetryError
    #expect(error?.errors.map { "\($0)" } == ["one", "two", "three"])
    #expect(error?.representsCancellation == false)
    let alone = await SimpleOperation<Int> { throw TestError("alone") }
      .hedged(after: .seconds(1), attempts: 1).run()
    #expect((alone.error as? RetryError)?.errors.count == 1)
  }

  @Test func `R9: the run ends when all attempts have ended, and discards their values`() async {
    let attempts = Attempts()
    let ended = Flag()
    let run = attempts.operation(isDeaf: true).hedged(after: .milliseconds(50), attempts: 3)
      .start(in: attempts.environment)
    await attempts.waitForBeginning(of: 1)
    for attempt in 2...3 {
      await attempts.advance(50)
      await attempts.waitForBeginning(of: attempt)
    }
    attempts.end(2)
    let waiter = Task {
      let outcome = await run.outcome
      ended.set()
      return outcome
    }
    // The hedge is decided then.
    await attempts.waitForCancellation(of: 1)
    attempts.end(1)
    for _ in 0..<1_000 { await Task.yield() }
    #expect(!ended.isSet)
    attempts.end(3)
    #expect(await waiter.value.result == 2)
    #expect(attempts.discarded.entries == [1, 3])
  }

  @Test func `R9: an error that is not worthwhile cancels the other attempts and ends the run`()
    async
  {
    let attempts = Attempts()
    let run = attempts.operation().hedged(after: .milliseconds(50), attempts: 3) { error in
      error as? TestError != TestError("final")
    }.start(in: attempts.environment)
    await attempts.waitForBeginning(of: 1)
    await attempts.advance(50)
    await attempts.waitForBeginning(of: 2)
    attempts.fail(1, with: TestError("final"))
    let error = await run.outcome.error as? RetryError
    #expect(error?.errors.map { "\($0)" } == ["final"])
    #expect(attempts.began.count == 2)
  }

  @Test func `R9: a cancellation cancels all attempts, and no other one begins`() async {
    let attempts = Attempts()
    let run = attempts.operation().hedged(after: .milliseconds(50), attempts: 3)
      .start(in: attempts.environment)
    await attempts.waitForBeginning(of: 1)
    attempts.fail(1, with: TestError("one"))
    await attempts.waitForBeginning(of: 2)
    await attempts.clock.waitForSleepers(1)
    run.cancel()
    #expect(await run.outcome.isCancelled)
    let late = await run.lateOutcome?.error as? RetryError
    #expect(late?.errors.map { "\($0)" } == ["one"])
    #expect(late?.representsCancellation == true)
    #expect(attempts.began.count == 2)
    #expect(attempts.clock.sleeperCount == 0)
  }

  @Test func `R9: a cancellation ends the wait for an attempt that an error delays`() async {
    let attempts = Attempts()
    let run = attempts.operation().hedged(after: .milliseconds(50)).start(in: attempts.environment)
    await attempts.waitForBeginning(of: 1)
    attempts.fail(1, with: BusyError(retryDelay: .seconds(100)))
    while attempts.clock.nextDeadline?.offset != .seconds(100) { await Task.yield() }
    run.cancel()
    #expect(await run.outcome.isCancelled)
    #expect((await run.lateOutcome?.error as? RetryError)?.errors.count == 1)
  }

  @Test func `R9: an attempt that cancels itself cancels the others`() async {
    let attempts = Attempts()
    let run = attempts.operation().hedged(after: .milliseconds(50), attempts: 3)
      .start(in: attempts.environment)
    await attempts.waitForBeginning(of: 1)
    await attempts.advance(50)
    await attempts.waitForBeginning(of: 2)
    attempts.fail(2, with: CancellationError())
    #expect(await run.outcome.isCancelled)
    #expect(attempts.began.count == 2)
  }

  @Test func `R9: without another attempt, the late outcome of an attempt is passed on`() async {
    for isError in [false, true] {
      let attempts = Attempts()
      let run = attempts.operation(isDeaf: true).hedged(after: .milliseconds(50))
        .start(in: attempts.environment)
      await attempts.waitForBeginning(of: 1)
      run.cancel()
      if isError { attempts.fail(1) } else { attempts.end(1) }
      let late = await run.lateOutcome
      #expect(await run.outcome.isCancelled)
      #expect(late?.kind == (isError ? "error failed" : "result 1"))
      #expect(attempts.discarded.entries == (isError ? [] : [1]))
    }
  }

  @Test func `R9: if the clock fails, the attempts are cancelled, and its error is the last one`()
    async
  {
    let gate = Gate()
    for isCancellation in [false, true] {
      let clock = FailingClock(
        isCancellation ? CancellationError() : TestError("the clock stopped"))
      let run = SimpleOperation { try await gate.pass() }.hedged(after: .seconds(1))
        .start(in: OperationEnvironment(clock: clock))
      let outcome = await run.outcome
      #expect(outcome.isCancelled == isCancellation)
      if !isCancellation {
        #expect((outcome.error as? RetryError)?.description == "attempt 1: the clock stopped")
      }
    }
  }

  @Test func `R9: a hedge works beside timeouts, permits and retries`() async {
    let attempts = Attempts()
    let permits = Permits(3)
    let environment = attempts.environment
    // A timeout around the attempts cancels all of them.
    let limited = attempts.operation().limited(by: permits).hedged(after: .milliseconds(50))
      .timingOut(after: .milliseconds(80)).start(in: environment)
    await attempts.waitForBeginning(of: 1)
    await attempts.advance(50, sleepers: 2)
    await attempts.waitForBeginning(of: 2)
    await attempts.advance(30)
    #expect(await limited.outcome.error is TimeoutError)
    // Each attempt has its own timeout, and a retry begins both again.
    let retried = attempts.operation().timingOut(after: .milliseconds(60))
      .hedged(after: .milliseconds(50)).retrying(attempts: 2).start(in: environment)
    await attempts.waitForBeginning(of: 3)
    await attempts.advance(50, sleepers: 2)
    await attempts.waitForBeginning(of: 4)
    await attempts.advance(60, sleepers: 2)
    await attempts.waitForBeginning(of: 5)
    attempts.end(5)
    #expect(await retried.outcome.result == 5)
    #expect(
      attempts.began.entries.map { $0 / .milliseconds(1) } == [0, 50, 80, 130, 190])
  }

  @Test(.enabled(if: processorCount > 1))
  func `R8: an attempt that computes does not keep another one from beginning`() async {
    // In a separate process: here it would occupy a thread of all tests.
    await #expect(processExitsWith: .success) {
      let began = Log<Int>()
      let outcome = await SimpleOperation {
        let number = began.addNumber()
        while number == 1, !Task.isCancelled {}
        return number
      }.hedged(after: .milliseconds(1)).run()
      #expect(outcome.result == 2)
    }
  }
}
