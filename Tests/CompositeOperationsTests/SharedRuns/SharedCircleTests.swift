import CompositeOperations
import CompositeOperationsTestKit
import Testing

@Suite struct SharedCircleTests {
  /// Runs another operation as its child.
  private struct Running: ComposableOperation {
    let other: @Sendable () -> AnyOperation<Int>

    func perform(in context: OperationContext) async throws -> Int {
      try await context.run(other())
    }
  }

  @Test(arguments: [false, true])
  func `H4: a run that would wait for itself gets an error immediately`(isObserved: Bool) async {
    let runs = SharedRuns<Int, Int>()
    let environment = OperationEnvironment(observers: isObserved ? [RecordingObserver()] : [])
    let one = SimpleOperation { 1 }.shared(in: runs, for: 7)
    let others: [@Sendable () -> AnyOperation<Int>] = [
      { AnyOperation(one) },
      // Nested in composites.
      { AnyOperation(ParallelOperation([one.retrying(attempts: 2)]).map { $0[0] }) },
    ]
    for other in others {
      let outcome = await Running(other: other).shared(in: runs, for: 7).run(in: environment)
      let error = outcome.firstPermitError
      #expect(error?.reason == .heldByAncestor)
      #expect(
        error?.description
          == "deadlock: 'shared result for 7' is held by an enclosing operation until it ends")
      #expect(runs.runningCount == 0)
      #expect(await one.run(in: environment).result == 1)
    }
    #expect(await one.shared(in: runs, for: 7).run().firstPermitError?.reason == .heldByAncestor)
  }

  @Test(arguments: 0..<10 as Range<UInt64>)
  func `H4: a caller that would complete a cycle of runs gets an error immediately`(seed: UInt64)
    async throws
  {
    let runs = SharedRuns<Int, Int>()
    for count in 2...4 {
      @Sendable func wanting(_ key: Int) -> AnyOperation<Int> {
        AnyOperation(Running { wanting((key + 1) % count) }.shared(in: runs, for: key))
      }
      let outcomes = try await SeededExecutor(seed: seed).run {
        try await ParallelOperation((0..<count).map(wanting), onFailure: .runAll)
          .collectingOutcomes().run().get()
      }
      for outcome in outcomes { #expect(outcome.firstPermitError?.reason == .deadlock) }
      #expect(runs.runningCount == 0)
    }
  }

  @Test func `H4: a run that needs permits of a waiting caller's ancestors gets an error`()
    async throws
  {
    let runs = SharedRuns<Int, Int>()
    let lock = Permits(1, name: "lock")
    let locked = SimpleOperation { 1 }.exclusive(in: lock).shared(in: runs, for: 1)
    // On one worker, the run completes the cycle, because its first caller already waits for it.
    let error = try await SeededExecutor(seed: 1).run {
      await locked.exclusive(in: lock).run().firstPermitError
    }
    #expect(
      error?.description == """
        deadlock: the holder of 'lock' waits for 'shared result for 1', which an enclosing operation \
        holds; take both at once, or always in the same order
        """)
    #expect(lock.leftCount == 1 && runs.runningCount == 0)

    // A later caller that holds the permits is refused, and the run continues.
    let gate = Gate()
    let executor = SeededExecutor(seed: 1)
    let environment = OperationEnvironment(executor: executor)
    let holding = SimpleOperation.withContext { context in
      try await gate.pass()
      return try await context.run(locked)
    }.exclusive(in: lock).start(in: environment)
    executor.drain()
    let first = locked.start(in: environment)
    executor.drain()
    #expect(lock.waitingCount == 1)
    gate.open()
    executor.drain()
    #expect(await holding.outcome.firstPermitError?.wanted == ["shared result for 1"])
    #expect(await first.outcome.result == 1)
  }

  @Test func `H4: a caller with permits that the run does not need waits for it`() async {
    let runs = SharedRuns<Int, Int>()
    let (lock, other) = (Permits(1), Permits(1))
    let gate = Gate()
    let wanted = SimpleOperation {
      try await gate.pass()
      return 1
    }.exclusive(in: other).shared(in: runs, for: 1)
    let executor = SeededExecutor(seed: 1)
    let environment = OperationEnvironment(executor: executor)
    let handles = (0..<3).map { _ in wanted.limited(by: lock).start(in: environment) }
    let free = wanted.start(in: environment)
    executor.drain()
    handles[1].cancel()
    executor.drain()
    #expect(await handles[1].outcome.isCancelled)
    gate.open()
    executor.drain()
    #expect(await free.outcome.result == 1)
    for index in [0, 2] { #expect(await handles[index].outcome.result == 1) }
    #expect(lock.leftCount == 1 && other.leftCount == 1)
  }
}
