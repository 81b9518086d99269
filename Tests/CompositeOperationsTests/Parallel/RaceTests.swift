import CompositeOperations
import CompositeOperationsTestKit
import Testing

@Suite(.timeLimit(.minutes(10))) struct RaceTests {
  @Test(arguments: Setting.all)
  func `P7: the first result wins, and the others are cancelled`(setting: Setting) async throws {
    for count in [1, 2, 5, 300] {
      let gate = Gate()
      let contenders: [any ComposableOperation<Int>] = (0..<count).map { index in
        if index == count / 2 { return setting.giving(index) }
        return SimpleOperation {
          try await gate.pass()
          return index
        }
      }
      let outcome = try await setting.run { await RaceOperation(contenders).run() }
      #expect(outcome.result == count / 2)
    }
  }

  @Test(.enabled(if: processorCount > 1))
  func `P7: a contender that computes until it is cancelled does not delay the others`() async {
    // In a separate process: here it would occupy a thread of all tests.
    await #expect(processExitsWith: .success) {
      let computing = SimpleOperation<Int> {
        while !Task.isCancelled {}
        throw CancellationError()
      }
      for _ in 0..<20 {
        // So many short composites that the engine expects no use of an extra worker.
        for _ in 0..<200 {
          _ = await ParallelOperation((0..<8).map { index in SimpleOperation { index } }).run()
        }
        #expect(await RaceOperation([computing, SimpleOperation { 7 }]).run().result == 7)
      }
    }
  }

  @Test func `a race accepts contenders of different types`() async {
    let first = SimpleOperation { 7 }
    let race = RaceOperation([first.named("first"), first.map { $0 }, AnyOperation(first)])
    #expect(await race.run().result == 7)
  }

  @Test(arguments: Setting.all)
  func `P7: a contender that fails or cancels itself does not end the race`(setting: Setting)
    async throws
  {
    let outcome = try await setting.run {
      await RaceOperation([setting.failing(), setting.stopping(), setting.giving(7)]).run()
    }
    #expect(outcome.result == 7)
  }

  @Test(arguments: Setting.all)
  func `P7: without a result, an error shows how every contender ended`(setting: Setting)
    async throws
  {
    let outcome = try await setting.run {
      await RaceOperation([setting.stopping(), setting.failing(TestError("lost"))]).run()
    }
    let error = try #require(outcome.error as? ParallelOperationError)
    #expect(error.children.map(\.outcome.kind) == ["cancelled", "error lost"])
    #expect(error.children.map(\.origin) == [.itself, .itself])
  }

  @Test(arguments: Setting.all)
  func `P7: a race whose contenders all cancel themselves is cancelled`(setting: Setting)
    async throws
  {
    let outcome = try await setting.run {
      await RaceOperation([setting.stopping(), setting.stopping()] as [SimpleOperation<Int>]).run()
    }
    #expect(outcome.isCancelled)
  }

  @Test(.timeLimit(.minutes(10)))
  func `P7: the race ends only when the losers have ended`() async {
    let (stubborn, isCancelled) = (Gate(), Gate())
    let hasEnded = Log<Bool>()
    let run = RaceOperation([
      SimpleOperation {
        await withTaskCancellationHandler {
          await stubborn.passIgnoringCancellation()
        } onCancel: {
          isCancelled.open()
        }
        return 1
      },
      SimpleOperation {
        await stubborn.waitForArrivals(1)
        return 2
      },
    ]).start()
    let waiter = Task {
      let outcome = await run.outcome
      hasEnded.add(true)
      return outcome
    }
    await isCancelled.passIgnoringCancellation()
    for _ in 0..<1_000 { await Task.yield() }
    #expect(hasEnded.entries.isEmpty)
    stubborn.open()
    #expect(await waiter.value.kind == "result 2")
  }

  @Test func `P7: a race that is cancelled from outside is cancelled`() async {
    let gate = Gate()
    let run = RaceOperation([SimpleOperation { try await gate.pass() }]).start()
    await gate.waitForArrivals(1)
    run.cancel()
    #expect(await run.outcome.isCancelled)
  }

  @Test func `P7: an empty race is a programming error`() async {
    await #expect(processExitsWith: .failure) {
      _ = RaceOperation([] as [SimpleOperation<Int>])
    }
    await #expect(processExitsWith: .failure) {
      _ = RaceOperation([] as [any ComposableOperation<Int>])
    }
  }
}
