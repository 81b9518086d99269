import CompositeOperations
import CompositeOperationsTestKit
import Testing

@Suite struct ExpectationTests {
  private static func outcomes() -> [Outcome<Int>] {
    [.result(7), .error(TestError("broken")), .cancelled]
  }

  /// Returns the message of an unmet expectation, or "met".
  private func message(_ expect: () throws -> Void) -> String {
    do {
      try expect()
      return "met"
    } catch {
      return (error as? ExpectationError)?.message ?? "\(error)"
    }
  }

  @Test func `expecting another outcome throws an error with the actual outcome`() throws {
    let outcomes = Self.outcomes()
    let seen = [
      "saw the result 7", "saw an error of type TestError: broken", "saw a cancellation",
    ]
    let results = outcomes.map { outcome in message { try outcome.expectResult(7) } }
    #expect(
      results == [
        "met", "expected the result 7, but \(seen[1])", "expected the result 7, but \(seen[2])",
      ])
    #expect(
      message { try outcomes[0].expectResult(8) } == "expected the result 8, but saw the result 7")
    #expect(try outcomes[0].expectResult() == 7)
    #expect(message { try outcomes[2].expectResult() } == "expected a result, but \(seen[2])")
    let errors = outcomes.map { outcome in
      message { try outcome.expectError(TestError.self) }
    }
    #expect(
      errors == [
        "expected an error of type TestError, but \(seen[0])", "met",
        "expected an error of type TestError, but \(seen[2])",
      ])
    #expect(
      message { try outcomes[1].expectError(TimeoutError.self) }
        == "expected an error of type TimeoutError, but \(seen[1])")
    #expect(try outcomes[1].expectError(TestError.self) == TestError("broken"))
    try outcomes[1].expectError()
    let cancellations = outcomes.map { outcome in message { try outcome.expectCancelled() } }
    #expect(
      cancellations == [
        "expected a cancellation, but \(seen[0])", "expected a cancellation, but \(seen[1])", "met",
      ])
  }

  @Test func `the error of an unmet expectation has its file and line`() throws {
    let line = #line + 1
    let error = #expect(throws: ExpectationError.self) { try Outcome.result(7).expectResult(8) }
    #expect(error?.line == line)
    #expect(
      error?.description == "\(#fileID):\(line): expected the result 8, but saw the result 7")
  }

  /// Records a flow with retries, permits and a limited width.
  private func record() async -> RecordingObserver {
    let recorder = RecordingObserver()
    let gate = Gate()
    let fetch = ScriptedOperation(
      "fetch", runs: [.error(ScriptedError("offline")), .error(ScriptedError("busy")), .result(1)]
    ).retrying(attempts: 3)
    let save = ScriptedOperation("save", runs: [], thereafter: .result(2).behind(gate))
    let database = Permits(1, name: "database")
    let flow = fetch.then { _ in
      ParallelOperation((0..<4).map { _ in save }, width: .limited(to: 3))
    }.then { _ in SimpleOperation { 3 }.named("tell").exclusive(in: database) }
    let run = flow.start(in: OperationEnvironment(observers: [recorder]))
    await gate.waitForArrivals(3)
    gate.open()
    #expect(await run.outcome.result == 3)
    return recorder
  }

  @Test func `events are expected at least once, a number of times, or never`() async throws {
    let recorder = await record()
    try recorder.expect(.started("save"))
    try recorder.expect(.started("save"), times: 4)
    try recorder.expect(.succeeded("save"), times: 4)
    try recorder.expect(.retried("fetch"), times: 2)
    try recorder.expect(.failed("fetch"), times: 2)
    try recorder.expect(.started("fetch"), times: 3)
    try recorder.expectNever(.failed("save"))
    try recorder.expectNever(.cancelled("save"))
    try recorder.expectNever(.waited("save"))
    #expect(
      message { try recorder.expect(.started("save"), times: 5) }
        .hasPrefix("expected \"save starts\" 5 times, but saw it 4 times. Recorded events:\n  "))
    #expect(
      message { try recorder.expect(.cancelled("save")) }
        .hasPrefix("expected \"save ends in a cancellation\" at least once, but saw it 0 times."))
    #expect(
      message { try recorder.expectNever(.retried("fetch")) }
        .hasPrefix("expected \"fetch is retried\" 0 times, but saw it 2 times."))
    #expect(
      message { try RecordingObserver().expect(.ended("save")) }
        == "expected \"save ends\" at least once, but saw it 0 times; no events were recorded")
  }

  @Test func `waits are expected by run and by kind`() throws {
    let recorder = RecordingObserver()
    let executor = SeededExecutor(seed: 1)
    let gate = Gate()
    let database = Permits(1, name: "database")
    let save = ScriptedOperation("save", runs: [], thereafter: .result(2).behind(gate))
      .exclusive(in: database)
    _ = ParallelOperation([save, save]).start(
      in: OperationEnvironment(observers: [recorder], executor: executor))
    executor.drain()
    gate.open()
    executor.drain()
    try recorder.expect(.succeeded("save"), times: 2)
    try recorder.expect(.waited("save"), times: 1)
    try recorder.expect(.waited("save", for: .permits(["database"])), times: 1)
    try recorder.expectNever(.waited("save", for: .rate))
  }

  @Test func `events are expected in an order, with any events in between`() async throws {
    let recorder = await record()
    try recorder.expectOrder()
    try recorder.expectOrder(
      .started("fetch"), .retried("fetch"), .retried("fetch"), .succeeded("fetch"),
      .started("save"), .ended("save"), .started("tell"))
    #expect(
      message { try recorder.expectOrder(.ended("save"), .started("tell"), .started("save")) }
        .hasPrefix(
          "expected \"save starts\" after \"tell starts\", but did not see it. Recorded events:\n"))
    #expect(
      message { try recorder.expectOrder(.started("missing"), .started("save")) }
        .hasPrefix("expected \"missing starts\", but did not see it."))
    // One event does not match two patterns.
    #expect(message { try recorder.expectOrder(.started("tell"), .started("tell")) } != "met")
  }

  @Test func `the expected maximum of concurrent runs counts a retry and its attempt once`()
    async throws
  {
    let recorder = await record()
    try recorder.expectAtMost(3, inFlight: "save")
    try recorder.expectAtMost(1, inFlight: "fetch")
    try recorder.expectAtMost(0, inFlight: "missing")
    #expect(
      message { try recorder.expectAtMost(2, inFlight: "save") }
        .hasPrefix("expected at most 2 concurrent runs of save, but saw 3. Recorded events:\n"))
    #expect(message { try recorder.expectAtMost(0, inFlight: "fetch") }.contains("but saw 1."))
  }

  @Test func `V13: the run of a modifier does not count in expectations`() async throws {
    let fetch = SimpleOperation { 1 }.named("fetch")
    let flaky = ScriptedOperation(
      "flaky", runs: [.error(ScriptedError("offline")), .error(ScriptedError("busy")), .result(1)])
    let pool = OperationPool()
    let recorder = RecordingObserver()
    let operations: [any ComposableOperation<Int>] = [
      fetch.repeating(times: 3), fetch.onEnd { _ in }.finally { _ in },
      fetch.recovering { _ in 2 }.ignoringErrors(with: 3), fetch.submitted(to: pool),
      fetch.retrying(attempts: 2).timingOut(after: .seconds(1_000_000)),
      flaky.retrying(attempts: 3),
      fetch.repeating(times: 2).named("all"),
    ]
    for operation in operations {
      _ = await operation.run(in: OperationEnvironment(observers: [recorder]))
    }
    try recorder.expect(.started("fetch"), times: 3 + 1 + 1 + 1 + 1 + 2)
    try recorder.expect(.succeeded("fetch"), times: 9)
    try recorder.expect(.started("flaky"), times: 3)
    try recorder.expect(.failed("flaky"), times: 2)
    try recorder.expect(.succeeded("flaky"), times: 1)
    try recorder.expect(.retried("flaky"), times: 2)
    try recorder.expect(.started("all"), times: 1)
    try recorder.expectOrder(.started("flaky"), .failed("flaky"), .retried("flaky"))
    try recorder.expectAtMost(1, inFlight: "fetch")
  }

  @Test func `V13: an operation that runs itself as a child counts each time`() async throws {
    struct Folder: ComposableOperation {
      let depth: Int
      var operationName: String { "folder" }
      func perform(in context: OperationContext) async throws {
        if depth > 0 { try await context.run(Folder(depth: depth - 1)) }
      }
    }
    let recorder = RecordingObserver()
    _ = await Folder(depth: 3).onEnd { _ in }.observed(by: recorder).run()
    try recorder.expect(.started("folder"), times: 4)
  }

  @Test func `V13: the run of a modifier counts if its operation has not begun`() async throws {
    let recorder = RecordingObserver()
    let run = ScriptedOperation("save", runs: [.result(1)]).delayed(by: .seconds(1))
      .retrying(attempts: 2).delayed(by: .seconds(1))
      .start(in: OperationEnvironment(clock: ManualClock(), observers: [recorder]))
    run.cancel()
    #expect(await run.outcome.isCancelled)
    try recorder.expect(.cancelled("save"), times: 1)
  }

  @Test func `a custom pattern counts like the predefined ones`() async throws {
    let recorder = await record()
    let second = EventPattern("the second attempt starts") { event in
      if case .started = event.kind { event.attempt == 2 } else { false }
    }
    try recorder.expect(second, times: 1)
    #expect(
      message { try recorder.expectNever(second) }.hasPrefix(
        "expected \"the second attempt starts\" 0 times"))
  }

  @Test func `a message shows the first of many events`() async throws {
    let recorder = RecordingObserver()
    let list = ParallelOperation((0..<30).map { _ in SimpleOperation { 1 } })
    _ = await list.observed(by: recorder).run()
    let text = message { try recorder.expect(.started("missing")) }
    #expect(text.split(separator: "\n").count == 52)
    #expect(text.hasSuffix("  … and \(recorder.events.count - 50) more"))
  }

  @Test func `expecting a negative number is a programming error`() async {
    await #expect(processExitsWith: .failure) {
      try RecordingObserver().expect(.started("save"), times: -1)
    }
    await #expect(processExitsWith: .failure) {
      try RecordingObserver().expectAtMost(-1, inFlight: "save")
    }
  }
}
