import CompositeOperations
import CompositeOperationsTestKit
import Testing

@Suite struct ProgressObserverTests {
  @Test func `V6: a started run shows its progress`() async {
    let gate = Gate()
    let operation = SimpleOperation.withContext { context in
      context.report(1, of: 4)
      try await gate.pass()
    }
    let tracked = operation.start(trackingProgress: true)
    let untracked = operation.start()
    await gate.waitForArrivals(2)
    #expect(tracked.progress == OperationProgress(fraction: 0.25, completed: 1, total: 4))
    #expect(untracked.progress == OperationProgress())
    gate.open()
    _ = await tracked.outcome
    _ = await untracked.outcome
    #expect(tracked.progress.fraction == 1 && untracked.progress.fraction == 1)
  }

  @Test func `V7: the branches are the active runs, each after its parent`() async {
    let gate = Gate()
    let progress = ProgressObserver()
    let waiting = SimpleOperation.withContext { context in
      context.report(1, of: 2)
      try await gate.pass()
    }
    let quick = SimpleOperation {}
    let inner = ParallelOperation([quick.named("a"), waiting.named("b")]).named("inner")
    let children: [any ComposableOperation<Void>] = [
      inner.map { _ in }, quick, waiting.delayed(by: .seconds(60)).named("late"),
    ]
    let clock = ManualClock()
    let run = ParallelOperation(children).named("all").start(
      in: OperationEnvironment(clock: clock, observers: [progress]))
    await gate.waitForArrivals(1)
    await clock.waitForSleepers(1)
    let lines = progress.branches.map { branch in
      "\(branch.level) \(branch.name) \(branch.progress) \(branch.endedCount)"
        + (branch.wait.map { " \($0)" } ?? "")
    }
    #expect(
      lines == [
        "0 all 58 %, 1 1", "1 inner.map 75 %, 1 0", "2 inner 75 %, 1 1", "3 b 50 %, 1 of 2 0",
        "1 late under way 0 60.0 seconds",
      ])
    run.cancel()
    _ = await run.outcome
    #expect(progress.branches.isEmpty)
  }

  @Test func `V8: an observer adds up concurrent runs, and starts again after they have ended`()
    async
  {
    let gate = Gate()
    let progress = ProgressObserver()
    let environment = OperationEnvironment(observers: [progress])
    let waiting = SimpleOperation.withContext { context in
      context.report(1, of: 2)
      try await gate.pass()
    }
    let first = waiting.start(in: environment)
    let second = waiting.start(in: environment)
    await gate.waitForArrivals(2)
    _ = await SimpleOperation {}.run(in: environment)
    #expect(progress.progress.fraction == 2.0 / 3)
    gate.open()
    _ = await (first.outcome, second.outcome)
    #expect(progress.progress.fraction == 1)
    let third = SimpleOperation { #expect(progress.progress == OperationProgress()) }
    _ = await third.run(in: environment)
  }

  @Test func `V8: the progress of ten thousand levels is derived`() async {
    let progress = ProgressObserver()
    let fractions = Log<Double>()
    var operation = AnyOperation(
      SimpleOperation.withContext { context in
        context.report(1, of: 2)
        fractions.add(progress.progress.fraction ?? -1)
        #expect(progress.branches.count == 20_001)
      })
    for _ in 0..<10_000 {
      let children = [operation, AnyOperation(SimpleOperation {})]
      operation = AnyOperation(ParallelOperation(children, width: .serial).map { _ in })
    }
    _ = await operation.run(in: OperationEnvironment(observers: [progress]))
    #expect(fractions.entries == [0] && progress.progress.fraction == 1)
  }
}
