import CompositeOperations
import CompositeOperationsTestKit
import Testing

/// Every modifier that does not change the result, with settings that change nothing.
private func inEveryModifier(
  _ base: AnyOperation<Int>, discarding discard: @escaping @Sendable (Int) -> Void
) -> [(name: String, operation: any ComposableOperation<Int>)] {
  let nothing: @Sendable (Int) async -> Void = { _ in }
  let condition = Condition("is met") { true }
  let suspending = Condition("is met later") {
    await Task.yield()
    return true
  }
  let breaker = CircuitBreaker(opensAfterFailures: 1, halfOpensAfter: .seconds(600))
  return [
    ("plain", base), ("named", base.named("n")), ("erased", AnyOperation(base)),
    ("prioritized low", base.prioritized(at: .low)),
    ("prioritized high", base.prioritized(at: .high)),
    ("observed", base.observed(by: RecordingObserver())), ("onStart", base.onStart {}),
    ("onEnd", base.onEnd { _ in }), ("onProgress", base.onProgress { _ in }),
    ("weighing", base.weighing(2)), ("discarding", base.discarding(discard)),
    ("timingOut", base.timingOut(after: .seconds(600))),
    (
      "timingOut on another clock",
      base.timingOut(until: .now + .seconds(600), on: SuspendingClock())
    ),
    ("timingOut, abandoning", base.timingOut(after: .seconds(600), .abandoning)),
    ("delayed", base.delayed(by: .nanoseconds(1))),
    ("retrying", base.retrying(attempts: 2)), ("repeating", base.repeating(times: 2)),
    ("hedged", base.hedged(after: .seconds(600))),
    ("recovering", base.recovering { _ in 2 }), ("ignoringErrors", base.ignoringErrors(with: 2)),
    ("fallingBack", base.fallingBack(to: SimpleOperation { 2 })),
    ("catching", base.catching { _ in SimpleOperation { 2 } }),
    ("mapError", base.mapError { $0 }), ("finally", base.finally { _ in }),
    ("requiring", base.requiring(condition)), ("requiring later", base.requiring(suspending)),
    ("exclusive", base.exclusive(in: Permits(1))), ("limited", base.limited(by: Permits(2))),
    ("limited by a key", base.limited(by: KeyedPermits(2)["key"])),
    ("throttled", base.throttled(to: 100, per: .seconds(1))),
    ("guarded", base.guarded(by: breaker)),
    ("shared", base.shared(in: SharedRuns<Int, Int>(), for: 1)),
    ("submitted", base.submitted(to: OperationPool())),
    ("map", base.map { $0 }), ("then", base.then { number in SimpleOperation { number } }),
    ("using", using(SimpleOperation { 0 }, release: nothing) { _ in base }),
    ("list", ParallelOperation([base]).map { $0[0] }),
    ("race", RaceOperation([base])),
  ]
}

@Suite struct SelfCancellationTests {
  @Test(arguments: [false, true])
  func `O3: a body that cancels its own task ends as cancelled, whatever the modifier`(
    throwsError: Bool
  ) async {
    let discarded = Log<Int>()
    func inAll(_ base: SimpleOperation<Int>) -> [(String, any ComposableOperation<Int>)] {
      let base = AnyOperation(base.discarding { discarded.add($0) })
      return inEveryModifier(base, discarding: { discarded.add($0) }).map {
        ($0.name, $0.operation)
      }
    }
    let base = SimpleOperation { () async throws -> Int in
      cancelCurrentTask()
      if throwsError { throw TestError("failed") }
      return 1
    }
    for (name, operation) in inAll(base) {
      let run = operation.start()
      let outcome = await run.outcome
      #expect(outcome.isCancelled, "\(name): \(outcome)")
      _ = await run.lateOutcome
      #expect(discarded.entries == (throwsError ? [] : [1]), "\(name)")
      discarded.clear()
    }
    for (name, operation) in inAll(SimpleOperation { 1 }) {
      #expect(await operation.start().outcome.result == 1, "\(name)")
      let isRepeated = name == "repeating"
      #expect(discarded.entries == (isRepeated ? [1] : []), "\(name)")
      discarded.clear()
    }
  }
}
