import CompositeOperations
import CompositeOperationsTestKit
import DurableOperations
import DurableOperationsTestKit
import Testing

@Suite(.timeLimit(.minutes(10))) struct RetryingTests {
  @Test func `J17: attempts end with the first result, and the errors before it are forgotten`()
    async throws
  {
    let test = TestStore()
    try await Effects.recorded { effects in
      let run = try await test.run(Single(.retried))
      #expect(run.state == .result)
      #expect(effects.names.count == 3)
      let attempts = try await test.store.run("r")?.steps.first?.attempts
      #expect(attempts == 3)
    }
  }

  @Test func `J17: the waits between attempts park the run, and the errors of all attempts stay`()
    async throws
  {
    let test = TestStore()
    try await Effects.recorded { effects in
      for attempt in 1...3 {
        let run = try await test.run(Single(.failingRetried))
        #expect(effects.names.count == attempt)
        #expect(run.state == (attempt < 3 ? .parked : .error))
        // Not before its time.
        if attempt < 3 {
          guard case .parked = try await test.attempt("r", of: Single.self) else {
            Issue.record("not parked")
            return
          }
        }
        test.time.pass(.seconds(60))
      }
    }
    let error = try await test.outcome(of: Single.self).error as? SequentialOperationError
    let cause = error?.cause
    #expect("\(cause.debugDescription)".contains("CodableError"), "\(cause.debugDescription)")
  }

  @Test func `J17: an attempt that a crash interrupts counts`() async throws {
    let test = TestStore()
    // Two processes have ended in their attempts.
    try await test.interrupt(
      Single(.failingRetried), afterStoring: #"{"begun":2,"errors":[]}"#, as: .attempts,
      under: "@retry", ofStep: "failure", attempts: 2)
    try await Effects.recorded { effects in
      let state = try await test.run(Single(.failingRetried)).state
      #expect(state == .error)
      #expect(effects.names.count == 1)
      let error = try await test.outcome(of: Single.self).error as? SequentialOperationError
      let text = "\((error?.cause).debugDescription)"
      for attempt in 1...2 {
        #expect(
          text.contains("step 0, failure: the process ended during attempt \(attempt)"), "\(text)")
      }
      #expect(!text.contains("during attempt 3"), "\(text)")
    }
  }

  @Test func `J17: a wait that parks the run within an attempt does not use the attempt up`()
    async throws
  {
    let test = TestStore()
    #expect(try await test.run(Single(.retriedEvent)).state == .parked)
    try await test.store.send(5, as: "go", to: "r")
    #expect(try await test.run(Single(.retriedEvent)).state == .result)
    #expect(try await test.outcome(of: Single.self).get() == 5)
  }

  @Test func `J17: each attempt of a wait for an event has a limit of its own`() async throws {
    let test = TestStore()
    for state in [RunState.parked, .parked, .error] {
      #expect(try await test.run(Single(.retriedLimitedEvent)).state == state)
      test.time.pass(.seconds(60))
    }
  }

  @Test func `J17: attempts of a hedge, which run at the same time, have waits of their own`()
    async throws
  {
    let test = TestStore()
    let clock = ManualClock()
    try await Effects.recorded { effects in
      let flow = DurableOperation(Single(.hedgedSleep), named: "r", in: test.store)
      let run = flow.start(in: OperationEnvironment(clock: clock))
      // The second attempt of the retry in the first attempt of the hedge sleeps.
      await clock.waitForSleepers(2)
      test.time.pass(.seconds(5))
      clock.advance(by: .seconds(5))
      // So does the first attempt of the retry in the second attempt of the hedge.
      await clock.waitForSleepers(2)
      #expect(effects.all.count == 3)
      #expect(Set(effects.all.map(\.key)).count == 1)
      let waits = try await test.store.run("r")?.steps.filter { $0.kind == .wake }
      #expect(waits?.count == 2)
      test.time.pass(.seconds(55))
      clock.advance(by: .seconds(55))
      #expect(try await run.outcome.get() == 2)
    }
  }

  @Test func `J17: a retry within a retry counts its attempts for each outer attempt`()
    async throws
  {
    let test = TestStore()
    try await Effects.recorded { effects in
      let state = try await test.run(Single(.retriedTwice)).state
      #expect(state == .result)
      #expect(effects.names.count == 4)
    }
  }

  @Test func `J17: a worker that is cancelled does not use an attempt up`() async throws {
    let test = TestStore()
    for _ in 0..<3 {
      let (begun, continuation) = AsyncStream.makeStream(of: Void.self)
      await Endless.$begun.withValue(continuation) {
        let flow = DurableOperation(Single(.retriedEndless), named: "r", in: test.store).start()
        for await _ in begun { break }
        flow.cancel()
        _ = await flow.outcome
      }
      #expect(try await test.row().state == .ready)
    }
  }

  @Test func `J18: a wait of one child of a retried composite does not park the run`() async throws
  {
    let test = TestStore()
    try await Effects.recorded { effects in
      let flow = DurableOperation(Single(.retriedComposite), named: "r", in: test.store).start()
      while try await test.store.run("r") == nil { await Task.yield() }
      try await test.store.send(5, as: "go", to: "r")
      let value = try await flow.outcome.get()
      #expect(value == nil)
      #expect(effects.names == ["sibling"])
    }
    #expect(try await test.store.run("r")?.steps.first?.value == "[5,0]")
  }

  @Test func `J17: after a crash at any write, no more attempts are made than allowed`()
    async throws
  {
    // An interrupted attempt has an error of its own.
    try await CrashHunt(comparesOutcomes: false).run(Single(.failingRetried)) { trial in
      try await Effects.recorded { effects in
        let outcome = try await trial.outcome
        #expect(outcome.error != nil)
        #expect(effects.names.count <= 3)
        return 0
      }
    }
  }

  @Test func `J17: outside a durable run, a late outcome is passed on as by retrying`() async {
    let (begun, begin) = AsyncStream.makeStream(of: Void.self)
    let waiting = SimpleOperation {
      begin.yield()
      while !Task.isCancelled { await Task.yield() }
      return 7
    }
    let run = waiting.durablyRetrying(attempts: 2).start()
    for await _ in begun { break }
    run.cancel()
    #expect(await run.outcome.isCancelled)
    #expect(await run.lateOutcome?.result == 7)
  }
}
