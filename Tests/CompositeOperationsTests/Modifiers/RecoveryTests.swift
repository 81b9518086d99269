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
      base.fallingBack(to: other), base.ignoringErrors(with: 8),
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
    #expect(calls.entries == ["failed", "failed", "other", "other"])
    for operation in Self.recovering(setting.giving(7), noting: calls) {
      #expect(try await setting.run { await operation.kindOfRun() } == "result 7")
    }
    for operation in Self.recovering(setting.stopping(), noting: calls) {
      #expect(try await setting.run { await operation.kindOfRun() } == "cancelled")
    }
    #expect(calls.count == 4)
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
    for way in 0..<4 {
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
    for way in 0..<4 {
      let discarded = Log<Int>()
      let good = SimpleOperation { 7 }.discarding { discarded.add($0) }
      let bad = SimpleOperation { () -> Int in throw TestError("failed") }
      let base = ParallelOperation([AnyOperation(good), AnyOperation(bad)], width: .serial)
      let operations: [any ComposableOperation<[Int]>] = [
        base.ignoringErrors(with: []), base.fallingBack(to: SimpleOperation { [] }),
        // The closure receives the error with its values.
        base.recovering { _ in [] }, base.catching { _ in SimpleOperation { [] } },
      ]
      #expect(await operations[way].kindOfRun() == "result []")
      #expect(discarded.entries == (way < 2 ? [7] : []), "\(way)")
    }
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
