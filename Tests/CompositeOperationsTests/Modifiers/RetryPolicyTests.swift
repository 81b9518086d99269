import CompositeOperations
import CompositeOperationsTestKit
import Testing

@Suite struct RetryPolicyTests {
  private struct Busy: Error, Equatable { let number: Int }

  /// Returns an operation whose runs fail, each with its number, from 1.
  private static func failing(_ count: Log<Void>) -> SimpleOperation<Int> {
    SimpleOperation {
      count.add(())
      throw Busy(number: count.count)
    }
  }

  /// Returns an operation whose runs fail, with their numbers as values in the errors.
  private static func failing(
    _ count: Log<Void>, discarding discarded: Log<Int>
  ) -> some ComposableOperation<[Int]> {
    let value = SimpleOperation {
      count.add(())
      return count.count
    }.discarding { discarded.add($0) }
    let failure = SimpleOperation<Int> { throw TestError("failed") }
    return ParallelOperation([AnyOperation(value), AnyOperation(failure)], width: .serial)
  }

  @Test(arguments: [1, 2, 5])
  func `R7: a policy limits the attempts`(attempts: Int) async {
    let count = Log<Void>()
    let outcome = await Self.failing(count).retrying(RetryPolicy(attempts: attempts)).run()
    #expect((outcome.error as? RetryError)?.errors.count == attempts)
    #expect(count.count == attempts)
  }

  @Test func `R7: a policy has a backoff and a budget`() async {
    let (clock, count) = (ManualClock(), Log<Void>())
    let policy = RetryPolicy(
      attempts: 9, backoff: .linear(from: .seconds(1)), within: .seconds(5))
    let run = Self.failing(count).retrying(policy).start(in: OperationEnvironment(clock: clock))
    for delay in 1...2 {
      await clock.waitForSleepers(1)
      #expect(clock.nextDeadline?.offset == clock.now.offset + .seconds(delay))
      clock.advance(by: .seconds(delay))
    }
    // The next attempt would begin after 6 seconds.
    #expect((await run.outcome.error as? RetryError)?.errors.count == 3)
    #expect(clock.now.offset == .seconds(3))
  }

  @Test func `R7: no attempt follows an error that is not worthwhile for the policy`() async {
    let (count, seen) = (Log<Void>(), Log<Int>())
    let policy = RetryPolicy(attempts: 9) { error in error as? Busy != Busy(number: 3) }
    let outcome = await Self.failing(count).retrying(policy).run()
    #expect((outcome.error as? RetryError)?.errors as? [Busy] == (1...3).map(Busy.init))
    // The closure that decides is not called for such an error, nor for the last attempt.
    for (attempts, numbers) in [(9, [1, 2]), (2, [1])] {
      let count = Log<Void>()
      let before = seen.count
      let policy = RetryPolicy(attempts: attempts, when: policy.isWorthwhile)
      _ = await Self.failing(count).retrying(policy) { failure in
        seen.add(failure.number)
        return .retry()
      }.run()
      #expect(Array(seen.entries.dropFirst(before)) == numbers)
    }
  }

  @Test func `R7: a policy for the last error ends in that error itself`() async {
    let policy = RetryPolicy(attempts: 3, throwing: .lastAttempt)
    #expect(await Self.failing(Log()).retrying(policy).run().error as? Busy == Busy(number: 3))
    let stopping = RetryPolicy(attempts: 9, throwing: .lastAttempt) { error in
      error as? Busy != Busy(number: 2)
    }
    #expect(await Self.failing(Log()).retrying(stopping).run().error as? Busy == Busy(number: 2))
    let deciding = Self.failing(Log()).retrying(policy) { failure in
      failure.number == 2 ? .stop : .retry()
    }
    #expect(await deciding.run().error as? Busy == Busy(number: 2))
  }

  @Test func `R7: a policy for the last error discards the values in the other errors`() async {
    let discarded = Log<Int>()
    let policy = RetryPolicy(attempts: 3, throwing: .lastAttempt)
    let outcome = await Self.failing(Log(), discarding: discarded).retrying(policy).run()
    let error = outcome.error as? ParallelOperationError
    #expect(error?.outcomes(of: Int.self)?.compactMap(\.result) == [3])
    #expect(discarded.entries == [1, 2])
  }

  @Test func `R7: a cancelled run keeps the last error as its late error`() async {
    let (clock, discarded) = (ManualClock(), Log<Int>())
    let policy = RetryPolicy(
      attempts: 3, backoff: .constant(.seconds(1)), throwing: .lastAttempt)
    let run = Self.failing(Log(), discarding: discarded).retrying(policy)
      .start(in: OperationEnvironment(clock: clock))
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(1))
    await clock.waitForSleepers(1)
    run.cancel()
    #expect(await run.outcome.isCancelled)
    let late = await run.lateOutcome?.error as? ParallelOperationError
    #expect(late?.outcomes(of: Int.self)?.compactMap(\.result) == [2])
    // The values in a late error are discarded, too.
    #expect(discarded.entries == [1, 2])
  }

  @Test func `R7: the policy without retries makes one attempt and ends in its error`() async {
    let count = Log<Void>()
    #expect(await Self.failing(count).retrying(.none).run().error as? Busy == Busy(number: 1))
    #expect(count.count == 1)
    #expect(await SimpleOperation { 7 }.retrying(.none).run().result == 7)
    #expect(RetryPolicy.none.attempts == 1)
    #expect(RetryPolicy.none.budget == nil)
  }

  @Test func `R7: an attempt that cancels itself ends the run, whatever the policy`() async {
    let count = Log<Void>()
    let stopping = SimpleOperation<Int> {
      count.add(())
      if count.count == 1 { throw Busy(number: 1) }
      throw CancellationError()
    }
    let policy = RetryPolicy(attempts: 9, throwing: .lastAttempt)
    #expect(await stopping.retrying(policy).run().isCancelled)
    #expect(count.count == 2)
  }

  @Test func `R7: invalid counts and budgets are programming errors`() async {
    await #expect(processExitsWith: .failure) { _ = RetryPolicy(attempts: 0) }
    await #expect(processExitsWith: .failure) {
      _ = RetryPolicy(attempts: 1, within: .seconds(-1))
    }
    #expect(RetryPolicy(attempts: 1, within: .zero).budget == .zero)
  }
}
