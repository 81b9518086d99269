import CompositeOperations
import CompositeOperationsTestKit
import Testing

@Suite struct RecoveryTests {
  /// Returns an operation for each way to recover, which replaces an error with 8.
  private static func recovering(
    _ base: SimpleOperation<Int>, noting calls: Log<String>
  ) -> [any ComposableOperation<Int>] {
    let other = SimpleOperation {
      calls.add("other")
      return 8
    }
    return [
      base.recovering { error in
        calls.add("\(error)")
        return 8
      },
      base.catching { error in
        calls.add("\(error)")
        return other
      },
      base.fallingBack(to: other), base.fallingBack(toEachOf: [other]),
      base.ignoringErrors(with: 8),
    ]
  }

  @Test(arguments: Setting.all)
  func `R3: an error is recovered from, and a result and a cancellation are passed on`(
    setting: Setting
  )
    async throws
  {
    let calls = Log<String>()
    for operation in Self.recovering(setting.failing(), noting: calls) {
      #expect(try await setting.run { await operation.kindOfRun() } == "result 8")
    }
    #expect(calls.entries == ["failed", "failed", "other", "other", "other"])
    for operation in Self.recovering(setting.giving(7), noting: calls) {
      #expect(try await setting.run { await operation.kindOfRun() } == "result 7")
    }
    for operation in Self.recovering(setting.stopping(), noting: calls) {
      #expect(try await setting.run { await operation.kindOfRun() } == "cancelled")
    }
    #expect(calls.count == 5)
  }

  @Test func `R3: an error that a recovery throws is the outcome of the run`() async {
    let failing = Setting(suspends: false, workers: .all).failing()
    #expect(
      await failing.recovering { _ -> Int in throw TestError("worse") }.run().kind
        == "error worse")
    #expect(await failing.recovering { _ -> Int in throw CancellationError() }.run().isCancelled)
    #expect(
      await failing.fallingBack(to: failing.mapError { TestError("\($0) twice") }).run().kind
        == "error failed twice")
    #expect(await failing.mapError { _ in CancellationError() }.run().isCancelled)
    #expect(await SimpleOperation { 7 }.mapError { _ in TestError("none") }.run().result == 7)
  }

  @Test func `R3: a cancelled run is not recovered`() async {
    let calls = Log<String>()
    for way in 0..<5 {
      let gate = Gate()
      let base = SimpleOperation<Int> {
        await gate.passIgnoringCancellation()
        throw TestError("late")
      }
      let run = Self.recovering(base, noting: calls)[way].start()
      await gate.waitForArrivals(1)
      run.cancel()
      gate.open()
      #expect(await run.outcome.isCancelled)
    }
    #expect(calls.entries == [])
  }

  @Test func `R3: values in an error that no closure receives are discarded`() async {
    for way in 0..<5 {
      let discarded = Log<Int>()
      let good = SimpleOperation { 7 }.discarding { discarded.add($0) }
      let bad = SimpleOperation { () -> Int in throw TestError("failed") }
      let base = ParallelOperation([AnyOperation(good), AnyOperation(bad)], width: .serial)
      let operations: [any ComposableOperation<[Int]>] = [
        base.ignoringErrors(with: []), base.fallingBack(to: SimpleOperation { [] }),
        base.fallingBack(toEachOf: [base, SimpleOperation { [] }]),
        // The closure receives the error with its values.
        base.recovering { _ in [] }, base.catching { _ in SimpleOperation { [] } },
      ]
      #expect(await operations[way].kindOfRun() == "result []")
      #expect(discarded.entries == [[7], [7], [7, 7], [], []][way], "\(way)")
    }
  }

  @Test(arguments: Setting.all)
  func `R3: the operations of a list run one after another, until one does not fail`(
    setting: Setting
  ) async throws {
    let begun = Log<Int>()
    func contender(_ index: Int, _ outcome: Outcome<Int>) -> SimpleOperation<Int> {
      SimpleOperation {
        begun.add(index)
        await setting.pause()
        return try outcome.get()
      }
    }
    let failures = (0..<3).map { contender($0, .error(TestError("failure \($0)"))) }
    for (others, kind, count) in [
      ([failures[1], contender(2, .result(7)), contender(3, .result(8))], "result 7", 3),
      ([failures[1], contender(2, .cancelled), contender(3, .result(8))], "cancelled", 3),
      ([failures[1], failures[2]], "error failure 2", 3), ([], "error failure 0", 1),
    ] {
      let before = begun.count
      let outcome = try await setting.run { await failures[0].fallingBack(toEachOf: others).run() }
      #expect(outcome.kind == kind)
      #expect(begun.entries.dropFirst(before).elementsEqual(0..<count), "\(kind)")
    }
  }

  @Test func `R3: a value in an error of a list is discarded unless it is the last error`() async {
    for count in 0..<3 {
      let discarded = Log<Int>()
      func failing(_ index: Int) -> some ComposableOperation<[Int]> {
        let value = SimpleOperation { index }.discarding { discarded.add($0) }
        let failure = SimpleOperation<Int> { throw TestError("failed") }
        return ParallelOperation([AnyOperation(value), AnyOperation(failure)], width: .serial)
      }
      let others = (0..<count).map { failing($0 + 1) }
      let outcome = await failing(0).fallingBack(toEachOf: others).run()
      let error = outcome.error as? ParallelOperationError
      #expect(error?.outcomes(of: Int.self)?.compactMap(\.result) == [count])
      #expect(discarded.entries == Array(0..<count))
    }
  }

  @Test func `R3: after a cancellation, no other operation of a list begins`() async {
    let discarded = Log<Int>()
    let value = SimpleOperation { 7 }.discarding { discarded.add($0) }
    let failing = ParallelOperation(
      [AnyOperation(value), AnyOperation(SimpleOperation<Int> { throw TestError("failed") })],
      width: .serial)
    // The end of the second operation is observed before its outcome is known.
    let cancelling = SimpleOperation<[Int]> {
      cancelCurrentTask()
      throw TestError("late")
    }
    let others: [any ComposableOperation<[Int]>] = [
      cancelling,
      SimpleOperation {
        Issue.record("began")
        return []
      },
    ]
    let run = failing.fallingBack(toEachOf: others).start()
    #expect(await run.outcome.isCancelled)
    #expect(await run.lateOutcome?.error.map { "\($0)" } == "late")
    #expect(discarded.entries == [7])
  }

  @Test func `R3: a late value is discarded, whichever operation returned it`() async {
    let discarded = Log<Int>()
    for fails in [false, true] {
      let gate = Gate()
      let late = SimpleOperation {
        await gate.passIgnoringCancellation()
        return 7
      }.discarding { discarded.add($0) }
      let failing = Setting(suspends: false, workers: .all).failing()
      let operation: any ComposableOperation<Int> =
        fails ? failing.fallingBack(to: late) : late.fallingBack(to: failing)
      let run = operation.start()
      await gate.waitForArrivals(1)
      run.cancel()
      gate.open()
      #expect(await run.outcome.isCancelled)
    }
    #expect(discarded.entries == [7, 7])
  }
}

extension ComposableOperation {
  fileprivate func kindOfRun() async -> String { await run().kind }
}
