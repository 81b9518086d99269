import CompositeOperations
import CompositeOperationsTestKit
import Testing

@Suite(.timeLimit(.minutes(10))) struct EventWaitTests {
  /// Returns the waits, the start and the end that a run reports.
  private func told(_ recorder: RecordingObserver, _ name: String = "root") -> [String] {
    recorder.events(of: name).compactMap { event in
      switch event.kind {
      case .started: "started"
      case .waitingBegan(let wait): "waits for \(wait)"
      case .waitingEnded(let wait): "has waited for \(wait)"
      case .ended: "ended"
      default: nil
      }
    }
  }

  /// Runs an operation on one worker, and calls a closure that ends its wait.
  private func run(
    _ operation: some ComposableOperation<Int>, clock: ManualClock = ManualClock(),
    opening open: () -> Void
  ) async -> RecordingObserver {
    let recorder = RecordingObserver()
    let executor = SeededExecutor(seed: 1)
    let environment = OperationEnvironment(
      clock: clock, observers: [recorder], executor: executor)
    let run = operation.named("root").start(in: environment)
    executor.drain()
    open()
    executor.drain()
    #expect(await run.outcome.result == 1)
    return recorder
  }

  @Test func `V1: a run reports what it waits for, and the end of the wait`() async {
    let one = SimpleOperation { 1 }
    let second = Duration.seconds(1)
    let waits: [(wait: String, operation: (ManualClock) -> any ComposableOperation<Int>)] = [
      ("\(second)", { _ in one.delayed(by: second) }),
      (
        "a point in time",
        { clock in one.delayed(until: clock.now.advanced(by: second), on: clock) }
      ),
      ("\(second)", { _ in one.repeating(times: 2, backoff: .constant(second)) }),
    ]
    for (wait, operation) in waits {
      let clock = ManualClock()
      let recorder = await run(AnyOperation(operation(clock)), clock: clock) {
        clock.advance(by: second)
      }
      #expect(
        told(recorder) == ["started", "waits for \(wait)", "has waited for \(wait)", "ended"])
    }

    let gate = Gate()
    let locks = [Permits(1, name: "a"), Permits(1, name: "b")]
    let holder = SimpleOperation { try await gate.pass() }.exclusive(in: locks[0]).start()
    await gate.waitForArrivals(1)
    let recorder = RecordingObserver()
    let waiter = one.exclusive(in: locks[0], locks[1]).named("root")
      .start(in: OperationEnvironment(observers: [recorder]))
    while locks[0].waitingCount == 0 { await Task.yield() }
    gate.open()
    #expect(await waiter.outcome.result == 1)
    _ = await holder.outcome
    #expect(
      told(recorder) == ["started", "waits for a, b", "has waited for a, b", "ended"])
  }

  @Test func `V1: waits for a rate, for conditions and for a shared result are reported`() async {
    let one = SimpleOperation { 1 }
    let clock = ManualClock()
    let limit = RateLimit(1, per: .seconds(1))
    let throttled = one.throttled(by: limit)
    #expect(await throttled.run(in: OperationEnvironment(clock: clock)).result == 1)
    let recorder = await run(throttled, clock: clock) { clock.advance(by: .seconds(1)) }
    #expect(
      told(recorder) == ["started", "waits for its turn", "has waited for its turn", "ended"])

    let gate = Gate()
    let required = one.requiring(
      Condition("is open") {
        try await gate.pass()
        return true
      })
    let asking = await run(required) { gate.open() }
    #expect(told(asking) == ["started", "waits for is open", "has waited for is open", "ended"])
    #expect(told(await run(one.requiring(Condition("is so") { true })) {}) == ["started", "ended"])

    let runs = SharedRuns<Int, Int>()
    for isHolding in [false, true] {
      let shared = Gate()
      let wanted = SimpleOperation {
        try await shared.pass()
        return 1
      }.shared(in: runs, for: 7)
      let waiting =
        isHolding ? AnyOperation(wanted.exclusive(in: Permits(1))) : AnyOperation(wanted)
      let recorder = RecordingObserver()
      let executor = SeededExecutor(seed: 1)
      let handle = waiting.named("root")
        .start(in: OperationEnvironment(observers: [recorder], executor: executor))
      executor.drain()
      #expect(told(recorder) == ["started", "waits for the shared result for 7"])
      shared.open()
      executor.drain()
      #expect(await handle.outcome.result == 1)
      #expect(told(recorder).suffix(2) == ["has waited for the shared result for 7", "ended"])
    }
  }

  @Test func `V1: the end of a cancelled wait is reported`() async {
    let lock = Permits(1, name: "lock")
    let gate = Gate()
    let holder = SimpleOperation { try await gate.pass() }.exclusive(in: lock).start()
    await gate.waitForArrivals(1)
    let recorder = RecordingObserver()
    let run = SimpleOperation { 1 }.exclusive(in: lock).named("root")
      .start(in: OperationEnvironment(observers: [recorder]))
    while lock.waitingCount == 0 { await Task.yield() }
    run.cancel()
    #expect(await run.outcome.isCancelled)
    #expect(told(recorder) == ["started", "waits for lock", "has waited for lock", "ended"])
    gate.open()
    _ = await holder.outcome
  }

  @Test func `V2: a retry is reported before its delay, and its run has the number of the attempt`()
    async
  {
    let clock = ManualClock()
    let recorder = RecordingObserver()
    let executor = SeededExecutor(seed: 1)
    let failing = SimpleOperation<Int> { throw TestError("failed") }.named("try")
    let run = failing.retrying(attempts: 3, backoff: .constant(.seconds(1))).named("root")
      .start(in: OperationEnvironment(clock: clock, observers: [recorder], executor: executor))
    for _ in 0..<3 {
      executor.drain()
      clock.advance(by: .seconds(1))
    }
    #expect(await run.outcome.error is RetryError)
    let scheduled = recorder.events(of: "root").compactMap { event -> String? in
      guard case .retryScheduled(let attempt, let delay, let error) = event.kind else { return nil }
      return "\(attempt) after \(delay): \(error)"
    }
    let second = Duration.seconds(1)
    #expect(scheduled == ["2 after \(second): failed", "3 after \(second): failed"])
    #expect(recorder.events(of: "try").filter(\.isStart).map(\.attempt) == [1, 2, 3])
    #expect(recorder.events(of: "root").allSatisfy { $0.attempt == 1 })
  }

  @Test(arguments: [1, 100])
  func `V3: an event has its time, and the times of successive events never decrease`(width: Int)
    async
  {
    let before = ContinuousClock.now
    let recorder = RecordingObserver()
    let children = (0..<100).map { number in SimpleOperation { number } }
    _ = await ParallelOperation(children, width: .limited(to: width))
      .run(in: OperationEnvironment(observers: [recorder]))
    let after = ContinuousClock.now
    #expect(recorder.events.allSatisfy { before <= $0.instant && $0.instant <= after })
    for events in Dictionary(grouping: recorder.events, by: \.id).values {
      // Several workers start children concurrently.
      let successive = width == 1 ? events : events.filter { !isStartOfChild($0) }
      #expect(successive.map(\.instant) == successive.map(\.instant).sorted())
      for start in events.filter(isStartOfChild) {
        #expect(events[0].instant <= start.instant)
        #expect(start.instant <= events[events.count - 1].instant)
      }
    }
  }

  private func isStartOfChild(_ event: OperationEvent) -> Bool {
    if case .childStarted = event.kind { true } else { false }
  }
}
