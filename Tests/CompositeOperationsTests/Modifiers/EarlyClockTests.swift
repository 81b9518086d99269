import CompositeOperations
import CompositeOperationsTestKit
import Testing

/// A modifier that waits two seconds of a clock.
private enum Waiting: CaseIterable {
  case delayedBy, delayedUntil, retrying, repeating, throttled
  case timingOutAfter, timingOutUntil, abandoningAfter, abandoningUntil

  /// Returns an operation that reads the clock after the wait.
  func operation(
    on clock: EarlyClock, into ends: Log<Duration>, limitedBegin begin: Gate = Gate()
  ) -> any ComposableOperation<Void> {
    let time = Duration.seconds(2)
    let moment = clock.now.advanced(by: time)
    let body = SimpleOperation { ends.add(clock.now.offset) }
    let limited = SimpleOperation {
      begin.open()
      try? await Gate().pass()
      ends.add(clock.now.offset)
    }
    let attempts = Log<Int>()
    let second = SimpleOperation {
      if attempts.addNumber() == 1 { throw TestError("failed") }
      ends.add(clock.now.offset)
    }
    let limit = RateLimit(1, per: time)
    switch self {
    case .delayedBy: return body.delayed(by: time)
    case .delayedUntil: return body.delayed(until: moment, on: clock)
    case .retrying: return second.retrying(attempts: 2, backoff: .constant(time))
    case .repeating:
      return SimpleOperation {
        if attempts.addNumber() == 2 { ends.add(clock.now.offset) }
      }.repeating(times: 2, backoff: .constant(time))
    case .throttled:
      return SimpleOperation {}.throttled(by: limit).then { body.throttled(by: limit) }
    case .timingOutAfter: return limited.timingOut(after: time)
    case .timingOutUntil: return limited.timingOut(until: moment, on: clock)
    case .abandoningAfter: return limited.timingOut(after: time, .abandoning)
    case .abandoningUntil: return limited.timingOut(until: moment, on: clock, .abandoning)
    }
  }

  var isTimeout: Bool {
    switch self {
    case .delayedBy, .delayedUntil, .retrying, .repeating, .throttled: false
    case .timingOutAfter, .timingOutUntil, .abandoningAfter, .abandoningUntil: true
    }
  }
}

/// T4: a clock may wake a sleeper before its deadline.
@Suite(.timeLimit(.minutes(10))) struct EarlyClockTests {
  @Test(arguments: Waiting.allCases)
  fileprivate func `T4: a wait does not end before its time if the clock wakes it early`(
    waiting: Waiting
  ) async {
    let (clock, ends) = (EarlyClock(by: .milliseconds(500)), Log<Duration>())
    let begin = Gate()
    let run = waiting.operation(on: clock, into: ends, limitedBegin: begin)
      .start(in: OperationEnvironment(clock: clock))
    await clock.waitForSleepers(1)
    // A limit that passes first would keep the body from beginning.
    if waiting.isTimeout { try? await begin.pass() }
    clock.advance(by: .milliseconds(1_500))
    // From now on, the clock wakes the task immediately.
    while clock.sleepCount < 3, ends.count == 0 { await Task.yield() }
    #expect(ends.entries == [])
    clock.advance(by: .milliseconds(500))
    let outcome = await run.outcome
    #expect((outcome.error is TimeoutError) == waiting.isTimeout, "\(outcome)")
    // An abandoned body may end after its run.
    while ends.count == 0 { await Task.yield() }
    #expect(ends.entries == [.seconds(2)])
  }

  @Test(arguments: Waiting.allCases)
  fileprivate func `T4: a cancellation ends a wait on a clock whose time does not pass`(
    waiting: Waiting
  ) async {
    let (clock, ends) = (EarlyClock(by: nil), Log<Duration>())
    let run = waiting.operation(on: clock, into: ends).start(in: OperationEnvironment(clock: clock))
    while clock.sleepCount < 3 { await Task.yield() }
    run.cancel()
    #expect(await run.outcome.isCancelled)
    #expect(ends.count == 0 || waiting.isTimeout)
  }

  @Test func `T4: a body within its limit ends although the time of its clock does not pass`() async
  {
    for mode in [TimeoutMode.waiting, .abandoning] {
      let environment = OperationEnvironment(clock: EarlyClock(by: nil))
      let body = SimpleOperation {
        await Task.yield()
        return 7
      }
      let outcome = await body.timingOut(after: .seconds(2), mode).run(in: environment)
      #expect(outcome.result == 7)
    }
  }
}
