import CompositeOperations
import CompositeOperationsTestKit
import Testing

@Suite struct ModifierTests {
  @Test(arguments: Setting.all)
  func `map and then transform results, and pass on errors and cancellations`(setting: Setting)
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

  @Test func `modifiers have a child run where CombiningModifiers says so, and nowhere else`() async
  {
    let base = SimpleOperation { 7 }
    let withChild: [(String, any ComposableOperation<Int>)] = [
      ("map", base.map { $0 }),
      ("retrying", base.retrying(attempts: 2)), ("repeating", base.repeating(times: 1)),
      ("hedged", base.hedged(after: .seconds(600))),
      ("recovering", base.recovering { _ in 8 }), ("catching", base.catching { _ in base }),
      ("fallingBack", base.fallingBack(to: base)), ("ignoringErrors", base.ignoringErrors(with: 8)),
      ("mapError", base.mapError { $0 }), ("finally", base.finally { _ in }),
      ("onEnd", base.onEnd { _ in }),
    ]
    let within: [(String, any ComposableOperation<Int>)] = [
      ("named", base.named("x")), ("requiring", base.requiring(Condition("is met") { true })),
      ("timingOut", base.timingOut(after: .seconds(100))),
      ("abandoning", base.timingOut(after: .seconds(100), .abandoning)),
      ("exclusive", base.exclusive(in: Permits(1))), ("limited", base.limited(by: Permits(1))),
      ("throttled", base.throttled(to: 1, per: .seconds(1))), ("delayed", base.delayed(by: .zero)),
      (
        "guarded",
        base.guarded(by: CircuitBreaker(opensAfterFailures: 1, halfOpensAfter: .seconds(1)))
      ),
      ("discarding", base.discarding { _ in }), ("weighing", base.weighing(2)),
      ("prioritized", base.prioritized(at: .high)), ("onStart", base.onStart {}),
    ]
    for (operations, depth) in [(withChild, 2), (within, 1)] {
      for (name, operation) in operations {
        let recorder = RecordingObserver()
        _ = await AnyOperation(operation).run(in: OperationEnvironment(observers: [recorder]))
        let depths = Set(recorder.events.map { "\($0.path)".split(separator: "/").count })
        #expect(depths.max() == depth, "\(name)")
        #expect(Set(recorder.events.map(\.id)).count == depth, "\(name)")
      }
    }
    // The second operation of `then` is a child, too.
    let chain = RecordingObserver()
    _ = await base.then { _ in base }.run(in: OperationEnvironment(observers: [chain]))
    #expect(Set(chain.events.map(\.id)).count == 3)
    let pool = OperationPool()
    let separate: [any ComposableOperation<Int>] = [
      base.submitted(to: pool), base.shared(in: SharedRuns<Int, Int>(), for: 1),
    ]
    for operation in separate {
      let recorder = RecordingObserver()
      _ = await AnyOperation(operation).run(in: OperationEnvironment(observers: [recorder]))
      #expect(recorder.events.allSatisfy { !"\($0.path)".contains("/") })
    }
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

  @Test func `an erased operation has the result of its base operation`() async {
    let operations = [
      AnyOperation(SimpleOperation { 1 }), AnyOperation(SimpleOperation { 1 }.map { $0 + 1 }),
    ]
    #expect(await ParallelOperation(operations).run().result == [1, 2])
  }

  @Test(arguments: Setting.all)
  func `a prioritized operation has the same outcome as without a priority`(setting: Setting)
    async throws
  {
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
