import CompositeOperations
import CompositeOperationsTestKit
import OperationTracing
import Testing

/// Checks that no user code runs under a lock of the package.
///
/// Each case puts values, errors, operations, observers, handlers or closures into a feature that
/// stores them, and makes the feature release them. They record when they are called, described or
/// deallocated.
@Suite(.timeLimit(.minutes(10))) struct LockTests {
  /// A feature that stores user code, and a way in which it releases it.
  struct Case: Sendable, CustomTestStringConvertible {
    let name: String
    /// The user code that must have run at the end.
    let runs: String
    let run: @Sendable (UserCodeRecorder) async -> Void

    var testDescription: String { name }

    init(
      _ name: String, runs: String = "deinit",
      _ run: @escaping @Sendable (UserCodeRecorder) async -> Void
    ) {
      self.name = name
      self.runs = runs
      self.run = run
    }
  }

  static let cases = callbacks + modifiers + breakers + pools + shared + composites + observers

  @Test(arguments: cases)
  func `C3: no user code runs under a lock, not even a deinit`(case one: Case) async {
    let code = UserCodeRecorder()
    await one.run(code)
    // Tasks can release their values shortly after they have ended.
    let end = ContinuousClock.now + .seconds(20)
    while code.count(of: one.runs) == 0, ContinuousClock.now < end { await Task.yield() }
    #expect(code.count(of: one.runs) > 0, "the case runs no user code")
    #expect(code.underLock == [])
    code.stopCallingBack()
  }

  @Test(.enabled(if: HeldLocks.isCounting))
  func `C3: the locks that a thread holds are counted`() {
    let one = Lock(0)
    let other = Lock(0)
    let counts = one.withLock { _ in (HeldLocks.count, other.withLock { _ in HeldLocks.count }) }
    #expect(counts == (1, 2))
    #expect(HeldLocks.count == 0)
  }

  /// Runs an operation, unobserved and observed, and waits for its end.
  private static func run(
    _ code: UserCodeRecorder, _ operation: some ComposableOperation, cancelledAt gate: Gate? = nil
  ) async {
    let observed = OperationEnvironment(observers: [UserObserver(code)])
    for environment in [OperationEnvironment(), observed] {
      let run = operation.start(in: environment, keepingEvents: 2, trackingProgress: true)
      code.callBack { _ = run.progress }
      if let gate {
        await gate.waitForArrivals(1)
        run.cancel(because: "enough")
      }
      _ = await run.outcome
      _ = await run.lateOutcome
      code.stopCallingBack()
    }
  }

  // MARK: Callback operations

  /// A callback operation whose finish handle the test uses.
  private struct Callback: Sendable {
    let finishes = Log<OperationFinish<UserValue?>>()
    let arrived = Gate()

    var operation: SimpleOperation<UserValue?> {
      SimpleOperation.withCallback { finish in
        finishes.add(finish)
        arrived.open()
      }
    }

    func finish() async -> OperationFinish<UserValue?> {
      await arrived.passIgnoringCancellation()
      let finish = finishes.entries[0]
      finishes.clear()
      return finish
    }
  }

  private static let callbacks: [Case] = [
    Case("a call whose last reference is a cancel handler, and which reports its end in deinit") {
      code in
      /// Finishes its operation when its last reference is released.
      final class Call: Sendable {
        let finish: OperationFinish<Int>
        let code: UserCodeRecorder
        init(_ finish: OperationFinish<Int>, _ code: UserCodeRecorder) {
          self.finish = finish
          self.code = code
        }
        deinit {
          code.runs("deinit")
          finish(.cancelled)
        }
      }
      let operation = SimpleOperation<Int>.withCallback { finish in
        let call = Call(finish, code)
        finish.onCancel { _ = call.code }
        finish(.result(1))
      }
      #expect(await operation.run().result == 1)
    },
    Case("handlers of an operation that is finished") { code in
      let callback = Callback()
      let run = callback.operation.start()
      let finish = await callback.finish()
      code.callBack { finish(.result(nil)) }
      for _ in 0..<2 {
        let value = UserValue(code)
        finish.onCancel { value.isKept() }
      }
      finish(.result(nil))
      _ = await run.outcome
    },
    Case("handlers of an operation that is cancelled, and finished by the first of them") { code in
      let callback = Callback()
      let run = callback.operation.start()
      let finish = await callback.finish()
      code.callBack {
        finish(.cancelled)
        finish.onCancel {}
      }
      for _ in 0..<3 {
        let value = UserValue(code)
        finish.onCancel {
          value.isKept()
          code.runs("handler")
          finish(.cancelled)
        }
      }
      run.cancel()
      finish(.cancelled)
      _ = await run.outcome
    },
    Case("handlers of an operation whose handle is dropped") { code in
      let operation = SimpleOperation<Int>.withCallback { finish in
        let value = UserValue(code)
        finish.onCancel { value.isKept() }
      }
      #expect(await operation.run().error is OperationNeverFinishedError)
    },
    Case("values of a second finish and of a late finish") { code in
      let callback = Callback()
      let run = callback.operation.observed(by: UserObserver(code)).start()
      let finish = await callback.finish()
      code.callBack { finish(.cancelled) }
      run.cancel()
      finish(.result(UserValue(code)))
      finish(.result(UserValue(code)))
      finish(.error(UserValue(code)))
      _ = await run.outcome
    },
  ]

  // MARK: Runs and modifiers

  private static let modifiers: [Case] = [
    Case("values and errors of runs with and without handles") { code in
      await run(code, SimpleOperation { UserValue(code) })
      await run(code, SimpleOperation<Int> { throw UserValue(code) })
      await run(code, UserOperation(SimpleOperation { UserValue(code) }.onEnd { _ in }, code))
    },
    Case("late outcomes that modifiers pass on") { code in
      let gate = Gate()
      let late = SimpleOperation {
        try? await gate.pass()
        return UserValue(code)
      }.discarding { _ in code.runs("discarding") }
      await run(
        code, late.onEnd { _ in code.runs("onEnd") }.retrying(attempts: 2).finally { _ in },
        cancelledAt: gate)
      await run(code, late.map { [$0] }.ignoringErrors(with: [UserValue]()), cancelledAt: gate)
    },
    Case("a body that a timeout abandons") { code in
      let gate = Gate()
      let body = SimpleOperation {
        await gate.passIgnoringCancellation()
        return UserValue(code)
      }.discarding { _ in code.runs("discarding") }
      let clock = ManualClock()
      let run = body.timingOut(after: .seconds(1), .abandoning)
        .start(in: OperationEnvironment(clock: clock, observers: [UserObserver(code)]))
      await gate.waitForArrivals(1)
      await clock.waitForSleepers(1)
      clock.advance(by: .seconds(1))
      #expect(await run.outcome.error is TimeoutError)
      gate.open()
    },
    Case("a cancellation, its observers and its handlers", runs: "observe") { code in
      let gate = Gate()
      let child = SimpleOperation {
        await withTaskCancellationHandler {
          await gate.passIgnoringCancellation()
        } onCancel: {
          code.runs("handler")
        }
      }
      let list = ParallelOperation([child, child], width: .limited(to: 2))
      let run = list.start(in: OperationEnvironment(observers: [UserObserver(code)]))
      await gate.waitForArrivals(2)
      code.callBack { run.cancel() }
      run.cancel()
      gate.open()
      _ = await run.outcome
      code.stopCallingBack()
    },
    Case("readers of a run that keeps no events") { code in
      let gate = Gate()
      let run = SimpleOperation {
        await gate.passIgnoringCancellation()
        return UserValue(code)
      }.start()
      let readers = (0..<3).map { _ in
        Task { for await event in run.events { _ = "\(event)" } }
      }
      readers[0].cancel()
      gate.open()
      for reader in readers { await reader.value }
    },
    Case("attempts and decisions") { code in
      await run(
        code,
        SimpleOperation<Int> { throw UserValue(code) }
          .retrying(upTo: 3) { failure in "\(failure.error)".isEmpty ? .stop : .retry() })
      await run(
        code, SimpleOperation { UserValue(code) }.repeating(times: 3) { $0.description.isEmpty })
      await run(
        code,
        SimpleOperation<Int> { throw UserValue(code) }
          .hedged(after: .seconds(1), attempts: 3) { error in !"\(error)".isEmpty })
      await run(
        code,
        SimpleOperation { UserValue(code) }.discarding { _ in code.runs("discarding") }
          .hedged(after: .zero, attempts: 3))
    },
    Case("conditions that are abandoned") { code in
      let gate = Gate()
      let waiting = SimpleOperation { UserValue(code) }.requiring(
        Condition("is so") {
          await gate.passIgnoringCancellation()
          throw UserValue(code)
        })
      let run = waiting.start(in: OperationEnvironment(observers: [UserObserver(code)]))
      await gate.waitForArrivals(1)
      run.cancel()
      _ = await run.outcome
      gate.open()
    },
    Case("permits, rates and delays", runs: "observe") { code in
      let permits = Permits(1)
      let rate = RateLimit(1, per: .milliseconds(1))
      let body = UserOperation(SimpleOperation { UserValue(code) }, code)
      let children = (0..<4).map { _ in
        body.exclusive(in: permits).throttled(by: rate).delayed(by: .microseconds(1))
      }
      await run(code, ParallelOperation(children))
    },
  ]

  private static let breakers: [Case] = [
    Case("a circuit breaker, its predicate and the clocks that open it") { code in
      let breaker = CircuitBreaker(
        opensAfterFailures: 1, halfOpensAfter: .seconds(1), probes: 2
      ) { _ in
        code.runs("predicate")
        return true
      }
      code.callBack { _ = breaker.state }
      let readers = (0..<3).map { _ in Task { for await _ in breaker.states {} } }
      for number in 0..<9 {
        let operation = SimpleOperation {
          if number % 3 == 0 { throw UserValue(code) }
        }.guarded(by: breaker)
        _ = await operation.run(in: OperationEnvironment(clock: UserClock(code)))
      }
      #expect(code.count(of: "predicate") > 1 && code.count(of: "clock") > 5)
      for reader in readers { reader.cancel() }
      for reader in readers { await reader.value }
    }
  ]

  // MARK: Pools

  private static let pools: [Case] = [
    Case("members that run, wait, are cancelled, dropped and refused") { code in
      let observed = OperationEnvironment(observers: [UserObserver(code)])
      for overflow in [OperationPool.Overflow.dropOldest, .dropNewest, .refuse, .wait] {
        let pool = OperationPool(width: .serial, capacity: 2, overflow: overflow, in: observed)
        code.callBack { _ = (pool.waitingCount, pool.runningCount) }
        let gate = Gate()
        let first = pool.submitNow(SimpleOperation { await gate.passIgnoringCancellation() })
        await gate.waitForArrivals(1)
        let others = (0..<5).map { _ in
          pool.submitNow(UserOperation(SimpleOperation { UserValue(code) }, code))
        }
        others[0].cancel()
        pool.cancelAll(because: "enough")
        let late = pool.submitNow(UserOperation(SimpleOperation { UserValue(code) }, code))
        gate.open()
        for run in others + [late] { _ = await run.outcome }
        _ = await first.outcome
        pool.close(.rejectingPending)
        _ = await pool.submitNow(UserOperation(SimpleOperation { 1 }, code)).outcome
        await pool.drain()
        code.stopCallingBack()
      }
    },
    Case("submitted operations") { code in
      let pool = OperationPool(width: .limited(to: 2))
      code.callBack { _ = (pool.waitingCount, pool.runningCount) }
      let members = (0..<4).map { _ in
        UserOperation(SimpleOperation { UserValue(code) }, code).submitted(to: pool)
      }
      await run(code, ParallelOperation(members))
      code.stopCallingBack()
    },
  ]

  // MARK: Shared runs

  /// A key that records when it is described or deallocated.
  private final class Key: Hashable, CustomStringConvertible, Sendable {
    let number: Int
    let value: UserValue

    init(_ number: Int, _ code: UserCodeRecorder) {
      self.number = number
      value = UserValue(code)
    }

    var description: String { value.description }
    static func == (left: Key, right: Key) -> Bool { left.number == right.number }
    func hash(into hasher: inout Hasher) { hasher.combine(number) }
  }

  private static let shared: [Case] = [
    Case("shared runs, their keys, and the results that are kept") { code in
      let clock = ManualClock()
      let environment = OperationEnvironment(clock: clock, observers: [UserObserver(code)])
      let runs = SharedRuns<Key, UserValue>(keepingResultsFor: .seconds(10))
      code.callBack { _ = runs.runningCount }
      func fetch(_ number: Int) async {
        let operation = UserOperation(SimpleOperation { UserValue(code) }, code)
        let shared = operation.shared(in: runs, for: Key(number, code))
        let both = [shared.start(in: environment), shared.start(in: environment)]
        for run in both { _ = await run.outcome }
      }
      await fetch(1)
      await fetch(1)
      clock.advance(by: .seconds(20))
      await fetch(1)
      runs.forget(Key(1, code))
      await fetch(1)
      runs.forgetAll()
      // When there are many results, the expired ones are forgotten.
      for number in 0..<70 { await fetch(number) }
      clock.advance(by: .seconds(20))
      for number in 100..<110 { await fetch(number) }
      code.stopCallingBack()
    },
    Case("shared runs without waiters, and shared runs that fail") { code in
      let runs = SharedRuns<Key, UserValue>()
      code.callBack { _ = runs.runningCount }
      let gate = Gate()
      let waiting = SimpleOperation {
        await gate.passIgnoringCancellation()
        return UserValue(code)
      }.discarding { _ in code.runs("discarding") }
      let run = waiting.shared(in: runs, for: Key(1, code)).start()
      await gate.waitForArrivals(1)
      run.cancel()
      _ = await run.outcome
      gate.open()
      let failing = SimpleOperation<UserValue> { throw UserValue(code) }
      _ = await failing.shared(in: runs, for: Key(2, code)).run()
      while runs.runningCount > 0 { await Task.yield() }
      code.stopCallingBack()
    },
  ]

  // MARK: Composites

  private static let composites: [Case] = [
    Case("children of lists, with their values and errors") { code in
      let children: [any ComposableOperation<UserValue>] = (0..<40).map { number in
        UserOperation(
          SimpleOperation {
            if number == 7 { throw UserValue(code) }
            await Task.yield()
            return UserValue(code)
          }.discarding { _ in code.runs("discarding") }, code)
      }
      await run(code, ParallelOperation(children))
      await run(code, ParallelOperation(children, onFailure: .runAll))
      await run(code, ParallelOperation(children, width: .limited(to: 3)).collectingOutcomes())
      await run(code, RaceOperation(children))
      await run(code, ParallelOperation { children.lazy.map { AnyOperation($0) } })
      await run(
        code,
        ParallelOperation {
          children.lazy.map { AnyOperation($0) }
        } consumingResults: { _ in
          code.runs("consume")
        })
    },
    Case("a list that is cancelled") { code in
      let gate = Gate()
      let children = (0..<4).map { number in
        UserOperation(
          SimpleOperation {
            if number == 3 { try? await gate.pass() }
            return UserValue(code)
          }.discarding { _ in code.runs("discarding") }, code)
      }
      await run(code, ParallelOperation(children, width: .limited(to: 2)), cancelledAt: gate)
    },
    Case("a source that throws") { code in
      await run(
        code,
        ParallelOperation(width: .limited(to: 2), onFailure: .runAll) {
          FailingSource(code: code)
        })
    },
    Case("children that others add, some of which never begin") { code in
      struct Adding: ComposableOperation {
        let code: UserCodeRecorder
        let depth: Int
        let value: UserValue
        func perform(in context: OperationContext) async throws -> UserValue {
          for _ in 0..<4 where depth > 0 {
            try context.add(Adding(code: code, depth: depth - 1, value: UserValue(code)))
          }
          if depth == 0 { throw UserValue(code) }
          return value
        }
      }
      let root = Adding(code: code, depth: 2, value: UserValue(code))
      await run(code, ParallelOperation(growing: [root], width: .limited(to: 2)))
    },
    Case("nodes of a graph") { code in
      let graph = OperationGraph { graph in
        let first = graph.add(SimpleOperation { UserValue(code) }.named("first"))
        let failing = graph.add(SimpleOperation<UserValue> { throw UserValue(code) })
        let last = graph.add(needing: first) { value in SimpleOperation { [value] } }
        graph.add(needing: failing.outcome, last) { outcome, _ in SimpleOperation { "\(outcome)" } }
        return last
      }
      await run(code, graph)
    },
    Case("steps of sequences, attempts and repetitions") { code in
      let step = SimpleOperation { UserValue(code) }
      let failing = SimpleOperation<UserValue> { throw UserValue(code) }
      await run(code, SequentialOperation(.linear([step, failing])))
      await run(code, failing.retrying(attempts: 3))
      await run(code, step.repeating(times: 3))
    },
  ]

  // MARK: Observers

  private static let observers: [Case] = [
    Case("observers that keep events and return them") { code in
      let recorder = RecordingObserver()
      let (trace, progress, counters) = (TraceRecorder(), ProgressObserver(), OperationCounters())
      let logger = OperationLogger(SilentHandler(), level: .trace)
      code.callBack {
        _ = (recorder.events.count, progress.progress, counters.total)
        _ = trace.trace.spans.count
      }
      let environment = OperationEnvironment(
        observers: [recorder, trace, progress, counters, logger])
      let child = UserOperation(SimpleOperation { UserValue(code) }, code)
      let failing = UserOperation(SimpleOperation<UserValue> { throw UserValue(code) }, code)
      _ = await ParallelOperation([child, child]).run(in: environment)
      _ = await failing.retrying(attempts: 2).run(in: environment)
      code.stopCallingBack()
    },
    Case("the last events of a run") { code in
      let child = SimpleOperation { UserValue(code) }
      let run = ParallelOperation(Array(repeating: child, count: 10), width: .serial)
        .start(keepingEvents: 3)
      code.callBack { _ = run.id }
      for await event in run.events { _ = "\(event)" }
      _ = await run.outcome
      code.stopCallingBack()
    },
    Case("the errors of a scripted operation") { code in
      let scripted = ScriptedOperation<UserValue>(
        runs: [.error(UserValue(code)), .result(UserValue(code))])
      code.callBack { _ = (scripted.runCount, scripted.inFlight) }
      _ = await scripted.retrying(attempts: 2).run()
      code.stopCallingBack()
    },
  ]
}

/// Ignores all lines of a log.
private struct SilentHandler: OperationLogHandler {
  func write(_ line: OperationLogLine) {}
}

/// Returns a child, and then throws an error.
private struct FailingSource: AsyncSequence, AsyncIteratorProtocol, Sendable {
  let code: UserCodeRecorder
  private var hasGiven = false

  init(code: UserCodeRecorder) { self.code = code }

  mutating func next() async throws -> UserOperation<SimpleOperation<UserValue>>? {
    code.runs("source")
    if hasGiven { throw UserValue(code) }
    hasGiven = true
    return UserOperation(SimpleOperation { [code] in UserValue(code) }, code)
  }

  func makeAsyncIterator() -> FailingSource { self }
}
