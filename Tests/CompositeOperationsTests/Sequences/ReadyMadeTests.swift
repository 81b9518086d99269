import CompositeOperations
import CompositeOperationsTestKit
import Testing

@Suite struct ReadyMadeTests {
  @Test func `S7: an empty linear sequence has a result without steps`() async {
    #expect(await SequentialOperation(.linear([])).run().result?.isEmpty == true)
    #expect(await SequentialOperation(LinearSequence()).run().result?.isEmpty == true)
  }

  @Test func `S7: linear runs operations of different types one after another`() async {
    for sequence in [
      LinearSequence(SimpleOperation { 1 }, SimpleOperation { "a" }.named("a")),
      .linear(SimpleOperation { 1 }, SimpleOperation { "a" }.named("a")),
    ] {
      let steps = await SequentialOperation(sequence).run().result
      #expect(steps?.map { "\($0.outcome)" } == ["result(1)", "result(\"a\")"])
    }
    #expect(await SequentialOperation(.linear(SimpleOperation { 1 })).run().result?.count == 1)
  }

  @Test(arguments: Setting.all)
  func `S7: linear continues while steps end in a result, and ends early at nil`(setting: Setting)
    async throws
  {
    let begun = Log<String>()
    @Sendable func step(_ name: String, _ outcome: Outcome<Int>) -> any ComposableOperation {
      SimpleOperation {
        begun.add(name)
        await setting.pause()
        return try outcome.get()
      }
    }
    let failing = try await setting.run {
      await SequentialOperation(
        .linear([
          step("a", .result(1)), step("b", .error(TestError("b"))), step("c", .result(3)),
        ])
      ).run()
    }
    #expect(failing.error.map { "\($0)" }?.contains("b") == true)
    #expect(begun.entries == ["a", "b"])
    let stopping = try await setting.run {
      await SequentialOperation(.linear([step("d", .cancelled), step("e", .result(1))])).run()
    }
    #expect(stopping.isCancelled)
    let early = try await setting.run {
      await SequentialOperation(
        LinearSequence(
          { _ in setting.giving(20) },
          { previous in previous?.result(as: Int.self).map { setting.giving($0 + 1) } },
          { _ in nil },
          { _ in setting.giving(99) }
        )
      ).run()
    }
    #expect(early.result?.map(\.outcome.kind) == ["result 20", "result 21"])
  }

  @Test(arguments: Setting.all)
  func `S7: retrying counts the first attempt, and stops at a result`(setting: Setting)
    async throws
  {
    for (attempts, failures) in [(1, 0), (1, 5), (3, 0), (3, 2), (3, 3), (5, 4)] {
      let runs = Log<Void>()
      let operation = SimpleOperation {
        runs.add(())
        await setting.pause()
        if runs.count <= failures { throw TestError("\(runs.count)") }
        return runs.count
      }
      let outcome = try await setting.run {
        await SequentialOperation(.retrying(operation, attempts: attempts)).run()
      }
      #expect(runs.count == min(attempts, failures + 1))
      if failures < attempts {
        #expect(outcome.result == failures + 1)
      } else {
        let error = try #require(outcome.error as? SequentialOperationError)
        #expect(error.steps.errors.map { "\($0)" } == (1...attempts).map(String.init))
      }
    }
    await #expect(processExitsWith: .failure) {
      _ = RetrySequence(SimpleOperation { 1 }, attempts: 0)
    }
  }

  @Test(arguments: Setting.all)
  func `S7: a cancellation is never retried`(setting: Setting) async throws {
    let runs = Log<Void>()
    let operation = SimpleOperation<Int> {
      runs.add(())
      await setting.pause()
      throw CancellationError()
    }
    let outcome = try await setting.run {
      await SequentialOperation(.retrying(operation, attempts: 3)).run()
    }
    #expect(outcome.isCancelled)
    #expect(runs.count == 1)
  }

  @Test(arguments: Setting.all)
  func `S7: repeating ends when its predicate is false, and at an error or a cancellation`(
    setting: Setting
  ) async throws {
    let runs = Log<Void>()
    let counting = SimpleOperation {
      runs.add(())
      await setting.pause()
      return runs.count
    }
    let until = try await setting.run {
      await SequentialOperation(RepeatSequence(counting) { $0 < 5 }).run()
    }
    #expect(until.result == 5)
    let times = try await setting.run {
      await SequentialOperation(.repeating(counting, times: 3)).run()
    }
    #expect(times.result == 8)
    for (error, kind) in [
      (TestError("e") as any Error, "error"), (CancellationError(), "cancelled"),
    ] {
      let ending = SimpleOperation<Int> {
        runs.add(())
        if runs.count > 10 { throw error }
        return 0
      }
      let outcome = try await setting.run {
        await SequentialOperation(RepeatSequence(ending) { _ in true }).run()
      }
      #expect(outcome.kind.hasPrefix(kind))
    }
    await #expect(processExitsWith: .failure) {
      _ = SequentialOperation(.repeating(SimpleOperation { 1 }, times: 0))
    }
  }

  @Test(arguments: Setting.all)
  func `S7: falling back runs the next operation after an error, until the first result`(
    setting: Setting
  ) async throws {
    let begun = Log<Int>()
    func contender(_ index: Int, _ outcome: Outcome<Int>) -> any ComposableOperation<Int> {
      SimpleOperation {
        begun.add(index)
        await setting.pause()
        return try outcome.get()
      }
    }
    let failure = Outcome<Int>.error(TestError("failed"))
    let won = [contender(0, failure), contender(1, .result(7)), contender(2, .result(8))]
    #expect(
      try await setting.run { await SequentialOperation(.fallingBack(won)).run() }.result == 7)
    #expect(begun.entries == [0, 1])
    let stopped = [contender(0, .cancelled), contender(1, .result(7))]
    #expect(
      try await setting.run { await SequentialOperation(.fallingBack(stopped)).run() }.isCancelled)
    let lost = [contender(0, failure), contender(1, failure)]
    let outcome = try await setting.run { await SequentialOperation(.fallingBack(lost)).run() }
    #expect((outcome.error as? SequentialOperationError)?.steps.errors.count == 2)
    await #expect(processExitsWith: .failure) {
      _ = FallbackSequence<Int>([])
    }
  }

  @Test(arguments: Setting.all)
  func `a closure with its own state can be the sequence`(setting: Setting) async throws {
    let operation = SequentialOperation(
      ClosureSequence(state: 0) { count, previous in
        #expect((previous == nil) == (count == 0))
        await setting.pause()
        count += 1
        return count <= 3 ? setting.giving(count) : nil
      })
    for _ in 0..<2 {
      let outcome = try await setting.run { await operation.run() }
      #expect(outcome.result?.map(\.outcome.kind) == ["result 1", "result 2", "result 3"])
    }
    let plain = SequentialOperation(
      ClosureSequence(history: .none) { previous in previous == nil ? setting.giving(1) : nil })
    #expect(try await setting.run { await plain.run() }.result?.count == 0)
  }
}
