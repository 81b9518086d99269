import CompositeOperations
import CompositeOperationsTestKit
import Dispatch
import Testing

@Suite struct RunTests {
  @Test func `O6: only the first cancellation has an effect`() async {
    let gate = Gate()
    let recorder = RecordingObserver()
    let run = SimpleOperation { try await gate.pass() }.named("a").observed(by: recorder).start()
    await gate.waitForArrivals(1)
    run.cancel(because: "first")
    run.cancel(because: "second")
    run.cancel()
    #expect(await run.outcome.isCancelled)
    run.cancel(because: "third")
    #expect(await run.outcome.isCancelled)
    #expect(
      recorder.short == [
        "a created", "a started", "a asked to cancel: first", "a ended: cancelled",
      ])
  }

  @Test func `O6: children receive the reason of the cancellation`() async {
    let gate = Gate()
    let recorder = RecordingObserver()
    let child = SimpleOperation { try await gate.pass() }.named("child")
    let run = ParallelOperation([child]).observed(by: recorder).start()
    await gate.waitForArrivals(1)
    run.cancel(because: "the user left")
    _ = await run.outcome
    #expect(recorder.short.contains("child asked to cancel: the user left"))
  }

  @Test func `O6: the first reason counts, even for children that begin later`() async {
    let gate = Gate()
    let recorder = RecordingObserver()
    let child = SimpleOperation {}.named("child")
    let run = SimpleOperation.withContext { context in
      await gate.passIgnoringCancellation()
      _ = await context.outcome(of: child)
    }.observed(by: recorder).start()
    await gate.waitForArrivals(1)
    run.cancel(because: "first")
    run.cancel(because: "second")
    gate.open()
    #expect(await run.outcome.isCancelled)
    #expect(recorder.short.contains("child asked to cancel: first"))
  }

  @Test func `O6: a later cancellation does not give its reason to the first one`() async {
    for isBegun in [false, true] {
      let recorder = RecordingObserver()
      let executor = SeededExecutor(seed: 1)
      let gate = Gate()
      let run = SimpleOperation { try await gate.pass() }.named("a").start(
        in: OperationEnvironment(observers: [recorder], executor: executor))
      if isBegun { executor.drain() }
      run.cancel()
      run.cancel(because: "later")
      executor.drain()
      #expect(await run.outcome.isCancelled)
      #expect(recorder.short.contains("a asked to cancel: -"))
    }
  }

  @Test func `O6: concurrent cancellations report one reason everywhere`() async {
    for round in 0..<200 {
      let recorder = RecordingObserver()
      let gate = Gate()
      let child = SimpleOperation { await gate.passIgnoringCancellation() }
      let run = ParallelOperation([child, child]).start(
        in: OperationEnvironment(observers: [recorder]))
      for _ in 0..<(round % 10) { await Task.yield() }
      await withDiscardingTaskGroup { group in
        for number in 0..<4 { group.addTask { run.cancel(because: "\(number)") } }
      }
      gate.open()
      #expect(await run.outcome.isCancelled)
      let asked = recorder.short.filter { $0.contains("asked") }
      #expect(Set(asked.map { $0.split(separator: ":").last }).count == 1, "\(asked)")
      #expect(!asked.contains { $0.hasSuffix("-") })
    }
  }

  @Test func `O7: runs without observers have identities in the order of their start`() async {
    let (run, other) = (SimpleOperation { 7 }.start(), SimpleOperation { 7 }.start())
    let last = other.id
    async let first = run.id
    async let second = run.id
    let (one, same) = await (first, second)
    #expect(one == same && one < last)
    #expect(await run.outcome.kind == "result 7")
    #expect(run.id == one && other.id == last)
  }

  @Test func `O7: a run continues after its handle is released`() async {
    let gate = Gate()
    let ended = Gate()
    func begin() {
      _ = SimpleOperation {
        try await gate.pass()
        ended.open()
      }.start()
    }
    begin()
    await gate.waitForArrivals(1)
    gate.open()
    await ended.passIgnoringCancellation()
  }

  @Test func `O7: cancelling a waiter neither cancels the run nor ends the wait`() async {
    let gate = Gate()
    let run = SimpleOperation {
      try await gate.pass()
      return 7
    }.start()
    let hasReturned = Log<Bool>()
    let waiter = Task {
      let outcome = await run.outcome
      hasReturned.add(true)
      return outcome
    }
    await gate.waitForArrivals(1)
    waiter.cancel()
    for _ in 0..<100 { await Task.yield() }
    #expect(hasReturned.entries.isEmpty)
    gate.open()
    #expect(await waiter.value.kind == "result 7")
  }

  @Test func `O8: a started run copies priority and task-local values, not the cancellation`()
    async
  {
    struct Seen: Sendable, Equatable {
      var number = 0
      var priority = TaskPriority.background
      var isCancelled = true
    }
    let operation = SimpleOperation {
      Seen(number: Local.number, priority: Task.currentPriority, isCancelled: Task.isCancelled)
    }
    let task = Task(priority: .high) {
      cancelCurrentTask()
      return await Local.$number.withValue(7) { operation.start() }.outcome
    }
    let outcome = await task.value
    #expect(outcome.result == Seen(number: 7, priority: .high, isCancelled: false))
  }

  @Test @MainActor func `O8: no body runs on the main actor because its caller does`()
    async throws
  {
    MainQueue.mark()
    #expect(MainQueue.isCurrent)
    let body = SimpleOperation { MainQueue.isCurrent }
    struct Asking: ComposableOperation {
      func perform(in context: OperationContext) -> Bool { MainQueue.isCurrent }
    }
    struct Main: ComposableOperation {
      let child: any ComposableOperation<Bool>
      @MainActor func perform(in context: OperationContext) async throws -> [Bool] {
        let before = MainQueue.isCurrent
        return [before, try await context.run(child), MainQueue.isCurrent]
      }
    }
    let operations: [any ComposableOperation<Bool>] = [
      body, Asking(), body.named("named"), body.map { $0 }, body.then { _ in body },
      AnyOperation(Asking()), Asking().prioritized(at: .high), Asking().discarding { _ in },
      Asking().observed(by: RecordingObserver()),
      ParallelOperation([Asking(), Asking()]).map { $0.contains(true) },
      ParallelOperation([Asking()], width: .serial).map { $0.contains(true) },
      ParallelOperation { [Asking()] }.map { $0.contains(true) },
      ParallelOperation(Asking(), body).map { $0 || $1 },
      RaceOperation([Asking()]), Asking().retrying(attempts: 1),
      SimpleOperation.withCallback { $0(.result(MainQueue.isCurrent)) },
    ]
    let observed = OperationEnvironment(observers: [RecordingObserver()])
    for operation in operations {
      let name = operation.operationName
      #expect(try await operation.run().get() == false, "run() of \(name)")
      #expect(try await operation.run(in: observed).get() == false, "run(in:) of \(name)")
      #expect(try await operation.start().outcome.get() == false, "start() of \(name)")
      let children = try await Main(child: operation).run().get()
      #expect(children == [true, false, true], "context.run of \(name)")
      let watched = try await Main(child: operation).run(in: observed).get()
      #expect(watched == [true, false, true], "observed context.run of \(name)")
    }
    #expect(MainQueue.isCurrent)
  }

  @Test @MainActor func `O8: no attempt runs on the actor of a body that performs it`() async throws
  {
    MainQueue.mark()
    struct Asking: ComposableOperation {
      func perform(in context: OperationContext) -> Bool { MainQueue.isCurrent }
    }
    struct Main: ComposableOperation {
      let part: any ComposableOperation<Bool>
      @MainActor func perform(in context: OperationContext) async throws -> [Bool] {
        let before = MainQueue.isCurrent
        return [before, try await part.perform(in: context), MainQueue.isCurrent]
      }
    }
    let parts: [any ComposableOperation<Bool>] = [
      Asking().retrying(attempts: 2), Asking().repeating(times: 1),
      Asking().ignoringErrors(with: true),
      Asking().finally { _ in #expect(!MainQueue.isCurrent) },
    ]
    for (index, part) in parts.enumerated() {
      #expect(try await Main(part: part).run().get() == [true, false, true], "part \(index)")
    }
    // Nor after a body that has run on an actor.
    let closing = Main(part: Asking()).finally { _ in #expect(!MainQueue.isCurrent) }
    #expect(try await closing.run().get().first == true)
    let environment = OperationEnvironment(observers: [RecordingObserver()])
    #expect(try await closing.run(in: environment).get().first == true)
  }

  private enum Local {
    @TaskLocal static var number = 0
  }
}

/// Detects the main queue, which on Linux does not always run on the main thread.
enum MainQueue {
  private static let key = DispatchSpecificKey<Bool>()
  static func mark() { DispatchQueue.main.setSpecific(key: key, value: true) }
  static var isCurrent: Bool { DispatchQueue.getSpecific(key: key) == true }
}
