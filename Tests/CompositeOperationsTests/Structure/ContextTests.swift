import CompositeOperations
import CompositeOperationsTestKit
import Testing

@Suite struct ContextTests {
  @Test(arguments: Setting.all)
  func `C1: a body runs children and receives their values, errors and cancellations`(
    setting: Setting
  ) async throws {
    let outcome = try await setting.run {
      await SimpleOperation.withContext { context in
        let seven = try await context.run(setting.giving(7))
        let failed = await context.outcome(of: setting.failing())
        let stopped = await context.outcome(of: setting.stopping())
        #expect(failed.kind == "error failed")
        #expect(stopped.isCancelled)
        await #expect(throws: TestError("failed")) { try await context.run(setting.failing()) }
        await #expect(throws: CancellationError.self) {
          try await context.run(setting.stopping())
        }
        return seven
      }.run()
    }
    #expect(outcome.result == 7)
  }

  @Test func `C1: children are cancelled with the run and appear below it`() async {
    let gate = Gate()
    let recorder = RecordingObserver()
    let paths = Log<[String]>()
    let child = SimpleOperation.withContext { context in
      paths.add(context.path.names)
      try await gate.pass()
    }.named("child")
    let run = SimpleOperation.withContext { context in try await context.run(child) }
      .named("parent").observed(by: recorder).start()
    await gate.waitForArrivals(1)
    run.cancel()
    #expect(await run.outcome.isCancelled)
    #expect(paths.entries == [["parent", "child"]])
    #expect(
      recorder.short == [
        "parent created", "parent started", "parent started a child", "child created",
        "child started", "child asked to cancel: -", "parent asked to cancel: -",
        "child ended: cancelled", "parent ended: cancelled",
      ])
    let childEvents = recorder.events(of: "child")
    let parent = recorder.events(of: "parent")[0].id
    #expect(childEvents.allSatisfy { $0.parent == parent && $0.path.names == ["parent", "child"] })
    #expect(parent == run.id)
  }

  @Test func `C1: through a kept context, children belong only to the calling task`() async throws {
    for observers in [[], [RecordingObserver()]] {
      let environment = OperationEnvironment(
        clock: ManualClock(), observers: observers.map { $0 as any OperationObserver })
      let contexts = Log<OperationContext>()
      _ = await SimpleOperation.withContext { context in contexts.add(context) }.run(
        in: environment)
      let kept = try #require(contexts.entries.first)
      let before = observers.first?.events.count
      #expect(try await kept.run(SimpleOperation { 7 }) == 7)
      #expect(await kept.outcome(of: ParallelOperation([SimpleOperation { 8 }])).result == [8])
      #expect(kept.clock is ManualClock)
      #expect(observers.first?.events.count == before)
      let task = Task {
        cancelCurrentTask()
        return await kept.outcome(of: SimpleOperation { 9 })
      }
      #expect(await task.value.isCancelled)
    }
  }

  @Test func `C1: a list that is performed through a kept context has no parent`()
    async throws
  {
    let contexts = Log<OperationContext>()
    _ = await SimpleOperation.withContext { context in contexts.add(context) }
      .run(in: OperationEnvironment(observers: [RecordingObserver()]))
    let kept = try #require(contexts.entries.first)
    let recorder = RecordingObserver()
    let leaf = SimpleOperation.withContext { context in
      _ = await context.outcome(of: SimpleOperation { 1 }.named("own").observed(by: recorder))
      return context.path.names
    }
    #expect(try await ParallelOperation([leaf]).perform(in: kept) == [[]])
    #expect(try await ParallelOperation([AnyOperation(leaf)]).perform(in: kept) == [[]])
    #expect(try await kept.run(ParallelOperation([leaf])) == [[]])
    #expect(recorder.events.count == 9)
    #expect(recorder.events.allSatisfy { $0.path.names == ["own"] && $0.parent == nil })
  }

  @Test(arguments: Setting.all)
  func `C2: task-local values and priority reach the children of every composite`(setting: Setting)
    async throws
  {
    let leaf = SimpleOperation {
      await setting.pause()
      return Local.number
    }
    let operation = ParallelOperation([
      AnyOperation(leaf),
      AnyOperation(leaf.retrying(attempts: 1)),
      AnyOperation(RaceOperation([leaf])),
      AnyOperation(ParallelOperation { [leaf] }.map { $0[0] }),
      AnyOperation(leaf.prioritized(at: .low)),
      AnyOperation(leaf.prioritized(at: .high)),
    ])
    let outcome = try await setting.run {
      await Local.$number.withValue(7) { await operation.run() }
    }
    #expect(outcome.result == [7, 7, 7, 7, 7, 7])
  }

  @Test func `C2: a cancellation reaches every run below it`() async {
    let gate = Gate()
    let leaf = SimpleOperation { try await gate.pass() }
    let operation = ParallelOperation([
      AnyOperation(leaf),
      AnyOperation(leaf.retrying(attempts: 1)),
      AnyOperation(RaceOperation([leaf])),
      AnyOperation(ParallelOperation { [leaf] }.map { $0[0] }),
      AnyOperation(leaf.prioritized(at: .low)),
      AnyOperation(leaf.prioritized(at: .high)),
    ])
    // The gate stays closed, so the test ends only if all leaves are cancelled.
    let run = operation.start()
    await gate.waitForArrivals(6)
    run.cancel()
    #expect(await run.outcome.isCancelled)
  }

  @Test func `C2: a priority reaches every run below it`() async {
    let leaf = SimpleOperation { Task.currentPriority }
    let parallel = ParallelOperation([leaf, leaf]).prioritized(at: .high)
    #expect(await Task(priority: .low) { await parallel.run() }.value.result == [.high, .high])
  }

  @Test func `C3: cancel handlers run without a lock`() async {
    // The handlers cancel the run again and finish operations. Under a lock of the package, these
    // calls would deadlock.
    let gate = Gate()
    let begun = Log<Int>()
    let handled = Log<Int>()
    let box = Log<OperationRun<[Int]>>()
    let children = (0..<40).map { index in
      SimpleOperation<Int>.withCallback { finish in
        finish.onCancel {
          box.entries.first?.cancel()
          handled.add(index)
          finish(.cancelled)
        }
        begun.add(index)
        if begun.count == 40 { Task { gate.open() } }
      }
    }
    let run = ParallelOperation(children).start()
    box.add(run)
    await gate.passIgnoringCancellation()
    run.cancel()
    #expect(await run.outcome.isCancelled)
    #expect(handled.count == 40)
    // Breaks the retain cycle of the run and its handlers.
    box.clear()
  }

  @Test func `C3: an observer can cancel the run that it observes`() async {
    final class Canceller: OperationObserver {
      let runs = Log<OperationRun<Void>>()
      func observe(_ event: OperationEvent) { runs.entries.first?.cancel(because: "seen") }
    }
    let gate = Gate()
    let canceller = Canceller()
    let run = SimpleOperation { try await gate.pass() }.observed(by: canceller).start()
    await gate.waitForArrivals(1)
    canceller.runs.add(run)
    run.cancel(because: "first")
    #expect(await run.outcome.isCancelled)
    // Breaks the retain cycle of the run and its observer.
    canceller.runs.clear()
  }

  @Test func `C5: the clock and the random numbers come from the environment`() async throws {
    let clock = ManualClock()
    let environment = OperationEnvironment(clock: clock, randomness: .seeded(7))
    let sleep = SimpleOperation.withContext { context in
      try await context.clock.sleep(for: .seconds(3600))
      var random = context.randomness
      return Int.random(in: 0..<1_000_000, using: &random)
    }
    var drawn: [[Int]] = []
    for _ in 0..<2 {
      let environment = OperationEnvironment(clock: clock, randomness: .seeded(7))
      let run = ParallelOperation([sleep, sleep]).start(in: environment)
      await clock.waitForSleepers(2)
      clock.advance(by: .seconds(3600))
      drawn.append(try await run.outcome.get().sorted())
    }
    #expect(drawn[0] == drawn[1])
    #expect(drawn[0][0] != drawn[0][1])
    #expect(environment.clock is ManualClock)
    #expect(OperationContext().clock is ContinuousClock)
  }

  @Test func `C5: the time that a child computes has no effect under a seeded executor`()
    async throws
  {
    /// Returns the order in which children begin and end, and the results.
    func story(ofSeed seed: UInt64, steps: Int, isLazy: Bool) async throws -> [Int] {
      let log = Log<Int>()
      let children = (0..<40).map { index in
        SimpleOperation {
          log.add(index)
          var value = UInt64(index)
          // One child computes for longer than another task should have to wait.
          for _ in 0..<(index == 3 ? steps : 0) {
            value = (value ^ (value >> 29)) &* 6_364_136_223_846_793_005
          }
          await Task.yield()
          log.add(index)
          return value == 0 ? -1 : index
        }
      }
      let operation = isLazy ? ParallelOperation { children } : ParallelOperation(children)
      let outcome = try await SeededExecutor(seed: seed).run { await operation.run() }
      return try log.entries + outcome.get()
    }
    for isLazy in [false, true] {
      for seed in 0..<3 as Range<UInt64> {
        let quick = try await story(ofSeed: seed, steps: 0, isLazy: isLazy)
        let slow = try await story(ofSeed: seed, steps: 10_000_000, isLazy: isLazy)
        #expect(quick == slow, "seed \(seed)")
      }
    }
  }

  private enum Local {
    @TaskLocal static var number = 0
  }
}
