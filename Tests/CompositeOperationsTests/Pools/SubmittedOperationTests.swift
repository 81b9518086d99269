import CompositeOperations
import CompositeOperationsTestKit
import Testing

@Suite struct SubmittedOperationTests {
  @Test(arguments: [false, true])
  func `W10: a submitted operation has the outcome of its member`(
    isObserved: Bool
  ) async {
    let recorder = RecordingObserver()
    let environment = OperationEnvironment(observers: isObserved ? [recorder] : [])
    let pool = OperationPool(width: .limited(to: 2))
    let numbers = ParallelOperation(
      (0..<10).map { number in SimpleOperation { number }.submitted(to: pool) })
    #expect(await numbers.run(in: environment).result == Array(0..<10))
    let failing = SimpleOperation<Int> { throw TestError("failed") }
    #expect(await failing.submitted(to: pool).run(in: environment).error is TestError)
    let skipping = SimpleOperation<Int> { throw Skipped(because: "enough") }
    let run = skipping.submitted(to: pool).start(in: environment)
    #expect(await run.outcome.isCancelled)
    #expect(await run.lateOutcome?.error is Skipped)
    pool.close(.runningWhatWaits)
    let refused = await numbers.run(in: environment).error as? ParallelOperationError
    #expect(refused?.failures.first?.outcome.error is PoolRefusalError)
    if isObserved { #expect(recorder.events(of: "SimpleOperation<Int>").count > 0) }
  }

  @Test func `W10: cancelling a submitted operation cancels its member, waiting or running`() async
  {
    let pool = OperationPool(width: .serial)
    let scene = await PoolScene(pool)
    let waiting = scene.guest(1).submitted(to: pool).start()
    while pool.waitingCount == 0 { await Task.yield() }
    waiting.cancel()
    #expect(await waiting.outcome.isCancelled)
    #expect(pool.waitingCount == 0)
    await scene.end()
    let gate = Gate()
    let running = SimpleOperation {
      try await gate.pass()
      return 1
    }.submitted(to: pool).start()
    await gate.waitForArrivals(1)
    running.cancel()
    #expect(await running.outcome.isCancelled)
    #expect(pool.runningCount == 0 && scene.begun.entries == [0])
  }

  @Test func `W10: a member that would wait for permits of an ancestor gets an error`() async {
    let pool = OperationPool()
    let lock = Permits(1, name: "lock")
    let submitted = SimpleOperation { 1 }.named("work").exclusive(in: lock).submitted(to: pool)
    let error = await submitted.exclusive(in: lock).run().firstPermitError
    #expect(error?.reason == .deadlock)
    // The later of two requests completes the cycle: the member's, or the wait for the member.
    #expect([["end of work in a pool"], ["lock"]].contains(error?.held))
    #expect(await submitted.run().result == 1)
    let other = Permits(1)
    #expect(await submitted.exclusive(in: other).run().result == 1)
    #expect(lock.leftCount == 1 && other.leftCount == 1 && pool.runningCount == 0)
  }

  /// Creates and submits the next level.
  private struct Level: ComposableOperation {
    let number: Int
    let pool: OperationPool

    func perform(in context: OperationContext) async throws -> Int {
      if number == 0 { return 0 }
      let next = Level(number: number - 1, pool: pool).submitted(to: pool)
      return try await context.run(next) + 1
    }
  }

  @Test(arguments: [false, true])
  func `W10: members that submit others nest 10,000 levels deep, even below permits`(
    isBelowPermits: Bool
  ) async {
    let pool = OperationPool(width: .limited(to: Scale.depth + 1))
    let lock = Permits(1)
    let level = Level(number: Scale.depth, pool: pool)
    let outcome =
      isBelowPermits ? await level.exclusive(in: lock).run() : await level.submitted(to: pool).run()
    #expect(outcome.result == Scale.depth)
    #expect(lock.leftCount == 1)
  }

  @Test func `W10: a lost value of a submitted operation is discarded once`() async {
    let discarded = Log<Int>()
    let pool = OperationPool()
    let gate = Gate()
    let begun = Log<Int>()
    let value = SimpleOperation {
      begun.add(1)
      return 1
    }.discarding { discarded.add($0) }.submitted(to: pool)
    let late = SimpleOperation {
      try? await gate.pass()
      return 2
    }.discarding { discarded.add($0) }.submitted(to: pool)
    let run = ParallelOperation([AnyOperation(value), AnyOperation(late)]).start()
    await gate.waitForArrivals(1)
    while begun.count == 0 || pool.runningCount > 1 { await Task.yield() }
    run.cancel()
    #expect(await run.outcome.isCancelled)
    #expect(discarded.entries.sorted() == [1, 2])
    #expect(await value.run().result == 1)
    #expect(discarded.count == 2)
  }
}
