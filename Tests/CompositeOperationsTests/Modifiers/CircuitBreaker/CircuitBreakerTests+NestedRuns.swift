import CompositeOperations
import CompositeOperationsTestKit
import Testing

extension CircuitBreakerTests {
  /// Opens a circuit breaker, and waits until probes may begin.
  private func letProbesBegin(_ breaker: CircuitBreaker) async {
    _ = await run("f", breaker)
    clock.advance(by: .seconds(30))
  }

  /// The bodies that run a child, in each way in which they wait for it.
  private static func bodies(
    running child: some ComposableOperation<Int>
  ) -> [(name: String, body: AnyOperation<Int>)] {
    let pool = OperationPool()
    let runs = SharedRuns<String, Int>()
    let permits = Permits(1)
    func parent(_ child: some ComposableOperation<Int>) -> AnyOperation<Int> {
      AnyOperation(SimpleOperation.withContext { context in try await context.run(child) })
    }
    func first(_ list: some ComposableOperation<[Int]>) -> AnyOperation<Int> {
      AnyOperation(list.map { $0[0] })
    }
    return [
      ("the operation itself", AnyOperation(child)),
      ("a child", parent(child)),
      ("a grandchild", parent(parent(child))),
      ("a list", first(ParallelOperation([child, child, child]))),
      ("a growing list", first(ParallelOperation(growing: [child]))),
      ("a sequence", AnyOperation(Self.body("r").then { _ in child })),
      ("a member of a pool", parent(child.submitted(to: pool))),
      (
        "a member of a pool, with permits",
        parent(parent(child).submitted(to: pool).exclusive(in: permits))
      ),
      ("a shared run", parent(parent(child).shared(in: runs, for: "a"))),
      ("a retry", parent(child.retrying(attempts: 2))),
      ("an abandoning timeout", parent(child.timingOut(after: .seconds(9), .abandoning))),
      ("named", parent(child.named("child"))),
    ]
  }

  @Test(arguments: [false, true])
  func `Q5: guarded runs below a probe are part of it`(isObserved: Bool) async {
    let environment = OperationEnvironment(
      clock: clock, observers: isObserved ? [IdleObserver()] : [])
    let breaker = Self.breaker()
    let child = Self.body("r").guarded(by: breaker)
    for (name, body) in Self.bodies(running: child) {
      await letProbesBegin(breaker)
      // Another circuit breaker has its own state, and a child that fails does not count.
      let recovered = Self.body("f").guarded(by: breaker).ignoringErrors(with: 1)
      let probe = SimpleOperation.withContext { context in
        _ = try await context.run(recovered)
        return try await context.run(body)
      }.guarded(by: breaker).guarded(by: Self.breaker())
      #expect(await probe.run(in: environment).result == 1, "\(name)")
      #expect(breaker.state == .closed, "\(name)")
    }
  }

  @Test func `Q5: runs that the body of a probe begins separately are refused`() async {
    let breaker = Self.breaker()
    await letProbesBegin(breaker)
    let other = Self.body("r").guarded(by: breaker)
    let outcomes = Log<Outcome<Int>>()
    let environment = environment
    let probe = SimpleOperation.withContext { context in
      for environment in [environment, context.environment] {
        outcomes.add(await other.start(in: environment).outcome)
        outcomes.add(await other.run(in: environment))
        outcomes.add(await Task { await other.run(in: environment) }.value)
        let pool = OperationPool(in: environment)
        outcomes.add(await pool.submitNow(other).outcome)
        outcomes.add(await context.outcome(of: other))
      }
      return 1
    }.guarded(by: breaker)
    #expect(await probe.run(in: environment).result == 1)
    // The last one of each round is a child.
    let isRefused = outcomes.entries.map { $0.error is CircuitOpenError }
    #expect(isRefused == [true, true, true, true, false, true, true, true, true, false])
    #expect(breaker.state == .closed)
  }

  @Test(arguments: [false, true])
  func `Q5: runs through the context of a probe that has ended are refused`(isObserved: Bool)
    async
  {
    let environment = OperationEnvironment(
      clock: clock, observers: isObserved ? [IdleObserver()] : [])
    let breaker = Self.breaker(probes: 2)
    await letProbesBegin(breaker)
    let contexts = Log<OperationContext>()
    let child = SimpleOperation.withContext { context in contexts.add(context) }
    let first = SimpleOperation.withContext { context in
      contexts.add(context)
      try await context.run(child)
      _ = try await context.run(ParallelOperation([child]))
    }.guarded(by: breaker)
    #expect(await first.run(in: environment).result != nil)
    let gate = Gate()
    let second = SimpleOperation { try await gate.pass() }.guarded(by: breaker)
      .start(in: environment)
    await gate.waitForArrivals(1)
    #expect(contexts.count == 3)
    for context in contexts.entries {
      let outcome = await context.outcome(of: Self.body("r").guarded(by: breaker))
      #expect(outcome.error is CircuitOpenError)
    }
    gate.open()
    _ = await second.outcome
    #expect(breaker.state == .closed)
  }
}

private struct IdleObserver: OperationObserver {
  func observe(_ event: OperationEvent) {}
}
