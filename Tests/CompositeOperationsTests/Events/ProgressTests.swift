import CompositeOperations
import CompositeOperationsTestKit
import Synchronization
import Testing

@Suite struct ProgressTests {
  /// Returns the progress that a run reports, one text for each call.
  private func steps(
    of operation: some ComposableOperation, in setting: Setting = Setting.all[0]
  ) async throws -> [String] {
    let log = Log<String>()
    let told = operation.onProgress { log.add("\($0)") }
    _ = try await setting.run { await told.run() }
    return log.entries
  }

  private func reporting(_ counts: [Int], of total: Int?) -> SimpleOperation<Void> {
    SimpleOperation.withContext { context in
      for count in counts { context.report(count, of: total, unit: "files") }
    }
  }

  @Test(arguments: Setting.all)
  func `V6: progress that a body reports is passed on`(setting: Setting) async throws {
    #expect(
      try await steps(of: reporting([1, 2, 4], of: 4), in: setting) == [
        "25 %, 1 of 4 files", "50 %, 2 of 4 files", "100 %, 4 of 4 files",
      ])
    #expect(
      try await steps(of: reporting([1, 2], of: nil), in: setting) == [
        "1 files", "2 files", "100 %, 2 files",
      ])
    #expect(
      try await steps(of: reporting([-3, 9], of: 4), in: setting) == [
        "0 %, 0 of 4 files", "100 %, 9 of 4 files",
      ])
  }

  @Test func `V6: after the end of the body, and without observers, nothing is reported`() async {
    let recorder = RecordingObserver()
    let kept = Log<OperationContext>()
    let operation = SimpleOperation.withContext { context in
      context.report(1, of: 2)
      kept.add(context)
    }
    _ = await operation.run(in: OperationEnvironment(observers: [recorder]))
    _ = await operation.run()
    for context in kept.entries {
      context.report(2, of: 2)
      context.expectChildren(1)
      context.log("late")
    }
    #expect(recorder.short.count == 4)
    #expect(recorder.short[2] == "\(operation.operationName) is at 1 of 2 -")
  }

  @Test(arguments: Setting.all)
  func `V7: the progress of a composite is the sum of its children`(setting: Setting) async throws {
    let child = SimpleOperation { 1 }
    let lists: [any ComposableOperation] = [
      ParallelOperation([child, child, child, child], width: .serial),
      ParallelOperation(width: .serial) { [child, child, child, child] },
      SequentialOperation(.linear([child, child, child, child])),
      OperationGraph(width: .serial) { graph in
        let first = graph.add(child)
        let second = graph.add(needing: first) { _ in child }
        let third = graph.add(needing: second) { _ in child }
        return graph.add(needing: third) { _ in child }
      },
    ]
    for list in lists {
      #expect(
        try await steps(of: list, in: setting) == ["0 %", "25 %", "50 %", "75 %", "100 %"],
        "\(list.operationName)")
    }
    let chain = child.then { _ in child }
    #expect(try await steps(of: chain, in: setting) == ["0 %", "50 %", "100 %"])
    let pair = ParallelOperation(child, reporting([1], of: 2), width: .serial)
    #expect(
      try await steps(of: pair, in: setting) == ["0 %", "50 %", "75 %, 1 files", "100 %, 1 files"])
  }

  @Test func `V7: a child counts by its weight, whatever its other modifiers`() async throws {
    let child = SimpleOperation { 1 }
    let heavy = child.named("heavy").weighing(3).named("heavier").retrying(attempts: 2)
    let children: [any ComposableOperation<Int>] = [heavy, child]
    let list = ParallelOperation(children, width: .serial)
    #expect(try await steps(of: list) == ["0 %", "75 %", "100 %"])
    let graph = OperationGraph(width: .serial) { graph in
      let first = graph.add(heavy)
      return graph.add(needing: first) { _ in child }
    }
    #expect(try await steps(of: graph) == ["0 %", "75 %", "100 %"])
    let own = SimpleOperation.withContext { context in
      context.expectChildren(weighing: 10)
      _ = await context.outcome(of: child.weighing(9))
      _ = await context.outcome(of: child)
    }
    #expect(try await steps(of: own) == ["0 %", "90 %", "100 %"])
    let chain = child.weighing(9).then { _ in child }
    #expect(try await steps(of: chain) == ["0 %", "90 %", "100 %"])
    let steps = SequentialOperation(.linear([child.weighing(9), child, child.weighing(0.5)]))
    #expect(try await self.steps(of: steps) == ["0 %", "81 %", "90 %", "95 %", "100 %"])
    let light = child.weighing(0.5).map { $0 }
    #expect(try await self.steps(of: light) == ["0 %", "100 %"])
    let lazily = ParallelOperation(width: .serial) { [child.weighing(9), child.weighing(9)] }
    #expect(try await self.steps(of: lazily) == ["0 %", "90 %", "100 %"])
  }

  @Test func `V7: progress that a body reports takes precedence over its children's progress`()
    async throws
  {
    let operation = SimpleOperation.withContext { context in
      context.report(1, of: 10, unit: "rows")
      _ = await context.outcome(of: reporting([1, 2], of: 2))
      context.report(2, of: 10, unit: "rows")
    }
    #expect(
      try await steps(of: operation) == [
        "10 %, 1 of 10 rows", "20 %, 2 of 10 rows", "100 %, 2 of 10 rows",
      ])
  }

  @Test func `V7: units at the maximum and a change of the total are reported`()
    async throws
  {
    let huge = ParallelOperation([reporting([.max], of: nil), reporting([.max], of: nil)])
    #expect(try await steps(of: huge).last == "100 %, \(Int.max) files")
    let changed = SimpleOperation.withContext { context in
      context.report(900, of: 1_000)
      context.report(10, of: 100)
    }
    #expect(
      try await steps(of: changed) == ["90 %, 900 of 1000", "90 %, 10 of 100", "100 %, 10 of 100"])
    #expect(OperationProgress(fraction: 0.57, completed: 57, total: 100).percent == 57)
    #expect(OperationProgress(fraction: .nan).percent == nil)
  }

  @Test func `V7: units of children are added up if they are of one kind`() async throws {
    let files = ParallelOperation(
      [reporting([1, 2], of: 2), reporting([3], of: 3)], width: .serial)
    #expect(
      try await steps(of: files) == [
        "0 %", "25 %, 1 files", "50 %, 2 files", "100 %, 5 files",
      ])
    let unlike = SimpleOperation.withContext { context in context.report(7, unit: "rows") }
    let mixed = ParallelOperation([reporting([1], of: 1), unlike], width: .serial)
    #expect(try await steps(of: mixed) == ["0 %", "50 %, 1 files", "100 %, 1 files"])
  }

  @Test func `V7: the progress of a failed or cancelled run remains where it was`() async throws {
    let stopping = SimpleOperation.withContext { context in
      context.report(1, of: 4)
      throw CancellationError()
    }
    #expect(try await steps(of: stopping) == ["25 %, 1 of 4"])
    let failing = SimpleOperation.withContext { context in
      context.report(3, of: 4)
      throw TestError("failed")
    }
    #expect(try await steps(of: failing) == ["75 %, 3 of 4"])
    // The failure cancels the other children, which are retried with it.
    let gate = Gate()
    let attempts = Log<Int>()
    let waiting = SimpleOperation { try await gate.pass() }
    let flaky = SimpleOperation {
      attempts.add(1)
      if attempts.count > 1 { return gate.open() }
      await gate.waitForArrivals(3)
      throw TestError("failed")
    }
    let list = ParallelOperation([waiting, waiting, waiting, flaky]).retrying(attempts: 2)
    let told = try await steps(of: list)
    #expect(told.first == "0 %" && told.dropFirst().first == "25 %" && told.last == "100 %")
    let all = ParallelOperation(
      [failing, SimpleOperation {}], width: .serial, onFailure: .runAll)
    #expect(try await steps(of: all) == ["0 %", "37 %, 3", "50 %, 3", "100 %, 3"])
  }

  @Test func `V7: unknown progress is complete at the end`() async throws {
    let child = SimpleOperation { 1 }
    #expect(try await steps(of: child) == ["100 %"])
    #expect(try await steps(of: child.repeating(times: 3)) == ["100 %"])
    #expect(try await steps(of: RaceOperation([child, child])) == ["100 %"])
    #expect(try await steps(of: SimpleOperation { throw TestError("failed") }) == [])
  }

  @Test(arguments: Setting.all)
  func `V8: progress never decreases, even if operations are retried or added`(setting: Setting)
    async throws
  {
    let attempts = Log<Int>()
    let flaky = SimpleOperation.withContext { context in
      attempts.add(1)
      for count in attempts.count % 2 == 1 ? [5] : [3, 8] { context.report(count, of: 10) }
      if attempts.count % 2 == 1 { throw TestError("failed") }
    }
    #expect(
      try await steps(of: flaky.retrying(attempts: 2), in: setting) == [
        "50 %, 5 of 10", "80 %, 8 of 10", "100 %, 8 of 10",
      ])
    #expect(
      try await steps(of: reporting([6, 2, 8], of: 8), in: setting) == [
        "75 %, 6 of 8 files", "100 %, 8 of 8 files",
      ])
    let child = SimpleOperation { 1 }
    let growing = SimpleOperation.withContext { context in
      context.expectChildren(2)
      for _ in 0..<4 { _ = await context.outcome(of: child) }
    }
    #expect(try await steps(of: growing, in: setting) == ["0 %", "50 %", "100 %"])
  }

  @Test func `V8: changes below the minimum fraction are not reported`() async {
    let calls = Log<Double>()
    var operation: any ComposableOperation<Int> = SimpleOperation { 1 }
    // Each level halves the changes of the level below it.
    for _ in 0..<2_000 {
      let children: [any ComposableOperation<Int>] = [operation, SimpleOperation { 1 }]
      operation = ParallelOperation(children, width: .serial).map { $0[0] }
    }
    let told = AnyOperation(operation).onProgress { calls.add($0.fraction ?? -1) }
    #expect(await told.run().result == 1)
    // Two changes for each of the fifty outermost levels.
    #expect((50...110).contains(calls.count))
    #expect(calls.entries == calls.entries.sorted() && calls.entries.last == 1)
  }

  @Test func `V7: a weight is found through up to 64 modifiers`() async throws {
    let asked = Log<Int>()
    struct Leaf: ComposableOperation {
      let asked: Log<Int>
      var modifiedOperation: (any ComposableOperation)? {
        asked.add(1)
        return nil
      }
      func perform(in context: OperationContext) -> Int { 1 }
    }
    func levels(_ count: Int, around operation: any ComposableOperation<Int>) -> AnyOperation<Int> {
      (0..<count).reduce(AnyOperation(operation)) { inner, _ in
        AnyOperation(inner.retrying(attempts: 1))
      }
    }
    for (count, percent) in [(10, "75 %"), (1_000, "50 %")] {
      let heavy = levels(count, around: SimpleOperation { 1 }.weighing(3))
      let list = ParallelOperation([heavy, AnyOperation(SimpleOperation { 1 })], width: .serial)
      #expect(try await steps(of: list).contains(percent), "\(count)")
    }
    // Each of the levels searches at most 64 levels below it.
    let deep = levels(1_000, around: Leaf(asked: asked))
    _ = await deep.run(in: OperationEnvironment(observers: [RecordingObserver()]))
    #expect(asked.count < 200)
  }

  @Test func `V8: progress of many threads is reported one call at a time, the newest last`() async
  {
    let calls = Log<Double>()
    let crowd = Crowd()
    let endedCount = Atomic(0)
    let list = ParallelOperation(
      (0..<2_000).map { _ in
        SimpleOperation {
          await Task.yield()
          endedCount.add(1, ordering: .relaxed)
        }
      })
    for _ in 0..<3 {
      let told = list.onProgress { progress in
        crowd.enter()
        calls.add(progress.fraction ?? -1)
        // Leaves time for the reports of other threads, if there are any.
        let count = endedCount.load(ordering: .relaxed)
        var attempts = 0
        while endedCount.load(ordering: .relaxed) < count + 4, attempts < 20_000 { attempts += 1 }
        crowd.leave()
      }
      _ = await told.run()
      #expect(calls.entries.last == 1)
    }
    let fractions = calls.entries
    #expect(crowd.most == 1)
    #expect(zip(fractions, fractions.dropFirst()).allSatisfy { $0 < $1 || $0 == 1 })
  }

  @Test func `V8: each run of an operation has its own progress`() async throws {
    let list = ParallelOperation((0..<2).map { _ in SimpleOperation { 1 } }, width: .serial)
    let log = Log<String>()
    let told = list.onProgress { log.add("\($0)") }
    for _ in 0..<2 { _ = await told.run() }
    #expect(log.entries == ["0 %", "50 %", "100 %", "0 %", "50 %", "100 %"])
  }
}
