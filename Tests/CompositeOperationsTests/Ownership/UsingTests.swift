import CompositeOperations
import CompositeOperationsTestKit
import Testing

/// How the operation that uses a resource ends, or why it does not begin.
private enum Use: CaseIterable {
  case result, error, cancellation, ownCancellation
  case unmetCondition, failedCondition, closedPool, deadlock, timeout, closureThrows

  func operation(_ token: Token, _ log: Log<String>) throws -> any ComposableOperation<Int> {
    let plain = SimpleOperation {
      log.add("use")
      return 1
    }
    switch self {
    case .result: return plain
    case .error: return SimpleOperation { throw TestError("failed") }
    case .cancellation: return SimpleOperation { throw CancellationError() }
    case .ownCancellation:
      return SimpleOperation {
        cancelCurrentTask()
        return 1
      }
    case .unmetCondition: return plain.requiring(Condition("c") { false })
    case .failedCondition: return plain.requiring(Condition("c") { throw TestError("condition") })
    case .closedPool:
      let pool = OperationPool()
      pool.close(.rejectingPending)
      return plain.submitted(to: pool)
    case .deadlock:
      let permits = Permits(1)
      return AnyOperation(plain.exclusive(in: permits)).exclusive(in: permits)
    case .timeout:
      return SimpleOperation {
        try await Task.sleep(for: .seconds(600))
        return 1
      }.timingOut(after: .milliseconds(1))
    case .closureThrows: throw TestError("closure")
    }
  }
}

/// O9: a resource is released exactly once.
@Suite(.timeLimit(.minutes(10))) struct UsingTests {
  private func opening(
    _ ledger: Ledger, after gate: Gate? = nil
  ) -> some ComposableOperation<Token> {
    SimpleOperation {
      await gate?.passIgnoringCancellation()
      return ledger.open()
    }.discarding { _ in Issue.record("the resource was discarded") }
  }

  @Test(arguments: Use.allCases, [false, true])
  fileprivate func `O9: a resource is released once, however the operation ends`(
    use: Use, isObserved: Bool
  ) async {
    let (ledger, log) = (Ledger(), Log<String>())
    let operation = using(opening(ledger)) { token in
      // Suspends, so that a release that is not awaited would come too late.
      await Task.yield()
      log.add("release \(Task.isCancelled)")
      ledger.discard(token)
    } _: { token in
      AnyOperation(try use.operation(token, log))
    }
    let outcome: Outcome<Int>
    if isObserved {
      outcome = await operation.observed(by: RecordingObserver()).start().outcome
    } else {
      // Its own task, which a use cancels.
      outcome = await Task { await operation.run() }.value
    }
    #expect(ledger.counts.all == 1)
    #expect(ledger.findings == [])
    let used = use == .result ? ["use"] : []
    #expect(log.entries == used + ["release false"])
    switch use {
    case .result: #expect(outcome.result == 1)
    case .error, .failedCondition, .closedPool, .deadlock, .timeout, .closureThrows:
      #expect(outcome.error != nil, "\(outcome)")
    case .cancellation, .ownCancellation, .unmetCondition: #expect(outcome.isCancelled)
    }
  }

  @Test func `O9: a resource that is acquired after the cancellation is released`() async {
    // A modifier that is a run of its own passes the late resource on.
    let modifiers: [@Sendable (AnyOperation<Token>) -> any ComposableOperation<Token>] = [
      { $0 }, { $0.named("open") }, { $0.retrying(attempts: 2) }, { $0.finally { _ in } },
      { $0.observed(by: RecordingObserver()) }, { $0.submitted(to: OperationPool()) },
    ]
    for (index, modified) in modifiers.enumerated() {
      let (ledger, gate, log) = (Ledger(), Gate(), Log<String>())
      let acquire = modified(AnyOperation(opening(ledger, after: gate)))
      let run = using(AnyOperation(acquire), release: { ledger.discard($0) }) { _ in
        log.add("the closure was called after the cancellation")
        return SimpleOperation { 1 }
      }.start()
      await gate.waitForArrivals(1)
      run.cancel()
      gate.open()
      #expect(await run.outcome.isCancelled)
      #expect(ledger.findings == [], "\(index)")
      #expect(ledger.counts.all == 1)
      #expect(log.entries == [])
    }
  }

  @Test func `O9: without a resource, nothing is released, and the run ends as it did`() async {
    for isCancelled in [true, false] {
      let acquire = SimpleOperation<Int> {
        if isCancelled { throw CancellationError() }
        throw TestError("cannot open")
      }
      let outcome = await using(acquire, release: { _ in Issue.record("released") }) { value in
        SimpleOperation { value }
      }.run()
      #expect(outcome.isCancelled == isCancelled)
      #expect(outcome.error as? TestError == (isCancelled ? nil : TestError("cannot open")))
    }
  }

  @Test func `O9: the run ends after the release, which a cancellation does not cancel`() async {
    let (ledger, inUse, releasing) = (Ledger(), Gate(), Gate())
    let ended = Flag()
    let run = using(
      opening(ledger),
      release: { token in
        try? await releasing.pass()
        #expect(!Task.isCancelled)
        #expect(!ended.isSet)
        ledger.discard(token)
      }
    ) { _ in
      SimpleOperation { try await inUse.pass() }
    }.start()
    await inUse.waitForArrivals(1)
    run.cancel()
    let waiter = Task {
      let outcome = await run.outcome
      ended.set()
      return outcome
    }
    await releasing.waitForArrivals(1)
    releasing.open()
    #expect(await waiter.value.isCancelled)
    #expect(ledger.findings == [])
  }

  @Test func `O9: a result that comes before the end of the release is discarded if it is late`()
    async
  {
    let (ledger, releasing) = (Ledger(), Gate())
    let discarded = Log<Int>()
    let run = using(
      opening(ledger),
      release: { token in
        await releasing.passIgnoringCancellation()
        ledger.discard(token)
      }
    ) { _ in
      SimpleOperation { 7 }.discarding { discarded.add($0) }
    }.start()
    await releasing.waitForArrivals(1)
    run.cancel()
    releasing.open()
    #expect(await run.outcome.isCancelled)
    #expect(ledger.findings == [])
    #expect(discarded.entries == [7])
  }

  @Test func `O9: resources that nest are released in the opposite order`() async {
    let log = Log<String>()
    @Sendable func resource(_ name: String) -> some ComposableOperation<String> {
      SimpleOperation {
        log.add("open \(name)")
        return name
      }
    }
    let close: @Sendable (String) async -> Void = { log.add("close \($0)") }
    let nested = using(resource("a"), release: close) { a in
      using(resource("b"), release: close) { b in
        SimpleOperation { log.add("use \(a)\(b)") }
      }
    }
    #expect(await nested.run().result != nil)
    #expect(log.entries == ["open a", "open b", "use ab", "close b", "close a"])
    #expect(nested.operationName == "SimpleOperation<String>.using")
  }
}
