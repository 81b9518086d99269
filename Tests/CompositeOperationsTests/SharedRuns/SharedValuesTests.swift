import CompositeOperations
import CompositeOperationsTestKit
import Testing

/// The discarding of values that several callers receive.
@Suite struct SharedValuesTests {
  @Test func `H2: a value that no caller keeps is discarded once`() async {
    let discarded = Log<Int>()
    let runs = SharedRuns<Int, Int>()
    let gate = Gate()
    let base = SimpleOperation {
      // Returns its value although it is cancelled.
      _ = try? await gate.pass()
      return 1
    }.discarding { discarded.add($0) }
    let handles = (0..<2).map { _ in base.shared(in: runs, for: 1).start() }
    await gate.waitForArrivals(1)
    for handle in handles { handle.cancel() }
    for handle in handles { #expect(await handle.outcome.isCancelled) }
    while discarded.count == 0 { await Task.yield() }
    #expect(discarded.entries == [1])

    // Two callers receive it, and both discard it in the end.
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

  /// Cancels a run when it has ended, before its callers receive the outcome.
  private struct CancellingAtTheEnd: OperationObserver {
    let run = Log<OperationRun<Int>>()
    let reasons = Log<String?>()

    func observe(_ event: OperationEvent) {
      guard event.parent == nil else { return }
      switch event.kind {
      case .ended: run.entries.first?.cancel()
      case .cancellationRequested(let reason): reasons.add(reason)
      default: break
      }
    }
  }

  @Test(arguments: [false, true], [Duration.zero, .seconds(60)])
  func `H2: the outcome of a run is discarded if its last caller has just left`(
    isError: Bool, keptFor: Duration
  ) async {
    let discarded = Log<Int>()
    let runs = SharedRuns<Int, Int>(keepingResultsFor: keptFor)
    let observer = CancellingAtTheEnd()
    let gate = Gate()
    let value = SimpleOperation { 1 }.discarding { discarded.add($0) }
    let ending = SimpleOperation<Int> {
      try await gate.pass()
      if isError { throw TestError("failed") }
      return 0
    }
    let base =
      isError
      ? AnyOperation(ParallelOperation([AnyOperation(value), AnyOperation(ending)]).map { $0[0] })
      : AnyOperation(ending.then { _ in value })
    let executor = SeededExecutor(seed: 1)
    let run = base.observed(by: observer).shared(in: runs, for: 1)
      .start(in: OperationEnvironment(executor: executor))
    observer.run.add(run)
    executor.drain()
    gate.open()
    executor.drain()
    #expect(await run.outcome.isCancelled)
    #expect(discarded.entries == [1])
    #expect(observer.reasons.count == 0 && runs.runningCount == 0)
  }

  @Test func `H2: the observers of a run without waiting callers receive the reason`() async {
    let runs = SharedRuns<Int, Int>()
    let observer = RecordingObserver()
    let gate = Gate()
    let run = SharedCount(begun: Log<Int>(), gate: gate).observed(by: observer)
      .shared(in: runs, for: 1).start()
    await gate.waitForArrivals(1)
    run.cancel()
    #expect(await run.outcome.isCancelled)
    while runs.runningCount > 0 { await Task.yield() }
    let reasons = observer.events.compactMap { event in
      if case .cancellationRequested(let reason) = event.kind { reason } else { nil }
    }
    #expect(reasons == ["the last waiter has left"])
  }

  @Test func `H2: values in an error that several callers receive are discarded by the last one`()
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
    // The third caller still has the error, and the value in it.
    #expect(discarded.entries == [])
    let error = await keeping.outcome.error as? ParallelOperationError
    #expect(error?.children.first?.outcome.result as? Int == 1)

    // Later callers start another run.
    let all = (0..<3).map { number in shared.ignoringErrors(with: [number]).start(in: environment) }
    executor.drain()
    for (number, run) in all.enumerated() { #expect(await run.outcome.result == [number]) }
    #expect(discarded.entries == [1])
  }

  @Test func `H1 and H2: on all workers, each value is received or discarded once`() async {
    let runs = SharedRuns<Int, Int>()
    let (made, given) = (Log<Int>(), Log<Int>())
    let discarded = Log<Int>()
    let numbers = Log<Void>()
    await withDiscardingTaskGroup { group in
      for number in 0..<8 {
        group.addTask {
          for round in 0..<Scale.cases(500) {
            let wanted = SimpleOperation {
              numbers.add(())
              let value = numbers.count * 8 + number
              for _ in 0..<(round % 3) { await Task.yield() }
              made.add(value)
              return value
            }.discarding { discarded.add($0) }.shared(in: runs, for: round / 2 % 3)
            let run = wanted.start()
            if (round + number) % 3 == 0 { run.cancel() }
            if let value = await run.outcome.result { given.add(value) }
          }
        }
      }
    }
    while runs.runningCount > 0 { await Task.yield() }
    #expect(Set(discarded.entries).count == discarded.count)
    #expect(Set(given.entries).isDisjoint(with: discarded.entries))
    #expect(Set(made.entries) == Set(given.entries).union(discarded.entries))
  }
}
