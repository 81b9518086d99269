import CompositeOperations
import CompositeOperationsTestKit
import Testing

@Suite struct ScriptedOperationTests {
  @Test func `each run takes the next entry of the script, even in copies of the operation`() async
  {
    let fetch = ScriptedOperation(
      "fetch", runs: [.error(ScriptedError("offline")), .cancelled, .result(7)])
    let copy = fetch
    #expect(await fetch.run().kind == "error offline")
    #expect(await copy.run().isCancelled)
    #expect(await fetch.run().result == 7)
    #expect(fetch.runCount == 3)
    #expect(fetch.operationName == "fetch")
  }

  @Test
  func `a run beyond the script ends in an error, unless further runs are defined`()
    async throws
  {
    let fetch = ScriptedOperation("fetch", runs: [.result(1), .result(2)])
    for _ in 0..<2 { #expect(await fetch.run().result != nil) }
    let error = try await fetch.run().expectError(ScriptExhaustedError.self)
    #expect(error.name == "fetch" && error.scriptedRuns == 2 && error.run == 3)
    #expect(error.description.hasPrefix("run 3 of fetch is not scripted: the script has 2 runs."))
    #expect(error.description.contains("pass `thereafter`"))
    let poll = ScriptedOperation(runs: [.result(1)], thereafter: .result(9))
    for expected in [1, 9, 9] { #expect(await poll.run().result == expected) }
  }

  @Test func `a run waits by the clock of its environment, one delay after another`() async {
    let clock = ManualClock()
    let slow = ScriptedOperation(runs: [.result(1).after(.seconds(2)).after(.seconds(3))])
    let run = slow.start(in: OperationEnvironment(clock: clock))
    for seconds in [2, 3] {
      await clock.waitForSleepers(1)
      #expect(clock.nextDeadline == clock.now.advanced(by: .seconds(seconds)))
      clock.advance(by: .seconds(seconds))
    }
    #expect(await run.outcome.result == 1)
  }

  /// A run that is cancelled while it waits, with its late outcome; nil if it stops.
  private struct Cancelled: Sendable {
    let late: String?
    let run: @Sendable (Gate) -> ScriptedRun<Int>

    init(late: String?, _ run: @escaping @Sendable (Gate) -> ScriptedRun<Int>) {
      self.late = late
      self.run = run
    }
  }

  @Test func `a run that is cancelled while it waits stops, unless it ignores its cancellation`()
    async throws
  {
    let cases = [
      Cancelled(late: nil) { _ in .result(7).after(.seconds(9)) },
      Cancelled(late: nil) { .result(7).behind($0) },
      Cancelled(late: nil) { _ in .untilCancelled },
      Cancelled(late: "result 7") { _ in .result(7).after(.seconds(9)).ignoringCancellation() },
      Cancelled(late: "result 7") { .result(7).behind($0).ignoringCancellation() },
      Cancelled(late: "result 7") { _ in .result(7).afterCancellation() },
      Cancelled(late: "error late") {
        .error(ScriptedError("late")).behind($0).ignoringCancellation()
      },
      Cancelled(late: "result 7") {
        .result(7).after(.seconds(4)).behind($0).ignoringCancellation()
      },
      // After the gate, it no longer ignores its cancellation.
      Cancelled(late: nil) { .result(7).behind($0).ignoringCancellation().after(.seconds(9)) },
    ]
    for (number, cancelled) in cases.enumerated() {
      let gate = Gate()
      let operation = ScriptedOperation(runs: [cancelled.run(gate)])
      let executor = SeededExecutor(seed: 1)
      let clock = ManualClock()
      let environment = OperationEnvironment(clock: clock, executor: executor)
      let run = operation.start(in: environment)
      executor.drain()
      #expect(operation.inFlight == 1)
      run.cancel()
      executor.drain()
      if number < 3 { #expect(operation.inFlight == 0) }
      clock.advance(by: .seconds(9))
      gate.open()
      executor.drain()
      try #require(operation.inFlight == 0, "case \(number)")
      #expect(await run.outcome.isCancelled)
      #expect(await run.lateOutcome?.kind == cancelled.late, "case \(number)")
    }
  }

  @Test func `a scripted operation counts its runs in flight and their maximum`() async {
    let gate = Gate()
    let fetch = ScriptedOperation("fetch", runs: [], thereafter: .result(1).behind(gate))
    let run = ParallelOperation(Array(repeating: fetch, count: 5), width: .limited(to: 3)).start()
    await gate.waitForArrivals(3)
    #expect(fetch.inFlight == 3)
    #expect(fetch.runCount == 3)
    gate.open()
    #expect(await run.outcome.result == [1, 1, 1, 1, 1])
    #expect(fetch.inFlight == 0)
    #expect(fetch.mostInFlight == 3)
    #expect(fetch.runCount == 5)
  }

  @Test func `a negative delay is a programming error`() async {
    await #expect(processExitsWith: .failure) {
      _ = ScriptedRun.result(1).after(.seconds(-1))
    }
  }
}
