import CompositeOperations
import CompositeOperationsTestKit
import Testing

/// The late outcome of an operation, as the handle of a run with modifiers shows it.
@Suite(.timeLimit(.minutes(10))) struct LateTests {
  private typealias Modified =
    @Sendable (any ComposableOperation<Int>) -> any ComposableOperation<Int>

  private static let failing = SimpleOperation<Int> { throw TestError("first") }
  private static let pool = OperationPool()

  private static func modified(
    _ modify: @escaping @Sendable (AnyOperation<Int>) -> some ComposableOperation<Int>
  ) -> Modified {
    { modify(AnyOperation($0)) }
  }

  /// Modifiers that pass on every late outcome.
  private static let ways: [(name: String, modified: Modified)] = [
    ("onStart", modified { $0.onStart {} }), ("onEnd", modified { $0.onEnd { _ in } }),
    ("finally", modified { $0.finally { _ in } }),
    ("retrying", modified { $0.retrying(attempts: 3) }),
    ("hedged", modified { $0.hedged(after: .seconds(1_000_000)) }),
    ("repeating", modified { $0.repeating(times: 3) }),
    ("recovering", modified { $0.recovering { _ in -1 } }),
    ("recovering with another", modified { $0.catching { _ in SimpleOperation { -1 } } }),
    ("mapError", modified { $0.mapError { _ in TestError("mapped") } }),
    ("ignoringErrors", modified { $0.ignoringErrors(with: -1) }),
    ("fallingBack", modified { $0.fallingBack(to: SimpleOperation { -1 }) }),
    ("fallingBack to a list", modified { $0.fallingBack(toEachOf: [SimpleOperation { -1 }]) }),
    ("submitted", modified { $0.submitted(to: pool) }),
    ("observed", modified { $0.observed(by: RecordingObserver()).onEnd { _ in } }),
    ("timingOut", modified { $0.onEnd { _ in }.timingOut(after: .seconds(1_000_000)) }),
    ("raised", modified { $0.onEnd { _ in }.prioritized(at: .high) }),
    ("lowered", modified { $0.onEnd { _ in }.prioritized(at: .low) }),
    ("exclusive", modified { $0.retrying(attempts: 2).exclusive(in: Permits(1)) }),
    ("requiring", modified { $0.finally { _ in }.requiring(Condition("is so") { true }) }),
    (
      "several",
      modified { base in
        base.onEnd { _ in }.retrying(attempts: 2).named("several").finally { _ in }
          .submitted(to: pool).ignoringErrors(with: -1)
      }
    ),
    ("second of then", modified { base in SimpleOperation { 1 }.then { _ in base } }),
    ("second of recovering", modified { base in failing.catching { _ in base } }),
    ("second of fallingBack", modified { base in failing.fallingBack(to: base) }),
    ("last of a list", modified { base in failing.fallingBack(toEachOf: [failing, base]) }),
  ]

  /// A gate and operations that end only when it opens, even after their cancellation.
  private struct Fixture {
    private let gate = Gate()
    /// Opens when the cancellation has reached the body at the gate.
    private let cancellation = Gate()
    let discarded = Log<Int>()

    /// Waits at the gate, also when the task is cancelled.
    func waitAtGate() async {
      await withTaskCancellationHandler {
        await gate.passIgnoringCancellation()
      } onCancel: {
        cancellation.open()
      }
    }

    func coming(to outcome: Outcome<Int>) -> any ComposableOperation<Int> {
      SimpleOperation {
        await waitAtGate()
        return try outcome.get()
      }.discarding { discarded.add($0) }
    }

    /// A composite of a child that has returned 1 and a child that waits at the gate.
    var composite: any ComposableOperation<Int> {
      let children = [
        AnyOperation(SimpleOperation { 1 }.discarding { discarded.add($0) }),
        AnyOperation(coming(to: .cancelled)),
      ]
      return ParallelOperation(children, width: .serial).map { $0.count }
    }

    /// Cancels a run at the gate, opens the gate and returns the late outcome that the handle
    /// shows.
    func late(
      of operation: some ComposableOperation<Int>,
      in environment: OperationEnvironment = OperationEnvironment()
    ) async -> Outcome<Int>? {
      let run = operation.start(in: environment)
      await gate.waitForArrivals(1)
      run.cancel()
      // In a pool, the body runs in another task, which the cancellation may reach later.
      await cancellation.passIgnoringCancellation()
      gate.open()
      #expect(await run.outcome.isCancelled)
      return await run.lateOutcome
    }
  }

  @Test(arguments: ways.map(\.name))
  func `O3: modifiers pass on a late outcome, and its value is discarded once`(way: String)
    async throws
  {
    let modified = try #require(Self.ways.first { $0.name == way }).modified
    for isObserved in [false, true] {
      let recorder = RecordingObserver()
      let environment = OperationEnvironment(observers: isObserved ? [recorder] : [])
      let ends: [Outcome<Int>] = [.result(7), .error(TestError("late")), .cancelled]
      for end in ends {
        let fixture = Fixture()
        let late = await fixture.late(of: modified(fixture.coming(to: end)), in: environment)
        #expect(late?.kind == (end.isCancelled ? nil : end.kind), "\(end)")
        #expect(fixture.discarded.entries == (end.result.map { [$0] } ?? []), "\(end)")
      }
      let fixture = Fixture()
      let late = await fixture.late(of: modified(fixture.composite), in: environment)
      let evidence = late?.error as? ParallelOperationError
      #expect(evidence?.children.map(\.outcome.kind) == ["result 1", "cancelled"])
      #expect(fixture.discarded.entries == [1])
      if isObserved, case .ended(_, let late) = recorder.events.last?.kind {
        #expect(late?.error is ParallelOperationError)
      }
    }
  }

  @Test func `O3: a discarding closure outside a modifier discards the late value`() async {
    let fixture = Fixture()
    let outer = Log<Int>()
    let plain = SimpleOperation {
      await fixture.waitAtGate()
      return 7
    }
    let late = await fixture.late(of: plain.onEnd { _ in }.discarding { outer.add($0) })
    #expect(late?.kind == "result 7")
    #expect(outer.entries == [7])
    // The outermost counts.
    let other = Fixture()
    let stacked = AnyOperation(other.coming(to: .result(8))).onEnd { _ in }
    #expect(await other.late(of: stacked.discarding { outer.add($0) })?.kind == "result 8")
    #expect(outer.entries == [7, 8])
    #expect(other.discarded.entries == [])
  }

  @Test func `O3: map and then discard a late value and pass on a late error`() async {
    let ways: [@Sendable (AnyOperation<Int>) -> AnyOperation<Int>] = [
      { base in AnyOperation(base.map { $0 + 1 }) },
      { base in AnyOperation(base.then { number in SimpleOperation { number + 1 } }) },
    ]
    for (index, way) in ways.enumerated() {
      for isObserved in [false, true] {
        let environment = OperationEnvironment(observers: isObserved ? [RecordingObserver()] : [])
        let value = Fixture()
        let modified = way(AnyOperation(value.coming(to: .result(7)))).onEnd { _ in }
        #expect(await value.late(of: modified, in: environment) == nil, "\(index)")
        #expect(value.discarded.entries == [7], "\(index)")
        let error = Fixture()
        let failing = way(AnyOperation(error.coming(to: .error(TestError("late")))))
        let late = await error.late(of: failing, in: environment)
        #expect(late?.kind == "error late", "\(index)")
      }
    }
  }

  @Test func `O3: a body does not pass on the late outcome of its child`()
    async
  {
    for isObserved in [false, true] {
      let recorder = RecordingObserver()
      let environment = OperationEnvironment(observers: isObserved ? [recorder] : [])
      for way in 0..<3 {
        let fixture = Fixture()
        let child = AnyOperation(fixture.coming(to: .result(7))).onEnd { _ in }.named("child")
        let errors = Log<String>()
        let body = SimpleOperation.withContext { context in
          do {
            switch way {
            case 0: return try await context.run(child)
            case 1: return try await context.outcome(of: child).get()
            default: return try await child.perform(in: context)
            }
          } catch {
            errors.add("\(type(of: error))")
            throw error
          }
        }.named("body")
        #expect(await fixture.late(of: body, in: environment) == nil, "\(way)")
        #expect(errors.entries == ["CancellationError"], "\(way)")
        #expect(fixture.discarded.entries == [7], "\(way)")
      }
      // The end events of the first two children show it; the last one was no child.
      let shown = recorder.short.filter { $0.hasPrefix("child ended") }
      let line = "child ended: cancelled, late: result 7"
      #expect(shown == (isObserved ? [line, line] : []))
    }
  }

  @Test func `O3: a retry shows the late outcome of its cancelled attempt`()
    async
  {
    let ends: [(Outcome<Int>, String)] = [
      (.result(7), "result 7"), (.error(TestError("late")), "[first, late], true"),
      (.cancelled, "[first], true"),
    ]
    for (end, expected) in ends {
      let fixture = Fixture()
      let attempts = Log<Int>()
      let attempt = AnyOperation(fixture.coming(to: end))
      let retried = SimpleOperation {
        attempts.add(0)
        if attempts.count == 1 { throw TestError("first") }
        return attempts.count
      }.then { _ in attempt }.retrying(attempts: 3)
      let late = await fixture.late(of: retried)
      if let error = late?.error as? RetryError {
        #expect("\(error.errors), \(error.representsCancellation)" == expected)
      } else {
        #expect(late?.kind == expected)
      }
      #expect(fixture.discarded.entries == (end.result.map { [$0] } ?? []))
    }
  }

  @Test func `O3: all callers of a shared run that cancelled itself receive its late error`() async
  {
    let runs = SharedRuns<Int, Int>()
    let discarded = Log<Int>()
    let gate = Gate()
    let children = [
      AnyOperation(SimpleOperation { 1 }.discarding { discarded.add($0) }),
      AnyOperation(
        SimpleOperation<Int> {
          await gate.passIgnoringCancellation()
          throw CancellationError()
        }),
    ]
    let shared = ParallelOperation(children, width: .serial).map { $0.count }.shared(
      in: runs, for: 1)
    let first = shared.start()
    await gate.waitForArrivals(1)
    let recorder = RecordingObserver()
    let observed = OperationEnvironment(observers: [recorder])
    let second = shared.onEnd { _ in }.start(in: observed)
    let third = shared.start(in: observed)
    while recorder.events.count(where: \.isWait) < 2 { await Task.yield() }
    #expect(discarded.entries == [])
    gate.open()
    for run in [first, second, third] {
      #expect(await run.outcome.isCancelled)
      #expect(await run.lateOutcome?.error is ParallelOperationError)
    }
    #expect(discarded.entries == [1])
  }

  @Test func `V5: a run that onEnd cancels ends as cancelled`() async {
    let discarded = Log<Int>()
    let runs = Log<OperationRun<Int>>()
    let gate = Gate()
    let run = SimpleOperation {
      try await gate.pass()
      return 7
    }.discarding { discarded.add($0) }.onEnd { outcome in
      #expect(outcome.result == 7)
      runs.entries.first?.cancel()
    }.start()
    runs.add(run)
    gate.open()
    #expect(await run.outcome.isCancelled)
    #expect(await run.lateOutcome?.kind == "result 7")
    #expect(discarded.entries == [7])
    runs.clear()
  }
}

extension OperationEvent {
  fileprivate var isWait: Bool {
    if case .waitingBegan = kind { true } else { false }
  }
}
