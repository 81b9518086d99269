import CompositeOperations
import CompositeOperationsTestKit
import Testing

@Suite struct OutcomeTests {
  @Test func `an outcome is created from a Result by the same rules as from a body`() {
    #expect(Outcome(Result<Int, any Error>.success(7)).kind == "result 7")
    #expect(Outcome<Int>(Result { throw TestError("failed") }).kind == "error failed")
    #expect(Outcome<Int>(Result { throw CancellationError() }).kind == "cancelled")
  }

  @Test func `O1: every waiter receives the same outcome, before and after the end`() async throws {
    let endings: [(SimpleOperation<Int>, String)] = [
      (SimpleOperation { 7 }, "result 7"),
      (SimpleOperation { throw TestError("failed") }, "error failed"),
      (SimpleOperation { throw CancellationError() }, "cancelled"),
    ]
    for (operation, expected) in endings {
      let gate = Gate()
      let run = SimpleOperation.withContext { context in
        try await gate.pass()
        return try await operation.perform(in: context)
      }.start()
      let waiters = (0..<20).map { _ in Task { await run.outcome.kind } }
      await gate.waitForArrivals(1)
      gate.open()
      for waiter in waiters { #expect(await waiter.value == expected) }
      #expect(await run.outcome.kind == expected)
    }
  }

  @Test(arguments: [false, true])
  func `O1: a run that is cancelled before it begins still ends for every waiter`(
    isObserved: Bool
  ) async throws {
    let executor = SeededExecutor(seed: 1)
    let log = Log<String>()
    var environment = OperationEnvironment(executor: executor)
    if isObserved { environment.observers = [RecordingObserver()] }
    let run = SimpleOperation { log.add("began") }.start(in: environment)
    let waiters = (0..<3).map { _ in Task { await run.outcome.kind } }
    run.cancel()
    executor.drain()
    for waiter in waiters { #expect(await waiter.value == "cancelled") }
    #expect(log.entries.isEmpty)
  }

  @Test func `O2: in a cancelled task no body begins, for every kind of operation`() async {
    let log = Log<String>()
    let body = SimpleOperation { log.add("began") }
    let operations: [any ComposableOperation] = [
      body, body.named("named"), body.map { 1 }, body.then { body }, body.discarding { _ in },
      body.prioritized(at: .low), body.observed(by: RecordingObserver()), AnyOperation(body),
      ParallelOperation([body, body]), ParallelOperation([body], width: .serial),
      ParallelOperation(body, body), ParallelOperation { [body, body] },
      ParallelOperation(collectingOutcomesOf: body, body), RaceOperation([body, body]),
      SequentialOperation(.linear([body, body])), body.retrying(attempts: 2),
      SimpleOperation<Void>.withCallback { finish in
        log.add("began")
        finish(.result(()))
      },
    ]
    let observed = OperationEnvironment(observers: [RecordingObserver()])
    for environment in [nil, OperationEnvironment(), observed] {
      for operation in operations {
        let task = Task {
          cancelCurrentTask()
          return await operation.isCancelledWhenRun(in: environment)
        }
        #expect(await task.value, "\(operation.operationName)")
      }
    }
    #expect(log.entries.isEmpty)
  }

  @Test func `O2: no body begins after a cancellation, at whatever time`() async {
    let areCancelled = Log<Bool>()
    let body = SimpleOperation {
      areCancelled.add(Task.isCancelled)
      await Task.yield()
    }
    let operations: [any ComposableOperation] = [
      body, body.then { body }, body.prioritized(at: .low),
      SimpleOperation.withContext { context in
        for _ in 0..<3 { _ = await context.outcome(of: body) }
      },
      ParallelOperation([body, body, body], onFailure: .runAll),
      ParallelOperation([body, body, body], width: .serial, onFailure: .runAll),
      // Long enough that its worker yields between two children.
      ParallelOperation(Array(repeating: body, count: 66), width: .serial, onFailure: .runAll),
      ParallelOperation(body, body, width: .serial, onFailure: .runAll),
      ParallelOperation(width: .serial, onFailure: .runAll) { [body, body, body] },
      RaceOperation([body, body]), SequentialOperation(.linear([body, body, body])),
      body.repeating(times: 3),
    ]
    for operation in operations {
      for seed in 0..<5 as Range<UInt64> {
        let jobs = await operation.jobs(with: seed, cancelledAfter: nil)
        for cancelled in 0..<jobs {
          _ = await operation.jobs(with: seed, cancelledAfter: cancelled)
          #expect(
            !areCancelled.entries.contains(true),
            "\(operation.operationName), seed \(seed), cancelled after job \(cancelled)")
        }
      }
    }
  }

  @Test(arguments: Setting.all)
  func `O2: children of a cancelled run never begin`(setting: Setting) async throws {
    let log = Log<String>()
    let outcome = try await setting.run {
      await SimpleOperation.withContext { context in
        cancelCurrentTask()
        let child = SimpleOperation { log.add("began") }
        #expect(await context.outcome(of: child).isCancelled)
        try await context.run(child)
      }.run()
    }
    #expect(outcome.isCancelled)
    #expect(log.entries.isEmpty)
  }

  @Test func `O3: every outcome after the cancellation is late`() async {
    for body: Outcome<Int> in [.result(7), .error(TestError("failed")), .cancelled] {
      let gate = Gate()
      let recorder = RecordingObserver()
      let run = SimpleOperation {
        await gate.passIgnoringCancellation()
        return try body.get()
      }.named("late").observed(by: recorder).start()
      await gate.waitForArrivals(1)
      run.cancel()
      gate.open()
      #expect(await run.outcome.isCancelled)
      let late = await run.lateOutcome
      #expect(late?.kind == (body.isCancelled ? nil : body.kind))
      let suffix = body.isCancelled ? "" : ", late: \(body.kind)"
      #expect(recorder.short.last == "late ended: cancelled\(suffix)")
    }
  }

  @Test func `O3: a child that ends after the cancellation is cancelled for its parent, too`()
    async
  {
    let observed = OperationEnvironment(observers: [RecordingObserver()])
    for environment in [OperationEnvironment(), observed] {
      for end: Outcome<Int> in [.result(7), .error(TestError("failed")), .cancelled] {
        for parent in Parent.allCases {
          let gate = Gate()
          let run = parent.operation(
            SimpleOperation {
              await gate.passIgnoringCancellation()
              return try end.get()
            }
          ).start(in: environment)
          await gate.waitForArrivals(1)
          run.cancel()
          gate.open()
          let kinds = Parent.kindsOfChildren(in: await run.lateOutcome?.error)
          #expect(kinds == ["cancelled"], "\(parent), \(end)")
        }
      }
    }
  }

  @Test func `O3: a cancellation takes precedence until the end, and has no effect after it`()
    async throws
  {
    // On one worker, the body ends in its last job, so every earlier cancellation takes precedence.
    let operation = SimpleOperation {
      for _ in 0..<5 { await Task.yield() }
      return 7
    }
    for seed in 0..<10 as Range<UInt64> {
      let executor = SeededExecutor(seed: seed)
      let run = operation.start(in: OperationEnvironment(executor: executor))
      let jobs = executor.drain()
      #expect(await run.outcome.kind == "result 7")
      run.cancel()
      #expect(await run.outcome.kind == "result 7")
      for cancelled in 0..<jobs {
        let run = operation.start(in: OperationEnvironment(executor: executor))
        if cancelled == 0 { run.cancel() }
        executor.drain { if $0 == cancelled { run.cancel() } }
        #expect(await run.outcome.kind == "cancelled", "after job \(cancelled) of \(jobs)")
      }
    }
  }

  @Test func `O3: a run that is cancelled when it ends has the same outcome for all receivers`()
    async
  {
    for _ in 0..<2_000 {
      let recorder = RecordingObserver()
      let began = Flag()
      let discarded = Log<Int>()
      let run = SimpleOperation {
        began.set()
        return 7
      }.discarding { discarded.add($0) }.observed(by: recorder).start()
      async let cancellation: Void = run.cancel()
      let outcome = await run.outcome
      await cancellation
      #expect(await run.outcome.kind == outcome.kind)
      let ended = recorder.short.filter { $0.contains("ended") }
      #expect(ended.count == 1)
      #expect(ended.first?.contains("ended: \(outcome.kind)") == true)
      #expect(discarded.entries == (outcome.isCancelled && began.isSet ? [7] : []))
      let asked = recorder.short.filter { $0.contains("asked to cancel") }
      #expect(asked.count == (outcome.isCancelled ? 1 : 0))
    }
  }

  @Test(arguments: Setting.all)
  func `O4: a body that throws CancellationError ends as cancelled`(
    setting: Setting
  ) async throws {
    let outcome = try await setting.run { await setting.stopping().run() }
    #expect(outcome.isCancelled)
  }

  @Test func `O4: only an error that represents a cancellation ends the run as cancelled`() async {
    struct TransferError: CancellationRepresenting {
      let code: Int
      var representsCancellation: Bool { code == 42 }
    }
    let interrupted = await SimpleOperation { throw TransferError(code: 42) }.run()
    #expect(interrupted.isCancelled)
    let failed = await SimpleOperation { throw TransferError(code: 41) }.run()
    #expect((failed.error as? TransferError)?.code == 41)
  }

  // MARK: Equality

  private struct PlainError: Error {
    var code = 1
    var cause: (any Error)?
  }

  private struct TolerantError: Error, Equatable {
    let code: Int
    static func == (left: Self, right: Self) -> Bool { left.code % 10 == right.code % 10 }
  }

  @Test func `O1: outcomes are equal if they are of one kind and have equal values or errors`() {
    let distinct: [Outcome<Int>] = [
      .result(1), .result(2), .cancelled, .error(TestError("a")), .error(TestError("b")),
      .error(PlainError()), .error(PlainError(code: 2)), .error(PlainError(cause: TestError("a"))),
      .error(PlainError(cause: PlainError())), .error(TolerantError(code: 3)),
      .error(CancellationError()), .error(RaisedError.low), .error(RaisedError.high(1)),
    ]
    for (index, left) in distinct.enumerated() {
      for (other, right) in distinct.enumerated() {
        #expect((left == right) == (index == other), "\(left), \(right)")
      }
    }
    #expect(Outcome<Int>.error(TolerantError(code: 3)) == .error(TolerantError(code: 13)))
    #expect([Outcome.result("a"), .cancelled] == [.result("a"), .cancelled])
  }

  private enum RaisedError: Error {
    case low
    case high(Int)
  }
}

/// Operations with one child, whose error contains the outcome of the child.
private enum Parent: CaseIterable {
  case body, list, mixed, pack, lazily, race, sequence

  func operation(_ child: SimpleOperation<Int>) -> AnyOperation<Void> {
    switch self {
    case .body:
      AnyOperation(
        SimpleOperation.withContext { context in
          throw TestError(await context.outcome(of: child).kind)
        })
    case .list: parent(ParallelOperation([child]))
    case .mixed: parent(ParallelOperation([child] as [any ComposableOperation<Int>]))
    case .pack: parent(ParallelOperation(child))
    case .lazily: parent(ParallelOperation { [child] })
    case .race: parent(RaceOperation([child]))
    case .sequence: parent(SequentialOperation(.linear([child])))
    }
  }

  /// Returns an operation that performs a composite itself, not as a child.
  private func parent(_ composite: some ComposableOperation) -> AnyOperation<Void> {
    AnyOperation(
      SimpleOperation.withContext { context in _ = try await composite.perform(in: context) })
  }

  static func kindsOfChildren(in error: (any Error)?) -> [String] {
    switch error {
    case let error as ParallelOperationError: error.children.map(\.outcome.kind)
    case let error as SequentialOperationError: error.steps.map(\.outcome.kind)
    case let error?: ["\(error)"]
    case nil: []
    }
  }
}

extension ComposableOperation {
  fileprivate func isCancelledWhenRun(in environment: OperationEnvironment?) async -> Bool {
    guard let environment else { return await run().isCancelled }
    return await run(in: environment).isCancelled
  }

  /// Runs the operation on one worker, and cancels it after a number of jobs.
  ///
  /// - Returns: The number of all jobs.
  fileprivate func jobs(with seed: UInt64, cancelledAfter cancelled: Int?) async -> Int {
    let executor = SeededExecutor(seed: seed)
    let run = start(in: OperationEnvironment(executor: executor))
    if cancelled == 0 { run.cancel() }
    let jobs = executor.drain { if $0 == cancelled { run.cancel() } }
    _ = await run.outcome
    return jobs
  }
}
