import CompositeOperations
import CompositeOperationsTestKit
import Testing

/// Creates numbered values and records which of them are discarded.
private final class Handles: Sendable {
  private let opened = Log<Int>()
  private let discarded = Log<Int>()

  /// Returns an operation that opens a handle when a gate opens, whether it is cancelled or not.
  func opening(_ number: Int, after gate: Gate? = nil) -> any ComposableOperation<Int> {
    SimpleOperation {
      await gate?.passIgnoringCancellation()
      self.opened.add(number)
      return number
    }.discarding { self.discarded.add($0) }
  }

  var open: [Int] { opened.entries.sorted() }
  var gone: [Int] { discarded.entries.sorted() }
}

@Suite(.timeLimit(.minutes(10))) struct DiscardingTests {
  /// A sequence that throws the error of a run of its own.
  private struct Throwing: OperationSequence {
    let failing: any ComposableOperation<[Int]>
    func nextOperation(after previous: FinishedStep?) async throws -> (any ComposableOperation)? {
      _ = try await failing.run().get()
      return nil
    }
  }

  @Test func `O3: values in a cause that is in no kept step are discarded once`() async {
    let discarded = Log<Int>()
    let failing = ParallelOperation(
      [
        AnyOperation(SimpleOperation { 1 }.discarding { discarded.add($0) }),
        AnyOperation(SimpleOperation<Int> { throw TestError("failed") }),
      ], width: .serial, onFailure: .runAll)
    // Called by the step at its end, before the sequence is called with it.
    let cancel = Log<@Sendable () -> Void>()
    let cancelling: [any ComposableOperation<[Int]>] = [
      failing.onEnd { _ in for cancel in cancel.entries { cancel() } },
      failing.finally { _ in for cancel in cancel.entries { cancel() } },
    ]
    for (kind, step) in cancelling.enumerated() {
      func keeping(_ history: StepHistory) -> any ComposableOperation<Int> {
        SequentialOperation(
          ClosureSequence(history: history) { previous in previous == nil ? step : nil }
        ).map { _ in 0 }
      }
      let sequences = [
        keeping(.all), keeping(.last(1)), keeping(.none),
        SequentialOperation(Throwing(failing: step)).map { _ in 0 },
      ]
      for (number, sequence) in sequences.enumerated() {
        let begins = Gate()
        let task = Task {
          await begins.passIgnoringCancellation()
          return await sequence.run()
        }
        cancel.add { task.cancel() }
        begins.open()
        let outcome = await task.value
        #expect(outcome.isCancelled, "\(kind), \(number)")
        #expect(discarded.entries == [1], "\(kind), \(number)")
        discarded.clear()
        cancel.clear()
      }
    }
  }

  @Test(arguments: [StepHistory.all, .last(1), .none])
  func `O3: values in the error of a step belong to the sequence that was called with it`(
    history: StepHistory
  ) async {
    let handles = Handles()
    let failing = ParallelOperation(
      [handles.opening(1), SimpleOperation { throw TestError("failed") }],
      width: .serial, onFailure: .runAll)
    let sequence = SequentialOperation(
      ClosureSequence(history: history) { previous in
        if previous == nil { return failing }
        cancelCurrentTask()
        return nil
      })
    let outcome = await Task { await sequence.run() }.value
    #expect(outcome.isCancelled)
    #expect(handles.open == [1])
    #expect(handles.gone.isEmpty)
  }

  @Test func `O3: a value that reaches its caller is not discarded`() async throws {
    let handles = Handles()
    let operations: [any ComposableOperation<[Int]>] = [
      ParallelOperation([handles.opening(1), handles.opening(2)]),
      ParallelOperation { [AnyOperation(handles.opening(3))] },
      AnyOperation(handles.opening(4)).map { [$0] },
      RaceOperation([handles.opening(5)]).map { [$0] },
      ParallelOperation(AnyOperation(handles.opening(6)), SimpleOperation { 7 }).map { [$0, $1] },
      SequentialOperation(.linear([handles.opening(8)])).map { [$0.count] },
      AnyOperation(handles.opening(9)).retrying(attempts: 2).map { [$0] },
      ParallelOperation([handles.opening(10)]).named("a").observed(by: RecordingObserver()),
    ]
    for operation in operations {
      _ = try await operation.run().get()
      _ = try await operation.start().outcome.get()
    }
    #expect(handles.open.count == 2 * 9)
    #expect(handles.gone.isEmpty)
  }

  @Test func `O3: values in the error of a failed composite are not discarded`() async {
    let handles = Handles()
    let failing = SimpleOperation<Int> { throw TestError("failed") }
    let parallel = ParallelOperation(
      [handles.opening(1), failing, handles.opening(2)] as [any ComposableOperation<Int>],
      onFailure: .runAll)
    #expect(await parallel.run().error != nil)
    #expect(await SequentialOperation(.linear([handles.opening(3), failing])).run().error != nil)
    #expect(handles.open == [1, 2, 3])
    #expect(handles.gone.isEmpty)
  }

  @Test func `O3: every value of a cancelled composite is discarded once`() async {
    for wrap in Wrapping.allCases {
      let handles = Handles()
      let late = Gate()
      let operation = wrap.operation([handles.opening(1), handles.opening(2, after: late)])
      let isCancelled = await operation.isCancelled {
        await late.waitForArrivals(1)
        while handles.open.isEmpty { await Task.yield() }
        return { late.open() }
      }
      #expect(isCancelled, "\(wrap)")
      #expect(handles.open == [1, 2], "\(wrap)")
      #expect(handles.gone == [1, 2], "\(wrap)")
    }
  }

  @Test func `O3: the values of a composite whose child cancelled itself are discarded once`() async
  {
    for wrap in Wrapping.allCases where !wrap.collects {
      let handles = Handles()
      // Without this loop, it could end before the other child begins, which would then never
      // begin.
      let stopping = SimpleOperation<Int> {
        while handles.open.isEmpty { await Task.yield() }
        throw CancellationError()
      }
      #expect(
        await wrap.operation([handles.opening(1), stopping]).isCancelledByItself(), "\(wrap)")
      #expect(handles.open == [1], "\(wrap)")
      #expect(handles.gone == [1], "\(wrap)")
    }
  }

  @Test func `O3: values of a race's losers are discarded, the winner's only if it is lost`() async
  {
    for _ in 0..<200 {
      let handles = Handles()
      let race = RaceOperation((0..<4).map { handles.opening($0) })
      let winner = await race.run().result
      #expect(handles.gone == handles.open.filter { $0 != winner })
    }
    // Contenders that are released together, so that some losers end before they are cancelled.
    for _ in 0..<1_000 {
      let handles = Handles()
      let gate = Gate()
      let race = RaceOperation((0..<4).map { handles.opening($0, after: gate) }).start()
      await gate.waitForArrivals(4)
      gate.open()
      let winner = await race.outcome.result
      #expect(handles.gone == handles.open.filter { $0 != winner })
    }
    let handles = Handles()
    let gate = Gate()
    let run = RaceOperation([handles.opening(1, after: gate)]).start()
    await gate.waitForArrivals(1)
    run.cancel()
    gate.open()
    #expect(await run.outcome.isCancelled)
    #expect(handles.gone == [1])
    // Contenders of different types: only the value of the one with a closure is discarded.
    let other = Handles()
    let late = Gate()
    let plain = SimpleOperation {
      try await late.pass()
      return 2
    }
    let waiting = SimpleOperation {
      await late.passIgnoringCancellation()
      return 3
    }
    let mixedRace = RaceOperation([other.opening(1), plain] as [any ComposableOperation<Int>])
    let mixed = ParallelOperation(mixedRace, waiting).start()
    await late.waitForArrivals(1)
    while other.open.isEmpty { await Task.yield() }
    mixed.cancel()
    late.open()
    #expect(await mixed.outcome.isCancelled)
    #expect(other.gone == [1])
  }

  @Test
  func `O3: values in the failure of a race's loser are discarded when another contender wins`()
    async throws
  {
    let handles = Handles()
    let hasFailed = Flag()
    let failing = SimpleOperation<Int> { throw TestError("failed") }
    let group = ParallelOperation(
      [handles.opening(1), failing] as [any ComposableOperation<Int>], onFailure: .runAll)
    let loser = SimpleOperation.withContext { context in
      let outcome = await context.outcome(of: group)
      hasFailed.set()
      return try outcome.get()
    }
    let winner = SimpleOperation<[Int]> {
      while !hasFailed.isSet { await Task.yield() }
      return []
    }
    // On one worker, the loser has ended when the winner reads the flag.
    let outcome = try await SeededExecutor(seed: 1).run {
      await RaceOperation([loser, winner]).run()
    }
    #expect(outcome.result == [])
    #expect(handles.gone == [1])
  }

  @Test func `O3: values in a lost composite error are discarded`() async {
    let handles = Handles()
    let failing = SimpleOperation<Int> { throw TestError("failed") }
    let inner = ParallelOperation(
      [handles.opening(1), failing] as [any ComposableOperation<Int>], onFailure: .runAll)
    let gate = Gate()
    let waiting = SimpleOperation<[Int]> {
      try await gate.pass()
      return []
    }
    let run = ParallelOperation(
      [inner, waiting] as [any ComposableOperation<[Int]>], onFailure: .runAll
    ).start()
    await gate.waitForArrivals(1)
    while handles.open.isEmpty { await Task.yield() }
    run.cancel()
    #expect(await run.outcome.isCancelled)
    #expect(handles.gone == [1])
  }

  @Test func `O3: only the outermost of several discarding closures is called`() async {
    let log = Log<String>()
    let gate = Gate()
    let run = SimpleOperation {
      await gate.passIgnoringCancellation()
      return 1
    }.discarding { log.add("inner \($0)") }.named("n").discarding { log.add("outer \($0)") }.start()
    await gate.waitForArrivals(1)
    run.cancel()
    gate.open()
    #expect(await run.outcome.isCancelled)
    #expect(log.entries == ["outer 1"])
  }

  @Test
  func `O3: values that are passed to a sequence, its output or a consumer are not discarded`()
    async
  {
    struct Counting: OperationSequence {
      let operations: [any ComposableOperation]
      func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
        let index = previous.map { $0.index + 1 } ?? 0
        return index < operations.count ? operations[index] : nil
      }
      func output(of steps: FinishedSteps) -> Int { steps.count }
    }
    let stop = SimpleOperation<Int> {
      cancelCurrentTask()
      return 0
    }
    let handles = Handles()
    // Each flow is cancelled by its last operation, after the others have returned their values.
    let flows: [any ComposableOperation<Int>] = [
      SequentialOperation(
        ClosureSequence(
          state: [handles.opening(1), stop.named("stop")] as [any ComposableOperation],
          history: .last(1)
        ) { rest, _ in
          rest.isEmpty ? nil : rest.removeFirst()
        }
      ).map { $0.count },
      SequentialOperation(Counting(operations: [handles.opening(2)])).then { _ in stop },
      ParallelOperation(width: .serial) {
        [AnyOperation(handles.opening(3)), AnyOperation(stop)]
      } consumingResults: { _ in
      }.map { 0 },
    ]
    for flow in flows { #expect(await Task { await flow.run() }.value.isCancelled) }
    #expect(handles.gone.isEmpty)
    #expect(handles.open.count == 3)
  }

  @Test
  func `O3: values in the error of a failed attempt are discarded if a later attempt succeeds`()
    async
  {
    let handles = Handles()
    let attempts = Log<Int>()
    let flaky = SimpleOperation<Int> {
      attempts.add(0)
      if attempts.count == 1 { throw TestError("failed") }
      return 7
    }
    let attempt = ParallelOperation(
      [AnyOperation(handles.opening(1)), AnyOperation(flaky)], onFailure: .runAll)
    let outcome = await attempt.retrying(attempts: 2).run()
    #expect(outcome.result == [1, 7])
    #expect(handles.gone == [1])
    #expect(handles.open == [1, 1])
  }

  @Test func `O3: values that are passed to map and then are not discarded`() async {
    let handles = Handles()
    let gate = Gate()
    let run = AnyOperation(handles.opening(1)).map { value in
      await gate.passIgnoringCancellation()
      return value
    }.start()
    await gate.waitForArrivals(1)
    run.cancel()
    gate.open()
    #expect(await run.outcome.isCancelled)
    #expect(handles.gone.isEmpty)
  }
}

/// The composites of two operations.
private enum Wrapping: CaseIterable {
  case list, serial, mixed, pack, packOutcomes, outcomes, lazily, sequence, nested, race, observed

  /// Whether the outcome of a child that cancels itself is part of the result.
  var collects: Bool { self == .packOutcomes || self == .outcomes }

  func operation(_ children: [any ComposableOperation<Int>]) -> any ComposableOperation {
    let erased = children.map { AnyOperation($0) }
    return switch self {
    case .list: ParallelOperation(erased)
    case .serial: ParallelOperation(erased, width: .serial)
    case .mixed: ParallelOperation(children)
    case .pack: ParallelOperation(erased[0], erased[1])
    case .packOutcomes: ParallelOperation(collectingOutcomesOf: erased[0], erased[1])
    case .outcomes: ParallelOperation(erased).collectingOutcomes()
    case .lazily: ParallelOperation { erased }
    case .sequence: SequentialOperation(.linear(children))
    case .nested: ParallelOperation([ParallelOperation(erased)])
    case .race: SequentialOperation(.linear([RaceOperation([erased[0]]), erased[1]]))
    case .observed: ParallelOperation(erased).observed(by: RecordingObserver())
    }
  }
}

extension ComposableOperation {
  /// Starts a run, cancels it when a closure returns, and then calls the closure that it returned.
  ///
  /// - Returns: Whether the run ended as cancelled.
  fileprivate func isCancelled(when moment: () async -> () -> Void) async -> Bool {
    let run = start()
    let afterwards = await moment()
    run.cancel()
    afterwards()
    return await run.outcome.isCancelled
  }

  fileprivate func isCancelledByItself() async -> Bool { await run().isCancelled }
}
