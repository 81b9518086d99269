import CompositeOperations
import CompositeOperationsTestKit
import Testing

@Suite(.timeLimit(.minutes(10))) struct ParallelEvidenceTests {
  @Test func `P4: typed outcomes are available for a tuple whose children have one result type`()
    async
  {
    let same = ParallelOperation(
      SimpleOperation { 1 }, SimpleOperation<Int> { throw TestError("two") }, onFailure: .runAll)
    let sameError = await same.run().error as? ParallelOperationError
    #expect(sameError?.outcomes(of: Int.self)?.map(\.kind) == ["result 1", "error two"])
    #expect(sameError?.outcomes(of: String.self) == nil)
    let different = ParallelOperation(
      SimpleOperation { 1 }, SimpleOperation { "2" }, SimpleOperation<Int> { throw TestError("3") },
      onFailure: .runAll)
    let differentError = await different.run().error as? ParallelOperationError
    #expect(differentError?.outcomes(of: Int.self) == nil)
  }

  @Test func `P4: the error contains every child in order, with its outcome and origin`()
    async throws
  {
    let gate = Gate()
    let operation = ParallelOperation(
      [
        SimpleOperation { 0 }.named("quick"),
        SimpleOperation<Int> {
          do { try await gate.pass() } catch { throw TestError("interrupted") }
          return 1
        }.named("waiting"),
        SimpleOperation {
          await gate.waitForArrivals(1)
          throw TestError("no network")
        }.named("failing"),
        SimpleOperation { 3 }.named("unborn"),
      ], width: .limited(to: 2))
    let error = try #require(await operation.run().error as? ParallelOperationError)
    #expect(error.children.map(\.index) == [0, 1, 2, 3])
    #expect(error.children.map(\.name) == ["quick", "waiting", "failing", "unborn"])
    #expect(error.children.map(\.origin) == [.itself, .composite, .itself, .neverBegan])
    #expect(
      error.children.map(\.outcome.kind) == [
        "result 0", "cancelled", "error no network", "cancelled",
      ])
    #expect(error.outcomes(of: Int.self)?.compactMap(\.result) == [0])
    #expect(error.outcomes(of: String.self) == nil)
    #expect(error.description == "[2] failing: no network")
  }

  @Test func `P4: a child created lazily that has a result is shown by its type`() async throws {
    let children = [
      AnyOperation(SimpleOperation { 1 }.named("first")),
      AnyOperation(SimpleOperation<Int> { throw TestError("failed") }.named("second")),
    ]
    let kept = ParallelOperation(width: .serial) { children }
    let error = try #require(await kept.run().error as? ParallelOperationError)
    #expect(error.children.map(\.name) == ["AnyOperation<Int>", "second"])
    #expect(error.children.map(\.outcome.kind) == ["result 1", "error failed"])
    let consumed = ParallelOperation(width: .serial) {
      children
    } consumingResults: { _ in
    }
    let rest = try #require(await consumed.run().error as? ParallelOperationError)
    #expect(rest.children.map(\.index) == [1])
    #expect(rest.children.map(\.name) == ["second"])
  }

  @Test func `P4: the description has one line for each failure, the first cause first`()
    async throws
  {
    let first = Gate()
    let children: [any ComposableOperation<Int>] = [
      SimpleOperation<Int> {
        await first.passIgnoringCancellation()
        throw TestError("second\nwith two lines")
      }.named("a"),
      SimpleOperation<Int> {
        await first.waitForArrivals(1)
        first.open()
        throw TestError("first")
      }.named("b"),
    ]
    // The gate opens before the second child throws, so one worker decides which error is first.
    let operation = ParallelOperation(children, onFailure: .runAll)
    let outcome = try await SeededExecutor(seed: 1).run { await operation.run() }
    let error = try #require(outcome.error as? ParallelOperationError)
    #expect(error.failures.map(\.index) == [1, 0])
    #expect(error.description == "[1] b: first\n[0] a: second\n  with two lines")
  }

  @Test func `P4: a nested error is described after the name of its child`() async throws {
    let inner = ParallelOperation(
      [SimpleOperation<Int> { throw TestError("x") }.named("x")]
    ).named("inner")
    let outer = ParallelOperation([inner])
    #expect(await outer.run().error.map { "\($0)" } == "[0] inner: [0] x: x")
  }

  @Test func `P4: a cancelled composite has its error in its event and on its handle`()
    async throws
  {
    let gate = Gate()
    let recorder = RecordingObserver()
    let operation = ParallelOperation([
      SimpleOperation { 0 }.named("quick"),
      SimpleOperation {
        try await gate.pass()
        return 1
      }.named("waiting"),
    ]).observed(by: recorder)
    let run = operation.start()
    await gate.waitForArrivals(1)
    while recorder.outcomes.isEmpty { await Task.yield() }
    run.cancel()
    #expect(await run.outcome.isCancelled)
    let late = try #require(await run.lateOutcome?.error as? ParallelOperationError)
    #expect(late.children.map(\.outcome.kind) == ["result 0", "cancelled"])
    #expect(late.children.map(\.origin) == [.itself, .composite])
    guard case .ended(let outcome, let shown) = recorder.events.last?.kind else {
      Issue.record("The last event is \(recorder.short.last ?? "none")")
      return
    }
    #expect(outcome.isCancelled)
    #expect((shown?.error as? ParallelOperationError)?.children.count == 2)
  }

  @Test func `P4: the late error of a composite names the child that cancelled itself`()
    async throws
  {
    let run = ParallelOperation([
      SimpleOperation<Int> { throw CancellationError() }.named("tired")
    ]).start()
    #expect(await run.outcome.isCancelled)
    let late = try #require(await run.lateOutcome?.error as? ParallelOperationError)
    #expect(late.description == "[0] tired: cancelled itself")
    #expect(late.representsCancellation)
  }

  @Test
  func `P4: a child that cancelled itself keeps its origin if its observer then cancels the run`()
    async throws
  {
    struct Canceller: OperationObserver {
      let runs: Log<OperationRun<[Int]>>
      func observe(_ event: OperationEvent) {
        if case .ended = event.kind, event.name == "tired" { runs.entries.first?.cancel() }
      }
    }
    let runs = Log<OperationRun<[Int]>>()
    let environment = OperationEnvironment(observers: [Canceller(runs: runs)])
    for isLazy in [false, true] {
      let gate = Gate()
      let tired = SimpleOperation<Int> {
        await gate.passIgnoringCancellation()
        throw CancellationError()
      }.named("tired")
      let composite =
        isLazy
        ? ParallelOperation(onFailure: .runAll) { [tired] }
        : ParallelOperation([tired], onFailure: .runAll)
      let run = composite.start(in: environment)
      runs.add(run)
      gate.open()
      #expect(await run.outcome.isCancelled)
      let late = try #require(await run.lateOutcome?.error as? ParallelOperationError)
      #expect(late.children.first?.origin == .itself, "lazy: \(isLazy)")
      runs.clear()
    }
  }

  @Test func `P4: the names of children are computed only for a description`() async throws {
    let names = NameCount()
    let failing = (0..<100).map { index in names.operation { throw TestError("\(index)") } }
    let list = ParallelOperation(failing, onFailure: .runAll)
    let pair = ParallelOperation(AnyOperation(failing[0]), AnyOperation(failing[1]))
    let graph = OperationGraph { graph in
      failing.map { graph.add(AnyOperation($0).ignoringErrors(with: 0)) }
    }
    let operations: [any ComposableOperation] = [
      list, list.collectingOutcomes(), list.retrying(attempts: 2), list.ignoringErrors(with: []),
      ParallelOperation([list]), RaceOperation(failing), SequentialOperation(.linear([list])),
      pair, graph,
    ]
    func error(of operation: some ComposableOperation) async -> (any Error)? {
      await operation.run().error
    }
    for operation in operations {
      let error = await error(of: operation)
      #expect((error as? any CancellationRepresenting)?.representsCancellation != true)
      let outcomes = (error as? ParallelOperationError)?.outcomes(of: Int.self)
      #expect(outcomes?.contains { $0.error != nil } != false)
    }
    #expect(names.count == 0)
  }

  @Test func `P4: three of many cancelled children are named, and all are counted`()
    async throws
  {
    let (names, gate) = (NameCount(), Gate())
    let waiting = (0..<100).map { _ in
      names.operation {
        try await gate.pass()
        return 1
      }
    }
    let failing = names.operation(named: "failing") {
      await gate.waitForArrivals(100)
      throw TestError("failed")
    }
    let list = ParallelOperation(waiting + [failing])
    let error = try #require(await list.run().error)
    #expect("\(error)" == "[100] failing: failed")
    #expect(names.count == 1)
    #expect(
      OperationErrorTree(error).description == """
        ParallelOperationError
        ├─ [100] failing: failed
        └─ as a result, 100 were cancelled ([0] counted, [1] counted, [2] counted, …)
        """)
    #expect(names.count == 5)
  }

  @Test func `P4: looking up thousands of failures takes linear time`() async throws {
    let count = 20_000
    let children = (0..<count).map { index in
      SimpleOperation<Int> { throw TestError("\(index)") }
    }
    let outcome = await ParallelOperation(children, onFailure: .runAll).run()
    let error = try #require(outcome.error as? ParallelOperationError)
    #expect(error.failures.count == count)
    #expect(error.outcomes(of: Int.self)?.filter { $0.error != nil }.count == count)
    let last = try #require(error.children.last)
    #expect(last.outcome.kind == "error \(count - 1)")
  }
}
