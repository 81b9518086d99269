import CompositeOperations
import CompositeOperationsTestKit
import Testing

@Suite struct ParallelSourceTests {
  @Test(arguments: Setting.all)
  func `P6: results of children created lazily are in order`(setting: Setting) async throws {
    for width in [OperationWidth.serial, .limited(to: 3), .limited(to: 64), .adaptive] {
      let operation = ParallelOperation(width: width) {
        (0..<300).lazy.map { index in
          SimpleOperation {
            for _ in 0..<(index * 31 % 4) { await setting.pause() }
            return index
          }
        }
      }
      let outcome = try await setting.run { await operation.run() }
      #expect(outcome.result == Array(0..<300))
    }
  }

  @Test(arguments: Setting.all)
  func `P6: results of children from an asynchronous sequence are in order`(setting: Setting)
    async throws
  {
    let operation = ParallelOperation(width: .limited(to: 5)) {
      AsyncStream { continuation in
        for index in 0..<200 { continuation.yield(index) }
        continuation.finish()
      }.map { index in
        await setting.pause()
        return setting.giving(index)
      }
    }
    let outcome = try await setting.run { await operation.run() }
    #expect(outcome.result == Array(0..<200))
  }

  @Test func `P6: the factory is called once in each run`() async {
    let calls = Log<Void>()
    let operation = ParallelOperation {
      calls.add(())
      return [SimpleOperation { 1 }]
    }
    #expect(calls.count == 0)
    #expect(await operation.run().result == [1])
    #expect(await operation.run().result == [1])
    #expect(calls.count == 2)
  }

  @Test func `P6: a child is created when there is a place for it, with 64 places by default`()
    async
  {
    let made = Log<Int>()
    let gate = Gate()
    let executor = SeededExecutor(seed: 1)
    let run = ParallelOperation {
      (0..<1_000).lazy.map { index in
        made.add(index)
        return SimpleOperation { try await gate.pass() }
      }
    }.start(in: OperationEnvironment(executor: executor))
    // Runs all ready jobs, so that every child with a place waits at the gate.
    executor.drain()
    #expect(gate.arrivals == 64)
    #expect(made.count == 64)
    gate.open()
    executor.drain()
    #expect(await run.outcome.result?.count == 1_000)
    #expect(made.entries == Array(0..<1_000))
  }

  @Test(arguments: Setting.all)
  func `P5: children created lazily keep the limit and begin in order`(setting: Setting)
    async throws
  {
    for limit in [1, 2, 5] {
      let crowd = Crowd()
      let begun = Log<Int>()
      let operation = ParallelOperation(width: .limited(to: limit)) {
        (0..<100).lazy.map { index in
          SimpleOperation {
            crowd.enter()
            begun.add(index)
            await setting.pause()
            crowd.leave()
          }
        }
      }
      let outcome = try await setting.run { await operation.run() }
      #expect(outcome.result?.count == 100)
      #expect(crowd.most <= limit)
      #expect(mostOvertaken(begun.entries) < limit)
    }
  }

  @Test(arguments: Setting.all)
  func `P6: results are consumed when they are available, one at a time`(setting: Setting)
    async throws
  {
    let crowd = Crowd()
    let consumed = Log<Int>()
    let operation = ParallelOperation(width: .limited(to: 8)) {
      (0..<200).lazy.map { setting.giving($0) }
    } consumingResults: { result in
      crowd.enter()
      await setting.pause()
      consumed.add(result)
      crowd.leave()
    }
    let outcome = try await setting.run { await operation.run() }
    #expect(outcome.result != nil)
    #expect(crowd.most == 1)
    #expect(consumed.entries.sorted() == Array(0..<200))
  }

  @Test func `P6: a child keeps its place until its result has been consumed`() async {
    let gate = Gate()
    let begun = Log<Int>()
    let executor = SeededExecutor(seed: 1)
    let run = ParallelOperation(width: .limited(to: 3)) {
      (0..<50).lazy.map { index in
        SimpleOperation {
          begun.add(index)
          return index
        }
      }
    } consumingResults: { _ in
      try await gate.pass()
    }.start(in: OperationEnvironment(executor: executor))
    // Runs all ready jobs: one result is being consumed, and the others wait.
    executor.drain()
    #expect(begun.count == 3)
    gate.open()
    executor.drain()
    #expect(await run.outcome.result != nil)
    #expect(begun.count == 50)
  }

  @Test func `P6: a child gets the place of a consumed result while other results wait`() {
    for seed in 0..<50 as Range<UInt64> {
      let hasSecondEnded = Gate()
      let hasThirdBegun = Gate()
      let consumed = Log<Int>()
      let executor = SeededExecutor(seed: seed)
      let run = ParallelOperation(width: .limited(to: 2)) {
        (0..<3).lazy.map { index in
          SimpleOperation {
            if index == 1 { hasSecondEnded.open() }
            if index == 2 { hasThirdBegun.open() }
            return index
          }
        }
      } consumingResults: { index in
        try await index == 0 ? hasSecondEnded.pass() : hasThirdBegun.pass()
        consumed.add(index)
      }.start(in: OperationEnvironment(executor: executor))
      executor.drain()
      #expect(consumed.entries.sorted() == [0, 1, 2], "seed \(seed)")
      run.cancel()
      executor.drain()
    }
  }

  @Test func `P6: a consumer that cancels its own task does not lose the other results`() async {
    for seed in 0..<20 as Range<UInt64> {
      let gate = Gate()
      let consumed = Log<Int>()
      let executor = SeededExecutor(seed: seed)
      let run = ParallelOperation(width: .limited(to: 4)) {
        (0..<30).lazy.map { index in SimpleOperation { index } }
      } consumingResults: { index in
        if consumed.count == 0 {
          await gate.passIgnoringCancellation()
          unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
        }
        if consumed.count > 0 { try Task.checkCancellation() }
        consumed.add(index)
      }.start(in: OperationEnvironment(executor: executor))
      // Three results wait while the first one is being consumed.
      executor.drain()
      gate.open()
      executor.drain()
      #expect(await run.outcome.result != nil, "seed \(seed)")
      #expect(consumed.entries.sorted() == Array(0..<30), "seed \(seed)")
    }
  }

  @Test func `P6: a cancellation reaches a consumer after another one cancelled its own task`() {
    for seed in 0..<20 as Range<UInt64> {
      let first = Gate()
      let never = Gate()
      let calls = Log<Int>()
      let executor = SeededExecutor(seed: seed)
      let run = ParallelOperation(width: .limited(to: 2)) {
        (0..<2).lazy.map { index in SimpleOperation { index } }
      } consumingResults: { index in
        calls.add(index)
        if calls.count == 1 {
          await first.passIgnoringCancellation()
          unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
        } else {
          try await never.pass()
        }
      }.start(in: OperationEnvironment(executor: executor))
      executor.drain()
      first.open()
      executor.drain()
      #expect(calls.count == 2, "seed \(seed)")
      #expect(run.progress.fraction == nil, "seed \(seed)")
      run.cancel()
      executor.drain()
      #expect(run.progress.fraction == 1, "seed \(seed)")
      never.open()
      executor.drain()
    }
  }

  @Test(arguments: Setting.all)
  func `P6: an error of the consumer is the error of the child`(setting: Setting) async throws {
    let operation = ParallelOperation(width: .serial) {
      (0..<10).lazy.map { setting.giving($0).named("child") }
    } consumingResults: { result in
      if result == 3 { throw TestError("disk full") }
    }
    let outcome = try await setting.run { await operation.run() }
    let error = try #require(outcome.error as? ParallelOperationError)
    #expect(error.description == "[3] child: disk full")
  }

  @Test func `P6: a consumer that has thrown is not called again`() async throws {
    for seed in 0..<50 as Range<UInt64> {
      let calls = Log<Int>()
      let operation = ParallelOperation(width: .limited(to: 16)) {
        (0..<64).lazy.map { index in
          SimpleOperation { () async in
            await Task.yield()
            return index
          }
        }
      } consumingResults: { result in
        calls.add(result)
        await Task.yield()
        throw TestError("disk full")
      }
      let setting = Setting(suspends: true, workers: seed < 25 ? .all : .one(seed: seed))
      #expect(try await setting.run { await operation.run() }.error != nil)
      #expect(calls.count == 1, "seed \(seed)")
    }
  }

  @Test func `P6: a source that throws a CancellationError ends the composite as cancelled`() async
  {
    let sources = [
      ParallelOperation { () throws -> [SimpleOperation<Int>] in throw CancellationError() },
      ParallelOperation {
        AsyncThrowingStream<SimpleOperation<Int>, any Error> { continuation in
          continuation.yield(SimpleOperation { 7 })
          continuation.finish(throwing: CancellationError())
        }
      },
    ]
    for source in sources { #expect(await source.run().isCancelled) }
  }

  @Test(arguments: Setting.all)
  func `P6: a source that throws ends the composite with its error and the children's outcomes`(
    setting: Setting
  ) async throws {
    let operation = ParallelOperation(width: .limited(to: 2)) {
      AsyncThrowingStream<Int, any Error> { continuation in
        for index in 0..<3 { continuation.yield(index) }
        continuation.finish(throwing: TestError("connection lost"))
      }.map { setting.giving($0) }
    }
    let outcome = try await setting.run { await operation.run() }
    let error = try #require(outcome.error as? ParallelOperationError)
    #expect(error.sourceError.map { "\($0)" } == "connection lost")
    #expect(error.description == "source of the children: connection lost")
    let collected = try await setting.run { await operation.collectingOutcomes().run() }
    #expect((collected.error as? ParallelOperationError)?.sourceError != nil)
    let unmade = ParallelOperation { () throws -> [SimpleOperation<Int>] in
      throw TestError("no list")
    }
    let none = try await setting.run { await unmade.run() }
    #expect(none.error.map { "\($0)" } == "source of the children: no list")
  }

  @Test(arguments: Setting.all)
  func `P3: a failure cancels hundreds of children in flight that were created lazily`(
    setting: Setting
  ) async throws {
    for failing in [10, 15, 100, 299, 599] {
      // The neighbor of the failing child ends only after the first child has been cancelled.
      let (gate, neighbour) = (Gate(), Gate())
      let operation = ParallelOperation(width: .limited(to: 600)) {
        (0..<600).lazy.map { index in
          SimpleOperation {
            switch index {
            case failing:
              await setting.pause()
              throw TestError("failed")
            case failing - 1: await neighbour.passIgnoringCancellation()
            case 0:
              defer { neighbour.open() }
              try await gate.pass()
            default: try await gate.pass()
            }
            return index
          }
        }
      }
      let outcome = try await setting.run { await operation.run() }
      let error = try #require(outcome.error as? ParallelOperationError)
      #expect(error.failures.map(\.index) == [failing])
    }
  }

  @Test(arguments: Setting.all)
  func `P3: the first failure cancels children created lazily`(setting: Setting) async throws {
    let gate = Gate()
    let made = Log<Int>()
    let operation = ParallelOperation(width: .limited(to: 5)) {
      (0..<100).lazy.map { index in
        made.add(index)
        return SimpleOperation {
          if index == 3 {
            await setting.pause()
            throw TestError("failed")
          }
          try await gate.pass()
          return index
        }.named("\(index)")
      }
    }
    let outcome = try await setting.run { await operation.run() }
    let error = try #require(outcome.error as? ParallelOperationError)
    #expect(error.failures.map(\.index) == [3])
    #expect(error.children.allSatisfy { $0.origin == ($0.index == 3 ? .itself : .composite) })
    #expect(made.count <= 6)
  }

  @Test(arguments: Setting.all)
  func `P3: in the mode runAll, every child created lazily runs`(setting: Setting) async throws {
    let operation = ParallelOperation(width: .limited(to: 5), onFailure: .runAll) {
      (0..<50).lazy.map { index in
        SimpleOperation {
          await setting.pause()
          if index.isMultiple(of: 10) { throw TestError("\(index)") }
          return index
        }
      }
    }
    let outcome = try await setting.run { await operation.collectingOutcomes().run() }
    let outcomes = try #require(outcome.result)
    #expect(outcomes.count == 50)
    for (index, outcome) in outcomes.enumerated() {
      #expect(outcome.kind == (index.isMultiple(of: 10) ? "error \(index)" : "result \(index)"))
    }
  }

  @Test func `P2: after a cancellation from outside, a composite requests no further child`()
    async
  {
    for mode in [FailureMode.cancelRemaining, .runAll] {
      let gate = Gate()
      let made = Log<Int>()
      let run = ParallelOperation(width: .limited(to: 2), onFailure: mode) {
        (0..<100).lazy.map { index in
          made.add(index)
          return SimpleOperation { try await gate.pass() }
        }
      }.start()
      await gate.waitForArrivals(2)
      run.cancel()
      #expect(await run.outcome.isCancelled)
      #expect(made.entries == [0, 1], "\(mode)")
      let late = await run.lateOutcome?.error as? ParallelOperationError
      #expect(late?.children.map(\.origin) == [.composite, .composite], "\(mode)")
    }
  }

  @Test func `P6: a composite with an endless source is cancelled while it waits`() async {
    let (stream, continuation) = AsyncStream<Int>.makeStream()
    let begun = Gate()
    let run = ParallelOperation(width: .limited(to: 4)) {
      stream.map { index in
        SimpleOperation {
          try await begun.pass()
          return index
        }
      }
    }.start()
    continuation.yield(1)
    continuation.yield(2)
    await begun.waitForArrivals(2)
    run.cancel()
    #expect(await run.outcome.isCancelled)
  }

  @Test(arguments: Setting.all)
  func `a child that cancels its own task does not cancel the others`(setting: Setting)
    async throws
  {
    @Sendable func child(_ index: Int) -> SimpleOperation<Int> {
      SimpleOperation {
        if index.isMultiple(of: 3) { cancelCurrentTask() }
        await setting.pause()
        return index
      }
    }
    for width in [OperationWidth.adaptive, .serial, .limited(to: 2)] {
      let list = ParallelOperation((0..<40).map(child), width: width, onFailure: .runAll)
      let lazily = ParallelOperation(width: width, onFailure: .runAll) {
        (0..<40).lazy.map { child($0) }
      }
      for operation in [list, lazily] {
        let outcomes = try await setting.run {
          try await operation.collectingOutcomes().run().get()
        }
        #expect(outcomes.count == 40)
        for (index, outcome) in outcomes.enumerated() {
          #expect(outcome.kind == (index.isMultiple(of: 3) ? "cancelled" : "result \(index)"))
        }
      }
    }
  }
}
