import CompositeOperations
import CompositeOperationsTestKit
import Testing

@Suite struct SharedRunsTests {
  /// Gives how often it has run, when a gate lets it.
  private struct Count: ComposableOperation {
    let begun: Log<Int>
    var gate = Gate(isOpen: true)
    var ended = Log<String>()

    func perform(in context: OperationContext) async throws -> Int {
      begun.add(begun.count + 1)
      let number = begun.count
      do { try await gate.pass() } catch {
        ended.add("cancelled")
        throw error
      }
      ended.add("passed")
      return number
    }
  }

  @Test(arguments: Setting.all)
  func `H1: those who want the same at the same time share a run`(setting: Setting) async throws {
    let runs = SharedRuns<String, Int>()
    let begun = Log<Int>()
    let gate = Gate()
    @Sendable func wanting(_ key: String) -> some ComposableOperation<Int> {
      Count(begun: begun, gate: gate).shared(in: runs, for: key)
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

  @Test func `H1: an error, a cancellation by itself and its reason are everybody's`() async {
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
        if kind == 2 { #expect(await handle.late?.error is Skipped) }
      }
    }
  }

  @Test(arguments: 0..<10 as Range<UInt64>)
  func `H2: who is cancelled leaves at once, and the others get the outcome`(seed: UInt64) async {
    let runs = SharedRuns<Int, Int>()
    let count = Count(begun: Log<Int>(), gate: Gate())
    let executor = SeededExecutor(seed: seed)
    let handles = (0..<3).map { _ in
      count.shared(in: runs, for: 1).start(in: OperationEnvironment(executor: executor))
    }
    executor.drain()
    // One of them began the run, chance says which.
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

  @Test func `H2: a run is cancelled when nobody waits for it, and who comes then gets another`()
    async
  {
    let runs = SharedRuns<Int, Int>()
    let count = Count(begun: Log<Int>(), gate: Gate())
    let handles = (0..<3).map { _ in count.shared(in: runs, for: 1).start() }
    await count.gate.waitForArrivals(1)
    for handle in handles.dropFirst() { handle.cancel() }
    for handle in handles.dropFirst() { #expect(await handle.outcome.isCancelled) }
    #expect(count.ended.count == 0)
    handles[0].cancel()
    #expect(await handles[0].outcome.isCancelled)
    #expect(runs.runningCount == 0)
    while count.ended.count == 0 { await Task.yield() }
    #expect(count.ended.entries == ["cancelled"])
    count.gate.open()
    #expect(await count.shared(in: runs, for: 1).run().result == 2)
  }

  @Test func `H3: a result is kept for its time, by the clock of the run`() async throws {
    let clock = ManualClock()
    let runs = SharedRuns<String, Int>(keepingResultsFor: .seconds(10))
    let begun = Log<Int>()
    let environment = OperationEnvironment(clock: clock)
    func want(_ key: String = "a") async -> Int? {
      await Count(begun: begun).shared(in: runs, for: key).run(in: environment).result
    }
    #expect(await want() == 1)
    clock.advance(by: .seconds(9))
    #expect(await want() == 1)
    clock.advance(by: .seconds(1))
    #expect(await want() == 2)
    runs.forget("a")
    #expect(await want() == 3)
    #expect(await want("b") == 4)
    runs.forgetAll()
    #expect(await want() == 5)
    let failing = SimpleOperation<Int> {
      begun.add(0)
      throw TestError("failed")
    }.shared(in: runs, for: "c")
    for _ in 0..<2 { #expect(await failing.run(in: environment).error is TestError) }
    #expect(begun.count == 7)
  }

  @Test func `H3: what is over is forgotten, also if nobody asks for it`() async {
    let clock = ManualClock()
    let runs = SharedRuns<Int, Token>(keepingResultsFor: .seconds(1))
    let alive = Log<Void>()
    for key in 0..<1_000 {
      let token = SimpleOperation { Token(alive) }
      _ = await token.shared(in: runs, for: key).run(in: OperationEnvironment(clock: clock))
      clock.advance(by: .milliseconds(100))
    }
    #expect(1_000 - alive.count < 200, "\(1_000 - alive.count) are kept")
  }

  /// Notes when it is gone.
  private final class Token: Sendable {
    private let gone: Log<Void>
    init(_ gone: Log<Void>) { self.gone = gone }
    deinit { gone.add(()) }
  }

  @Test func `H2: a value that nobody has is given up, once`() async {
    let discarded = Log<Int>()
    let runs = SharedRuns<Int, Int>()
    let gate = Gate()
    let base = SimpleOperation {
      // Gives its value although it is cancelled.
      _ = try? await gate.pass()
      return 1
    }.discarding { discarded.add($0) }
    let handles = (0..<2).map { _ in base.shared(in: runs, for: 1).start() }
    await gate.waitForArrivals(1)
    for handle in handles { handle.cancel() }
    for handle in handles { #expect(await handle.outcome.isCancelled) }
    while discarded.count == 0 { await Task.yield() }
    #expect(discarded.entries == [1])

    // Two have it, and both give it up in the end.
    let executor = SeededExecutor(seed: 1)
    let (ready, late) = (Gate(), Gate())
    let wanted = SimpleOperation {
      try await ready.pass()
      return 2
    }.discarding { discarded.add($0) }.shared(in: runs, for: 2)
    let waits = SimpleOperation<Int> {
      try await late.pass()
      return 0
    }
    let composites = (0..<2).map { _ in
      ParallelOperation([AnyOperation(wanted), AnyOperation(waits)])
        .start(in: OperationEnvironment(executor: executor))
    }
    executor.drain()
    #expect(ready.arrivals == 1 && late.arrivals == 2)
    ready.open()
    executor.drain()
    for (composite, count) in zip(composites, [0, 1]) {
      composite.cancel()
      executor.drain()
      #expect(await composite.outcome.isCancelled)
      #expect(discarded.entries.count { $0 == 2 } == count)
    }
  }

  @Test func `H2: the values of an error that several have are given up by the last of them`()
    async
  {
    let discarded = Log<Int>()
    let runs = SharedRuns<Int, [Int]>()
    let gate = Gate()
    let children = [
      AnyOperation(SimpleOperation { 1 }.discarding { discarded.add($0) }),
      AnyOperation(
        SimpleOperation<Int> {
          try await gate.pass()
          throw TestError("failed")
        }),
    ]
    let executor = SeededExecutor(seed: 1)
    let environment = OperationEnvironment(executor: executor)
    let shared = ParallelOperation(children).shared(in: runs, for: 1)
    let keeping = shared.start(in: environment)
    let ignoring = (0..<2).map { number in
      shared.ignoringErrors(with: [number]).start(in: environment)
    }
    executor.drain()
    gate.open()
    executor.drain()
    for (number, run) in ignoring.enumerated() { #expect(await run.outcome.result == [number]) }
    // The third one still has the error, and the value in it.
    #expect(discarded.entries == [])
    let error = await keeping.outcome.error as? ParallelOperationError
    #expect(error?.children.first?.outcome.result as? Int == 1)

    // Who comes now runs it again.
    let all = (0..<3).map { number in shared.ignoringErrors(with: [number]).start(in: environment) }
    executor.drain()
    for (number, run) in all.enumerated() { #expect(await run.outcome.result == [number]) }
    #expect(discarded.entries == [1])
  }

  @Test func `H1 and H2: whoever comes and goes, each gets one outcome of a run that it shared`()
    async
  {
    for seed in 0..<UInt64(ModelSettings.scaled(2_000)) {
      let findings = await SharedTrial(seed: seed).findings()
      if let first = findings.first {
        Issue.record("seed \(seed): \(first)")
        return
      }
    }
  }
}
