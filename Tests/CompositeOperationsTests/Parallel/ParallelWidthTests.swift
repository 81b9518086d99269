import CompositeOperations
import CompositeOperationsTestKit
import Testing

@Suite struct ParallelWidthTests {
  @Test(arguments: Setting.all)
  func `P5: the number of children in flight never exceeds the limit`(setting: Setting) async throws
  {
    for limit in [1, 2, 3, 7, 200] {
      let crowd = Crowd()
      let children = (0..<100).map { _ in
        SimpleOperation {
          crowd.enter()
          await setting.pause()
          await setting.pause()
          crowd.leave()
        }
      }
      let outcome = try await setting.run {
        await ParallelOperation(children, width: .limited(to: limit)).run()
      }
      #expect(outcome.result?.count == 100)
      #expect(crowd.most <= limit)
    }
  }

  @Test func `P5: as many children are in flight as the limit allows`() async throws {
    for limit in [1, 2, 5, 20, 130] {
      let gate = Gate()
      let executor = SeededExecutor(seed: 1)
      let run = ParallelOperation(
        (0..<200).map { _ in SimpleOperation { try await gate.pass() } },
        width: .limited(to: limit)
      ).start(in: OperationEnvironment(executor: executor))
      // Runs all ready jobs, so that every child with a place waits at the gate.
      executor.drain()
      #expect(gate.arrivals == limit)
      gate.open()
      executor.drain()
      #expect(await run.outcome.result?.count == 200)
    }
  }

  @Test(arguments: Setting.all)
  func `P5: with a limit, children begin in the order of the list`(setting: Setting) async throws {
    for limit in [1, 2, 5] {
      let begun = Log<Int>()
      let children = (0..<200).map { index in
        SimpleOperation {
          begun.add(index)
          for _ in 0..<(index * 31 % 4) { await setting.pause() }
        }
      }
      _ = try await setting.run {
        await ParallelOperation(children, width: .limited(to: limit)).run()
      }
      #expect(mostOvertaken(begun.entries) < limit)
      if limit == 1 { #expect(begun.entries == Array(0..<200)) }
    }
  }

  @Test func `P5: on one worker, children begin exactly in the order of the list`() async throws {
    for seed in 0..<50 as Range<UInt64> {
      let begun = Log<Int>()
      let children = (0..<60).map { index in
        SimpleOperation {
          begun.add(index)
          for _ in 0..<(index * 31 % 4) { await Task.yield() }
        }
      }
      let outcome = try await SeededExecutor(seed: seed).run {
        await ParallelOperation(children, width: .limited(to: 4)).run()
      }
      #expect(outcome.result?.count == 60)
      #expect(begun.entries == Array(0..<60), "seed \(seed)")
    }
  }

  @Test(arguments: Setting.all)
  func `P5: every nested composite has its own limit, so that width 1 cannot deadlock`(
    setting: Setting
  ) async throws {
    func nested(_ levels: Int) -> any ComposableOperation<Int> {
      if levels == 0 { return setting.giving(1) }
      let inner = nested(levels - 1)
      return sum([inner, inner])
    }
    func sum(_ children: [any ComposableOperation<Int>]) -> any ComposableOperation<Int> {
      ParallelOperation(children, width: .serial).map { $0.reduce(0, +) }
    }
    let operation = nested(6)
    #expect(try await setting.run { await operation.outcome() }.result == 64)
  }

  @Test func `P6: by default, any number of children can be suspended`() async throws {
    let gate = Gate()
    let run = ParallelOperation(
      (0..<5_000).map { index in
        SimpleOperation {
          try await gate.pass()
          return index
        }
      }
    ).start()
    await gate.waitForArrivals(5_000)
    gate.open()
    #expect(await run.outcome.result == Array(0..<5_000))
  }

  @Test func `P6: at most as many children compute at once as there are processors`()
    async throws
  {
    let crowd = Crowd()
    let children = (0..<2_000).map { index in
      SimpleOperation {
        crowd.enter()
        var value = UInt64(index)
        for _ in 0..<2_000 { value = (value ^ (value >> 29)) &* 6_364_136_223_846_793_005 }
        crowd.leave()
        return value
      }
    }
    #expect(await ParallelOperation(children).run().result?.count == 2_000)
    // Swift's pool has one thread for each processor, which all tests share.
    #expect(crowd.most <= processorCount)
  }

  @Test func `P6: a long list of children yields threads to other tasks`()
    async throws
  {
    // The children occupy every thread of the pool until another task has run. That task is this
    // test, which waits until they occupy all threads.
    let isOver = Flag()
    let crowd = Crowd()
    let isFull = Gate()
    let children = (0..<200_000).map { index in
      SimpleOperation {
        if isOver.isSet { return UInt64.zero }
        crowd.enter()
        defer { crowd.leave() }
        if crowd.most == processorCount { isFull.open() }
        var value = UInt64(index)
        for _ in 0..<100_000 { value = (value ^ (value >> 29)) &* 6_364_136_223_846_793_005 }
        return value
      }
    }
    let run = ParallelOperation(children).start()
    // Opens the gate also if the children never occupied all threads, so that the test fails then.
    Task {
      _ = await run.outcome
      isFull.open()
    }
    await isFull.passIgnoringCancellation()
    isOver.set()
    #expect(await run.outcome.result?.count == 200_000)
    #expect(await run.outcome.result?.last == 0)
  }

  @Test func `a width below 1 is a programming error`() async {
    await #expect(processExitsWith: .failure) { _ = OperationWidth.limited(to: 0) }
  }
}

extension ComposableOperation {
  fileprivate func outcome() async -> Outcome<Success> { await run() }
}
