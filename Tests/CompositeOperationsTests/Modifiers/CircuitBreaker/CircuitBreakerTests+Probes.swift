import CompositeOperations
import CompositeOperationsTestKit
import Testing

extension CircuitBreakerTests {
  @Test(arguments: ["r", "n", "f"] as [Character])
  func `Q5: after the pause, one probe begins, and its outcome decides`(end: Character)
    async throws
  {
    let breaker = Self.breaker()
    _ = await run("f", breaker)
    clock.advance(by: .seconds(30))
    #expect(breaker.state == .open)
    let gate = Gate()
    let probe = SimpleOperation.withContext { context in
      try await gate.pass()
      return try await context.run(Self.body(end))
    }.guarded(by: breaker).start(in: environment)
    await gate.waitForArrivals(1)
    #expect(breaker.state == .halfOpen)
    clock.advance(by: .seconds(12))
    let error = await run("r", breaker).error as? CircuitOpenError
    #expect(
      error == CircuitOpenError(name: "server", state: .halfOpen, timeUntilProbe: .seconds(18)))
    #expect(error?.retryDelay == nil)
    #expect(
      error?.description
        == "circuit breaker 'server' is half-open: it waits for its probes, for at most 18.0 "
        + "seconds, before it lets other operations begin")
    gate.open()
    _ = await probe.outcome
    #expect(breaker.state == (end == "f" ? .open : .closed))
    let next = await run("r", breaker)
    if end == "f" {
      // The pause begins again.
      let refused = next.error as? CircuitOpenError
      #expect(
        refused == CircuitOpenError(name: "server", state: .open, timeUntilProbe: .seconds(30)))
    } else {
      #expect(next.result == 1)
    }
  }

  @Test func `Q5: a cancelled probe is neither, and gives its place to another run`() async {
    let gate = Gate()
    let waiting = SimpleOperation<Int> {
      try await gate.pass()
      return 1
    }
    let ignoringCancellation = SimpleOperation<Int> {
      await gate.passIgnoringCancellation()
      throw Self.failed
    }
    let selfCancelling = SimpleOperation<Int> {
      cancelCurrentTask()
      return 1
    }
    let skipped = Self.body("f").requiring(Condition("is met") { false })
    let breaker = Self.breaker()
    _ = await run("f", breaker)
    clock.advance(by: .seconds(30))
    for (index, operation) in [waiting, ignoringCancellation].enumerated() {
      let probe = operation.guarded(by: breaker).start(in: environment)
      await gate.waitForArrivals(index + 1)
      probe.cancel()
      if index == 1 { gate.open() }
      #expect(await probe.outcome.isCancelled)
      #expect(breaker.state == .halfOpen)
    }
    let stopping = AnyOperation(Self.body("c"))
    for probe in [AnyOperation(selfCancelling), AnyOperation(skipped), stopping] {
      // In a task of its own, which one of them cancels.
      let run = probe.guarded(by: breaker).start(in: environment)
      #expect(await run.outcome.isCancelled)
      #expect(breaker.state == .halfOpen)
    }
    #expect(await run("r", breaker).result == 1)
    #expect(breaker.state == .closed)
  }

  @Test(arguments: [false, true])
  func `Q5: all probes must succeed to close the circuit breaker`(lastFails: Bool) async {
    let breaker = Self.breaker(probes: 3)
    _ = await run("f", breaker)
    clock.advance(by: .seconds(30))
    #expect(await run("r", breaker).result == 1)
    let gates = [Gate(), Gate()]
    let probes = gates.enumerated().map { index, gate in
      SimpleOperation {
        try await gate.pass()
        if index == 1, lastFails { throw Self.failed }
      }.guarded(by: breaker).start(in: environment)
    }
    for (gate, probe) in zip(gates, probes) {
      for other in gates { await other.waitForArrivals(1) }
      // A place is not given back by a success.
      #expect(breaker.state == .halfOpen)
      #expect(await run("r", breaker).error is CircuitOpenError)
      gate.open()
      _ = await probe.outcome
    }
    #expect(breaker.state == (lastFails ? .open : .closed))
  }

  @Test func `Q5: probes that do not decide within the pause no longer count`() async {
    let breaker = Self.breaker(probes: 2)
    _ = await run("f", breaker)
    clock.advance(by: .seconds(30))
    #expect(await run("r", breaker).result == 1)
    let gate = Gate()
    let hanging = SimpleOperation {
      await gate.passIgnoringCancellation()
      throw Self.failed
    }.guarded(by: breaker).start(in: environment)
    await gate.waitForArrivals(1)
    clock.advance(by: .seconds(29))
    #expect(await run("r", breaker).error is CircuitOpenError)
    clock.advance(by: .seconds(1))
    #expect(await run("r", breaker).result == 1)
    #expect(breaker.state == .halfOpen)
    gate.open()
    #expect(await hanging.outcome.error as? TestError == Self.failed)
    #expect(breaker.state == .halfOpen)
    #expect(await run("r", breaker).result == 1)
    #expect(breaker.state == .closed)
  }

  @Test func `Q5: a retry waits for the next probe`() async throws {
    let breaker = Self.breaker()
    let began = Log<Duration>()
    let clock = clock
    let operation = SimpleOperation {
      began.add(clock.now.offset)
      if began.count == 1 { throw Self.failed }
    }.guarded(by: breaker).retrying(attempts: 3)
    try await SeededExecutor(seed: 1).run(advancing: clock) {
      try await operation.run(in: OperationEnvironment(clock: clock)).get()
    }
    #expect(began.entries == [.zero, .seconds(30)])
  }

  @Test func `Q5: the pause is measured by the clock of the run that began it`()
    async
  {
    let breaker = Self.breaker()
    _ = await run("f", breaker)
    let other = ManualClock()
    other.advance(by: .seconds(1_000))
    let elsewhere = OperationEnvironment(clock: other)
    let operation = Self.body("r").guarded(by: breaker)
    #expect(await operation.run(in: elsewhere).error is CircuitOpenError)
    clock.advance(by: .seconds(30))
    // A probe that hangs, measured by the other clock.
    let gate = Gate()
    let hanging = SimpleOperation { try await gate.pass() }.guarded(by: breaker)
      .start(in: elsewhere)
    await gate.waitForArrivals(1)
    clock.advance(by: .seconds(1_000))
    #expect(await operation.run(in: environment).error is CircuitOpenError)
    other.advance(by: .seconds(30))
    #expect(await operation.run(in: environment).result == 1)
    #expect(breaker.state == .closed)
    gate.open()
    _ = await hanging.outcome
  }
}
