import CompositeOperations
import CompositeOperationsTestKit
import Testing

@Suite struct ModifierTests {
  @Test(arguments: Setting.all)
  func `map and then hand results on, and errors and cancellations past`(setting: Setting)
    async throws
  {
    let calls = Log<String>()
    @Sendable func chained(_ first: SimpleOperation<Int>) -> any ComposableOperation<String> {
      first.then { value in
        calls.add("then")
        return setting.giving(value * 2)
      }.map { value in
        calls.add("map")
        await setting.pause()
        return "\(value)"
      }
    }
    #expect(try await setting.run { await chained(setting.giving(21)).kindOfRun() } == "result 42")
    #expect(calls.entries == ["then", "map"])
    #expect(
      try await setting.run { await chained(setting.failing()).kindOfRun() } == "error failed")
    #expect(try await setting.run { await chained(setting.stopping()).kindOfRun() } == "cancelled")
    #expect(calls.count == 2)
    let throwing = setting.giving(1).map { _ -> Int in throw TestError("unmappable") }
    #expect(try await setting.run { await throwing.run() }.kind == "error unmappable")
    let unchained = setting.giving(1).then { value in
      if value > 0 { throw TestError("no next") }
      return SimpleOperation { value }
    }
    #expect(try await setting.run { await unchained.run() }.kind == "error no next")
  }

  @Test func `an operation has the name of its type until it is named`() async {
    struct FetchIssues: ComposableOperation {
      func perform(in context: OperationContext) -> Int { 1 }
    }
    struct Titled: ComposableOperation {
      let operationName = "titled"
      func perform(in context: OperationContext) -> Int { 1 }
    }
    struct Flow: OperationSequence {
      mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
        nil
      }
    }
    #expect(FetchIssues().operationName == "FetchIssues")
    #expect(Titled().operationName == "titled")
    #expect(FetchIssues().named("issues").operationName == "issues")
    #expect(AnyOperation(Titled()).operationName == "titled")
    #expect(Titled().discarding { _ in }.operationName == "titled")
    #expect(ParallelOperation([Titled()]).operationName == "ParallelOperation")
    #expect(RaceOperation([Titled()]).operationName == "RaceOperation")
    #expect(SequentialOperation(Flow()).operationName == "Flow")
    #expect(Titled().map { $0 }.operationName == "titled.map")
  }

  @Test func `an erased operation is the operation`() async {
    let operations = [
      AnyOperation(SimpleOperation { 1 }), AnyOperation(SimpleOperation { 1 }.map { $0 + 1 }),
    ]
    #expect(await ParallelOperation(operations).run().result == [1, 2])
  }

  @Test(arguments: Setting.all)
  func `a prioritized operation ends as it would without`(setting: Setting) async throws {
    for priority in [TaskPriority.low, .high] {
      let good = setting.giving(7).prioritized(at: priority)
      #expect(try await setting.run { await good.run() }.result == 7)
      let bad = (setting.failing() as SimpleOperation<Int>).prioritized(at: priority)
      #expect(try await setting.run { await bad.run() }.kind == "error failed")
      let gate = Gate()
      let waiting = SimpleOperation { try await gate.pass() }.prioritized(at: priority)
      let run = waiting.start()
      await gate.waitForArrivals(1)
      run.cancel()
      #expect(await run.outcome.isCancelled)
    }
  }
}

extension ComposableOperation {
  fileprivate func kindOfRun() async -> String { await run().kind }
}
