import CompositeOperations
import CompositeOperationsTestKit
import Testing

/// Creates an operation that fails a number of times before it returns its value, and counts its
/// attempts.
private final class Flaky: Sendable {
  private let attempts = Log<Int>()
  private let setting: Setting?

  init(_ setting: Setting? = nil) { self.setting = setting }

  var attemptCount: Int { attempts.count }

  func operation(failing failures: Int) -> SimpleOperation<String> {
    SimpleOperation {
      self.attempts.add(0)
      let count = self.attempts.count
      await self.setting?.pause()
      if count <= failures { throw TestError("failure \(count)") }
      return "after \(count)"
    }
  }
}

private struct BusyError: RetryAdvising {
  let retryDelay: Duration?
}

@Suite struct RetryTests {
  @Test(arguments: Setting.all)
  func `R1: the count includes the first attempt, and the first result is the outcome`(
    setting: Setting
  ) async throws {
    for (failures, attempts) in [(0, 1), (0, 3), (2, 3), (2, 100)] {
      let flaky = Flaky(setting)
      let outcome = try await setting.run {
        await flaky.operation(failing: failures).retrying(attempts: attempts).run()
      }
      #expect(outcome.result == "after \(failures + 1)")
      #expect(flaky.attemptCount == failures + 1)
    }
  }

  @Test func `R1: if all attempts fail, the error contains the error of each attempt, in order`()
    async
  {
    let flaky = Flaky()
    let operation = flaky.operation(failing: .max).retrying(attempts: 3)
    let error = await operation.run().error as? RetryError
    #expect(error?.errors.map { "\($0)" } == ["failure 1", "failure 2", "failure 3"])
    #expect(
      error?.description
        == "attempt 1: failure 1\nattempt 2: failure 2\nattempt 3: failure 3")
    #expect(error?.representsCancellation == false)
    // The operation can be run again.
    #expect((await operation.run().error as? RetryError)?.errors.count == 3)
    #expect(flaky.attemptCount == 6)
  }

  @Test(arguments: Setting.all)
  func `R1: an attempt that cancels itself is not retried`(setting: Setting) async throws {
    for failures in 0..<2 {
      let attempts = Log<Void>()
      let operation = SimpleOperation<Int> {
        attempts.add(())
        await setting.pause()
        if attempts.count <= failures { throw TestError("failed") }
        throw CancellationError()
      }
      let outcome = try await setting.run { await operation.retrying(attempts: 3).run() }
      #expect(outcome.isCancelled)
      #expect(attempts.count == failures + 1)
    }
  }

  @Test func `R1: no attempt follows an error that the closure does not accept`() async {
    let flaky = Flaky()
    let operation = flaky.operation(failing: .max).retrying(attempts: 5) { error in
      "\(error)" == "failure 1"
    }
    #expect((await operation.run().error as? RetryError)?.errors.count == 2)
  }

  @Test func `R2: the first delay follows the first failure`() async {
    let clock = ManualClock()
    let flaky = Flaky()
    let run = flaky.operation(failing: 3)
      .retrying(attempts: 4, backoff: .linear(from: .seconds(1)))
      .start(in: OperationEnvironment(clock: clock))
    for delay in 1...3 {
      await clock.waitForSleepers(1)
      #expect(flaky.attemptCount == delay)
      clock.advance(by: .seconds(delay) - .milliseconds(1))
      #expect(clock.sleeperCount == 1)
      clock.advance(by: .milliseconds(1))
    }
    #expect(await run.outcome.result == "after 4")
    #expect(clock.now.offset == .seconds(6))
  }

  @Test func `R2: a cancellation ends the wait for the next attempt immediately`() async {
    let clock = ManualClock()
    let flaky = Flaky()
    let run = flaky.operation(failing: .max)
      .retrying(attempts: 3, backoff: .constant(.seconds(1)))
      .start(in: OperationEnvironment(clock: clock))
    await clock.waitForSleepers(1)
    run.cancel()
    #expect(await run.outcome.isCancelled)
    #expect(flaky.attemptCount == 1)
    let late = await run.lateOutcome?.error as? RetryError
    #expect(late?.errors.map { "\($0)" } == ["failure 1"])
    #expect(late?.representsCancellation == true)
  }

  @Test func `R2: a delay that an error advises applies if it is longer than the backoff's`() async
  {
    for (advice, delay) in [(Duration.seconds(5), 5), (.milliseconds(1), 2), (nil, 2)] {
      let clock = ManualClock()
      let count = Log<Int>()
      let run = SimpleOperation {
        count.add(0)
        if count.count == 1 { throw BusyError(retryDelay: advice) }
      }.retrying(attempts: 2, backoff: .constant(.seconds(2)))
        .start(in: OperationEnvironment(clock: clock))
      await clock.waitForSleepers(1)
      #expect(clock.nextDeadline?.offset == .seconds(delay))
      clock.advance(by: .seconds(delay))
      #expect(await run.outcome.result != nil)
    }
  }

  @Test func `R2: an outer retry follows the advice of the last attempt of an inner one`() async {
    let clock = ManualClock()
    let run = SimpleOperation<Int> { throw BusyError(retryDelay: .seconds(5)) }
      .retrying(attempts: 1).retrying(attempts: 2).start(in: OperationEnvironment(clock: clock))
    await clock.waitForSleepers(1)
    #expect(clock.nextDeadline?.offset == .seconds(5))
    clock.advance(by: .seconds(5))
    #expect(await run.outcome.error != nil)
    await SmallStack.run { _ in
      var error = RetryError(
        errors: [BusyError(retryDelay: .seconds(5))], representsCancellation: false)
      for _ in 0..<Scale.depth {
        error = RetryError(errors: [error], representsCancellation: false)
      }
      #expect(error.retryDelay == .seconds(5))
    }
  }

  @Test func `R2: no attempt begins after the budget has been used up`() async {
    let clock = ManualClock()
    let flaky = Flaky()
    let run = flaky.operation(failing: .max)
      .retrying(attempts: 100, backoff: .constant(.seconds(2)), within: .seconds(5))
      .start(in: OperationEnvironment(clock: clock))
    for _ in 0..<2 {
      await clock.waitForSleepers(1)
      clock.advance(by: .seconds(2))
    }
    #expect((await run.outcome.error as? RetryError)?.errors.count == 3)
    #expect(clock.now.offset == .seconds(4))
  }

  @Test func `R1: values in the error of an attempt are discarded if a later attempt succeeds`()
    async
  {
    for failures in [1, 2] {
      let discarded = Log<Int>()
      let count = Log<Int>()
      let good = SimpleOperation { 7 }.discarding { discarded.add($0) }
      let bad = SimpleOperation { () -> Int in
        count.add(0)
        if count.count <= failures { throw TestError("failed") }
        return 8
      }
      let operation = ParallelOperation([AnyOperation(good), AnyOperation(bad)], width: .serial)
        .retrying(attempts: 2)
      let outcome = await operation.run()
      if failures == 1 { #expect(outcome.result == [7, 8]) }
      // An error that is the outcome is not discarded, with the values in it.
      #expect(discarded.entries == (failures == 1 ? [7] : []))
    }
  }

  @Test func `R1: each attempt is a run of its own, which its observers see`() async {
    let outer = RecordingObserver()
    let inner = RecordingObserver()
    let flaky = Flaky()
    let operation = flaky.operation(failing: 1).named("attempt").observed(by: inner)
      .retrying(attempts: 2)
    _ = await operation.run(in: OperationEnvironment(observers: [outer]))
    let ends = outer.events.compactMap { event in
      if case .ended(let outcome, _) = event.kind { outcome.kind } else { nil }
    }
    #expect(ends == ["error failure 1", "result after 2", "result after 2"])
    #expect(Set(inner.events.map(\.id)).count == 2)
    #expect(inner.events.allSatisfy { $0.path.names == ["attempt", "attempt"] })
    #expect(
      await Flaky().operation(failing: 1).observed(by: inner).retrying(attempts: 2).run()
        .result == "after 2")
    #expect(Set(inner.events.map(\.id)).count == 4)
  }

  @Test func `R1: a sequence finds the typed result of an operation with attempts`() async throws {
    struct Fetch: ComposableOperation {
      func perform(in context: OperationContext) -> Int { 7 }
    }
    let flow = ClosureSequence { previous in
      if let previous { return previous.result(of: Fetch.self) == 7 ? nil : Fetch() }
      return Fetch().retrying(attempts: 2).recovering { _ in 0 }.timingOut(after: .seconds(100))
    }
    #expect(try await SequentialOperation(flow).run().get().count == 1)
  }

  // MARK: Decisions

  @Test func `R6: a closure decides whether and when there is another attempt`() async throws {
    let clock = ManualClock()
    let began = Log<Duration>()
    let seen = Log<String>()
    let operation = SimpleOperation<Int> {
      began.add(clock.now.offset)
      throw TestError("failed")
    }.retrying(upTo: 9, backoff: .constant(.seconds(2))) { failure in
      seen.add("\(failure.number) \(failure.error) \(failure.delay)")
      switch failure.number {
      case 1: return .retry(after: failure.delay)
      case 2: return .retry(after: .seconds(5))
      case 3: return .retry()
      default: return .stop
      }
    }
    let run = operation.start(in: OperationEnvironment(clock: clock))
    for seconds in [2, 5] {
      await clock.waitForSleepers(1)
      clock.advance(by: .seconds(seconds))
    }
    #expect((await run.outcome.error as? RetryError)?.errors.count == 4)
    #expect(began.entries == [.zero, .seconds(2), .seconds(7), .seconds(7)])
    #expect(seen.entries == (1...4).map { "\($0) failed 2.0 seconds" })
  }

  @Test func `R6: a closure can replace the operation for the next attempt`() async {
    let attempted = Log<String>()
    let other = SimpleOperation<Int> {
      attempted.add("other")
      if attempted.count < 4 { throw TestError("other failed") }
      return 7
    }
    let operation = SimpleOperation<Int> {
      attempted.add("first")
      throw TestError("failed")
    }.retrying(upTo: 9) { failure in .retry(with: failure.number == 2 ? other : nil) }
    #expect(await operation.run().result == 7)
    #expect(attempted.entries == ["first", "first", "other", "other"])
  }

  @Test func `R6: an error that the closure throws is the outcome of the run`() async {
    let discarded = Log<Int>()
    let attempt = ParallelOperation(
      [
        AnyOperation(SimpleOperation { 7 }.discarding { discarded.add($0) }),
        AnyOperation(SimpleOperation { throw TestError("failed") }),
      ], width: .limited(to: 1))
    let outcome = await attempt.retrying(upTo: 9) { failure in
      if failure.number == 1 { return .retry() }
      throw TestError("enough")
    }.run()
    #expect(outcome.kind == "error enough")
    // The value of the first attempt. The value in the last error is kept, because the closure may
    // have rethrown that error.
    #expect(discarded.entries == [7])
    #expect(
      await attempt.retrying(upTo: 2) { _ in throw CancellationError() }.run().isCancelled)
  }

  @Test func `R1: invalid counts and times are programming errors`() async {
    await #expect(processExitsWith: .failure) {
      _ = SimpleOperation { 1 }.retrying(attempts: 0)
    }
    await #expect(processExitsWith: .failure) {
      _ = SimpleOperation { 1 }.retrying(attempts: 1, within: .seconds(-1))
    }
    await #expect(processExitsWith: .failure) { _ = Backoff.constant(.seconds(-1)) }
    await #expect(processExitsWith: .failure) {
      _ = Backoff.linear(from: .seconds(1), by: .seconds(-1))
    }
    await #expect(processExitsWith: .failure) {
      _ = Backoff.exponential(from: .seconds(1), by: 0.5)
    }
    await #expect(processExitsWith: .failure) {
      _ = Backoff.constant(.seconds(1)).capped(at: .seconds(-1))
    }
  }
}
