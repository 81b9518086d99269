import CompositeOperations
import CompositeOperationsTestKit
import Dispatch
import Testing

@Suite(.timeLimit(.minutes(10))) struct CallbackTests {
  /// A callback operation whose finish handle the test calls.
  private final class Held: Sendable {
    private let finishes = Log<OperationFinish<Int>>()
    let arrived = Gate()

    var operation: SimpleOperation<Int> {
      SimpleOperation.withCallback { finish in
        self.finishes.add(finish)
        self.arrived.open()
      }
    }

    func finish() async -> OperationFinish<Int> {
      await arrived.passIgnoringCancellation()
      return finishes.entries[0]
    }
  }

  @Test func `a callback operation has the outcome that it is finished with, from any thread`()
    async
  {
    for outcome: Outcome<Int> in [.result(7), .error(TestError("failed")), .cancelled] {
      let operation = SimpleOperation<Int>.withCallback { finish in
        DispatchQueue.global().async { finish(outcome) }
      }
      #expect(await operation.run().kind == outcome.kind)
    }
  }

  @Test func `O5: only the first finish counts, and later ones are reported to observers`() async {
    let held = Held()
    let recorder = RecordingObserver()
    let run = held.operation.named("call").observed(by: recorder).start()
    let finish = await held.finish()
    finish(.result(1))
    finish(.result(2))
    finish(.error(TestError("third")))
    #expect(await run.outcome.kind == "result 1")
    finish(.cancelled)
    let again = recorder.short.filter { $0.contains("again") }
    #expect(
      again == [
        "call finished again: result 2", "call finished again: error third",
        "call finished again: cancelled",
      ])
    #expect(recorder.outcomes.map(\.outcome.kind) == ["result 1"])
  }

  @Test func `O5: finishing from many threads at once ends the run once`() async {
    for _ in 0..<200 {
      let recorder = RecordingObserver()
      let operation = SimpleOperation<Int>.withCallback { finish in
        DispatchQueue.global().async {
          DispatchQueue.concurrentPerform(iterations: 4) { finish(.result($0)) }
        }
      }
      let outcome = await operation.observed(by: recorder).run()
      #expect(outcome.result.map { (0..<4).contains($0) } == true)
    }
  }

  @Test func `O5: a handle that is dropped without a finish ends the operation in an error`() async
  {
    let operation = SimpleOperation<Int>.withCallback { _ in }
    let error = await operation.run().error
    #expect(error is OperationNeverFinishedError)
    #expect(error.map { "\($0)".contains("dropped before it was called") } == true)
  }

  @Test func `O5: a forgotten call is detected if the cancel handler does not keep it`()
    async
  {
    final class Call: Sendable {
      let completion: @Sendable (Int) -> Void
      init(_ completion: @escaping @Sendable (Int) -> Void) { self.completion = completion }
      func cancel() {}
    }
    let operation = SimpleOperation<Int>.withCallback { finish in
      let call = Call { finish(.result($0)) }
      finish.onCancel { [weak call] in call?.cancel() }
    }
    #expect(await operation.run().error is OperationNeverFinishedError)
  }

  @Test func `O5: an error that the closure throws ends the operation`() async {
    let operation = SimpleOperation<Int>.withCallback { _ in throw TestError("no socket") }
    #expect(await operation.run().kind == "error no socket")
  }

  @Test func `O5: the cancel handler is called once`() async {
    let held = Held()
    let calls = Log<String>()
    let run = held.operation.start()
    let finish = await held.finish()
    finish.onCancel { calls.add("called") }
    run.cancel()
    run.cancel()
    #expect(calls.entries == ["called"])
    finish(.result(7))
    #expect(await run.outcome.isCancelled)
    #expect(await run.lateOutcome?.kind == "result 7")
  }

  @Test
  func `O5: a cancel handler that is registered after the cancellation is called immediately`()
    async
  {
    let held = Held()
    let calls = Log<String>()
    let run = held.operation.start()
    let finish = await held.finish()
    run.cancel()
    finish.onCancel { calls.add("called") }
    #expect(calls.entries == ["called"])
    finish(.cancelled)
    #expect(await run.outcome.isCancelled)
  }

  @Test func `O5: no cancel handler is called after the finish`() async {
    let held = Held()
    let calls = Log<String>()
    let gate = Gate()
    let run = SimpleOperation.withContext { context in
      let value = try await context.run(held.operation)
      try await gate.pass()
      return value
    }.start()
    let finish = await held.finish()
    finish.onCancel { calls.add("called") }
    finish(.result(7))
    await gate.waitForArrivals(1)
    run.cancel()
    finish.onCancel { calls.add("called late") }
    #expect(await run.outcome.isCancelled)
    #expect(calls.entries.isEmpty)
  }

  @Test func `O5: a cancel handler can finish the operation and register other handlers`() async {
    let held = Held()
    let calls = Log<String>()
    let run = held.operation.start()
    let finish = await held.finish()
    finish.onCancel {
      calls.add("first")
      finish.onCancel { calls.add("second") }
      finish(.cancelled)
      finish.onCancel { calls.add("never") }
    }
    run.cancel()
    #expect(await run.outcome.isCancelled)
    #expect(calls.entries == ["first", "second"])
  }

  @Test func `O5: the run does not end before its cancel handler has returned`() async {
    let held = Held()
    let entered = Gate()
    let hasReturned = Flag()
    let leave = DispatchSemaphore(value: 0)
    let run = held.operation.start()
    let finish = await held.finish()
    finish.onCancel {
      entered.open()
      leave.wait()
      hasReturned.set()
    }
    DispatchQueue.global().async { run.cancel() }
    await entered.passIgnoringCancellation()
    finish(.result(7))
    leave.signal()
    #expect(await run.outcome.isCancelled)
    #expect(hasReturned.isSet)
  }

  @Test
  func `O5: a concurrent cancel and finish end the run and call the handler at most once`()
    async
  {
    for _ in 0..<500 {
      let held = Held()
      let calls = Log<Int>()
      let run = held.operation.start()
      let finish = await held.finish()
      finish.onCancel { calls.add(1) }
      async let cancellation: Void = run.cancel()
      async let end: Void = finish(.result(7))
      let outcome = await run.outcome
      _ = await (cancellation, end)
      #expect(outcome.isCancelled || outcome.result == 7)
      #expect(calls.count <= 1)
    }
  }

  @Test func `O5: a cancel handler that finishes the operation is the last one called`() async {
    let held = Held()
    let calls = Log<String>()
    let run = held.operation.start()
    let finish = await held.finish()
    finish.onCancel { calls.add("first") }
    finish.onCancel {
      calls.add("second")
      finish(.cancelled)
    }
    finish.onCancel { calls.add("third") }
    run.cancel()
    #expect(await run.outcome.isCancelled)
    #expect(calls.entries == ["first", "second"])
  }

  @Test func `O5: no cancel handler begins after a finish on another thread`() async {
    let held = Held()
    let calls = Log<String>()
    let entered = Gate()
    let leave = DispatchSemaphore(value: 0)
    let run = held.operation.start()
    let finish = await held.finish()
    finish.onCancel {
      calls.add("first")
      entered.open()
      leave.wait()
    }
    finish.onCancel { calls.add("second") }
    DispatchQueue.global().async { run.cancel() }
    await entered.passIgnoringCancellation()
    finish(.result(7))
    leave.signal()
    #expect(await run.outcome.isCancelled)
    #expect(calls.entries == ["first"])
  }

  @Test func `O5: a handler that is registered by another handler is called immediately`() async {
    let held = Held()
    let calls = Log<String>()
    let run = held.operation.start()
    let finish = await held.finish()
    finish.onCancel {
      calls.add("first")
      finish.onCancel { calls.add("registered later") }
    }
    finish.onCancel { calls.add("second") }
    run.cancel()
    #expect(calls.entries == ["first", "registered later", "second"])
    finish(.cancelled)
    #expect(await run.outcome.isCancelled)
  }
}
