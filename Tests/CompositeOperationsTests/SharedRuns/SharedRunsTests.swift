import CompositeOperations
import CompositeOperationsTestKit
import Testing

@Suite struct SharedRunsTests {
  @Test(arguments: Setting.all)
  func `H1: concurrent callers of the same key share a run`(setting: Setting) async throws {
    let runs = SharedRuns<String, Int>()
    let begun = Log<Int>()
    let gate = Gate()
    @Sendable func wanting(_ key: String) -> some ComposableOperation<Int> {
      SharedCount(begun: begun, gate: gate).shared(in: runs, for: key)
    }
    let keys = ["a", "b", "a", "a", "b"]
    let results = try await setting.run {
      let open = SimpleOperation {
        await gate.waitForArrivals(2)
        #expect(runs.runningCount == 2)
        gate.open()
        return 0
      }
      let all = keys.map { AnyOperation(wanting($0)) } + [AnyOperation(open)]
      return try await ParallelOperation(all).run().get()
    }
    #expect(begun.count == 2)
    #expect(results[0] == results[2] && results[0] == results[3] && results[1] == results[4])
    #expect(Set(results.prefix(2)) == [1, 2])
    #expect(runs.runningCount == 0)
    #expect(try await wanting("a").run().get() == 3)
  }

  @Test func `H1: all callers receive an error, a self-cancellation and its reason`() async {
    let runs = SharedRuns<Int, Int>()
    let gate = Gate()
    for kind in 0..<3 {
      let base = SimpleOperation<Int> {
        try await gate.pass()
        switch kind {
        case 0: throw TestError("failed")
        case 1: throw CancellationError()
        default: throw Skipped(because: "enough")
        }
      }
      let handles = (0..<3).map { _ in base.shared(in: runs, for: kind).start() }
      if kind == 0 {
        await gate.waitForArrivals(1)
        gate.open()
      }
      for handle in handles {
        let outcome = await handle.outcome
        if kind == 0 { #expect(outcome.error as? TestError == TestError("failed")) }
        if kind > 0 { #expect(outcome.isCancelled) }
        if kind == 2 { #expect(await handle.lateOutcome?.error is Skipped) }
      }
    }
  }

  @Test func `H1: callers of a run receive its outcome in FIFO order`() async {
    let runs = SharedRuns<Int, Int>()
    let gate = Gate()
    let told = Log<Int>()
    let executor = InOrderExecutor()
    let wanted = SimpleOperation {
      try await gate.pass()
      return 1
    }.shared(in: runs, for: 1)
    for number in 0..<50 {
      _ = wanted.map { _ in told.add(number) }.start(in: OperationEnvironment(executor: executor))
    }
    executor.drain()
    gate.open()
    executor.drain()
    #expect(told.entries == Array(0..<50))
  }

  @Test(arguments: [false, true])
  func `H1: a run has the highest priority of its waiting callers`(isRaisedLater: Bool)
    async
  {
    let runs = SharedRuns<Int, Int>()
    let gate = Gate()
    let seen = Log<TaskPriority>()
    let wanted = SimpleOperation {
      try await gate.pass()
      seen.add(Task.currentPriority)
      return 1
    }.shared(in: runs, for: 1)
    let executor = InOrderExecutor()
    func want(at priority: TaskPriority) -> Task<Outcome<Int>, Never> {
      let task = Task(executorPreference: executor, priority: priority) { await wanted.run() }
      executor.drain()
      return task
    }
    let leader = want(at: .background)
    let other = want(at: isRaisedLater ? .background : .high)
    if isRaisedLater { other.escalatePriority(to: .high) }
    gate.open()
    executor.drain()
    #expect(await leader.value.result == 1)
    #expect(await other.value.result == 1)
    #expect(seen.entries == [.high])
  }

  /// Creates and shares the next level.
  private struct Level: ComposableOperation {
    let number: Int
    let runs: SharedRuns<Int, Int>

    func perform(in context: OperationContext) async throws -> Int {
      if number == 0 { return 0 }
      let next = Level(number: number - 1, runs: runs).shared(in: runs, for: number - 1)
      return try await context.run(next) + 1
    }
  }

  @Test func `H1: runs that share others nest 10,000 levels deep`() async {
    let runs = SharedRuns<Int, Int>()
    let outcome = await Level(number: Scale.depth, runs: runs).shared(in: runs, for: -1).run()
    #expect(outcome.result == Scale.depth)
    #expect(runs.runningCount == 0)
  }

  @Test func `H1: a shared run is part of no growing composite`() async {
    let runs = SharedRuns<Int, Int>()
    let adding = SimpleOperation.withContext { context in
      try context.add(SimpleOperation { 2 })
      return 1
    }
    let outcome = await ParallelOperation(growing: [adding.shared(in: runs, for: 1)]).run()
    let error = (outcome.error as? ParallelOperationError)?.failures.first?.outcome.error
    #expect((error as? ChildNotAddedError)?.reason == .noGrowingComposite)
  }

  @Test(arguments: 0..<10 as Range<UInt64>)
  func `H2: a cancelled caller leaves immediately, and the others receive the outcome`(seed: UInt64)
    async
  {
    let runs = SharedRuns<Int, Int>()
    let count = SharedCount(begun: Log<Int>(), gate: Gate())
    let executor = SeededExecutor(seed: seed)
    let handles = (0..<3).map { _ in
      count.shared(in: runs, for: 1).start(in: OperationEnvironment(executor: executor))
    }
    executor.drain()
    // One of them started the run; which one depends on the seed.
    for index in [0, 2] {
      handles[index].cancel()
      executor.drain()
      #expect(await handles[index].outcome.isCancelled)
      #expect(runs.runningCount == 1)
    }
    count.gate.open()
    executor.drain()
    #expect(await handles[1].outcome.result == 1)
    #expect(count.begun.count == 1)
    #expect(count.ended.entries == ["passed"])
  }

  @Test
  func `H2: a run without waiting callers is cancelled, and a later caller starts another one`()
    async
  {
    let runs = SharedRuns<Int, Int>()
    let count = SharedCount(begun: Log<Int>(), gate: Gate())
    let handles = (0..<3).map { _ in count.shared(in: runs, for: 1).start() }
    await count.gate.waitForArrivals(1)
    for handle in handles.dropFirst() { handle.cancel() }
    for handle in handles.dropFirst() { #expect(await handle.outcome.isCancelled) }
    #expect(count.ended.count == 0)
    handles[0].cancel()
    #expect(await handles[0].outcome.isCancelled)
    while runs.runningCount > 0 { await Task.yield() }
    #expect(count.ended.entries == ["cancelled"])
    count.gate.open()
    #expect(await count.shared(in: runs, for: 1).run().result == 2)
  }

  @Test func `H1 and H2: each caller in a random order gets one outcome of a run that it shared`()
    async
  {
    for seed in 0..<UInt64(Scale.cases(2_000)) {
      let findings = await SharedTrial(seed: seed).findings()
      if let first = findings.first {
        Issue.record("seed \(seed): \(first)")
        return
      }
    }
  }
}
