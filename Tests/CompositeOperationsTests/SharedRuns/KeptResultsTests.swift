import CompositeOperations
import CompositeOperationsTestKit
import Testing

@Suite struct KeptResultsTests {
  @Test func `H3: a result is kept for the requested time, by the clock of the run`() async throws {
    let clock = ManualClock()
    let runs = SharedRuns<String, Int>(keepingResultsFor: .seconds(10))
    let begun = Log<Int>()
    let environment = OperationEnvironment(clock: clock)
    func want(_ key: String = "a") async -> Int? {
      await SharedCount(begun: begun).shared(in: runs, for: key).run(in: environment).result
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

  @Test func `H3: an expired result is forgotten, even if its key is not requested again`() async {
    let clock = ManualClock()
    let runs = SharedRuns<Int, Token>(keepingResultsFor: .seconds(1))
    let gone = Log<Void>()
    var mostKept = 0
    // On one worker, so that a run has been released when it has ended.
    let executor = SeededExecutor(seed: 1)
    let environment = OperationEnvironment(clock: clock, executor: executor)
    for key in 1...5_000 {
      let token = SimpleOperation { Token(gone) }
      _ = token.shared(in: runs, for: key).start(in: environment)
      executor.drain()
      clock.advance(by: .milliseconds(100))
      mostKept = max(mostKept, key - gone.count)
    }
    #expect(mostKept < 100, "only ten results are unexpired at any time")
  }

  /// Records its deallocation.
  private final class Token: Sendable {
    private let gone: Log<Void>
    init(_ gone: Log<Void>) { self.gone = gone }
    deinit { gone.add(()) }
  }

  @Test func `H3: a result that is forgotten during its run is not kept`() async {
    for forgetsAll in [false, true] {
      let runs = SharedRuns<String, Int>(keepingResultsFor: .seconds(60))
      let stored = Log<Int>()
      stored.add(1)
      let gates = [Gate(), Gate()]
      let fetch = SimpleOperation {
        let value = stored.count
        try await gates[value - 1].pass()
        return value
      }.shared(in: runs, for: "a")
      let executor = SeededExecutor(seed: 1)
      let environment = OperationEnvironment(clock: ManualClock(), executor: executor)
      let stale = fetch.start(in: environment)
      executor.drain()
      stored.add(2)
      if forgetsAll { runs.forgetAll() } else { runs.forget("a") }
      let fresh = fetch.start(in: environment)
      executor.drain()
      #expect(runs.runningCount == 2)
      // The run that began first ends last.
      for gate in gates.reversed() {
        gate.open()
        executor.drain()
      }
      #expect(await stale.outcome.result == 1)
      #expect(await fresh.outcome.result == 2)
      let kept = fetch.start(in: environment)
      executor.drain()
      #expect(await kept.outcome.result == 2 && gates[1].arrivals == 1)
    }
  }

  @Test func `H3: a kept result is never discarded`() async {
    let discarded = Log<Int>()
    let runs = SharedRuns<Int, Int>(keepingResultsFor: .seconds(60))
    let kept = SimpleOperation { 1 }.discarding { discarded.add($0) }.shared(in: runs, for: 1)
    let failing = SimpleOperation<Int> { throw TestError("failed") }
    let environment = OperationEnvironment(clock: ManualClock())
    // The value is in a composite error that no closure receives.
    _ = await ParallelOperation([AnyOperation(kept), AnyOperation(failing)], width: .serial)
      .map { $0.count }.ignoringErrors(with: 0).run(in: environment)
    #expect(discarded.count == 0)
    #expect(await kept.run(in: environment).result == 1)
  }
}
