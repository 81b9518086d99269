import CompositeOperations
import CompositeOperationsTestKit
import Testing

/// Which conditions are evaluated, when, and until when.
@Suite(.timeLimit(.minutes(10))) struct ConditionEvaluationTests {
  @Test func `Q2: conditions are evaluated concurrently, before the body`() async throws {
    let gates = [Gate(), Gate(), Gate()]
    let began = Flag()
    let conditions = gates.map { gate in
      Condition("gate") {
        try await gate.pass()
        return true
      }
    }
    let body = SimpleOperation { began.set() }
    let run = body.requiring(conditions[0]).requiring(conditions[1], conditions[2]).start()
    for gate in gates { await gate.waitForArrivals(1) }
    gates[2].open()
    gates[0].open()
    #expect(!began.isSet)
    gates[1].open()
    _ = try await run.outcome.get()
    #expect(began.isSet)
  }

  @Test func `Q2: the first failure cancels the other conditions`() async throws {
    let gate = Gate()
    let operation = SimpleOperation { 7 }.requiring(
      Condition("waits") {
        try await gate.pass()
        return true
      },
      Condition("fails") {
        await gate.waitForArrivals(1)
        throw TestError("no")
      })
    #expect(await operation.run().kind == "error no")
  }

  @Test func `Q2: the first met condition of any cancels the others`() async throws {
    let gate = Gate()
    let any = Condition.any(
      Condition("waits") {
        try await gate.pass()
        return true
      },
      Condition("is met") {
        await gate.waitForArrivals(1)
        return true
      })
    #expect(await SimpleOperation { 7 }.requiring(any).run().result == 7)
  }

  @Test func `Q2: a cancellation ends the run without waiting for a condition that ignores it`()
    async throws
  {
    let gate = Gate()
    let began = Flag()
    let recorder = RecordingObserver()
    let run = SimpleOperation { began.set() }.named("body").requiring(
      Condition("is ready") {
        await gate.passIgnoringCancellation()
        return true
      }
    ).start(in: OperationEnvironment(observers: [recorder]))
    await gate.waitForArrivals(1)
    run.cancel()
    #expect(await run.outcome.isCancelled)
    gate.open()
    while !recorder.short.contains("body ended an abandoned body: cancelled") { await Task.yield() }
    #expect(!began.isSet)
  }

  @Test func `Q2: a cancellation reaches conditions that compute on every thread`() async {
    await Computation.alone {
      let began = Log<Int>()
      let runs = Log<OperationRun<Int>>()
      let conditions = (0..<2 * processorCount).map { index in
        Condition("computes") { () async -> Bool in
          began.add(index)
          Computation.run(until: {
            if began.count >= processorCount { for run in runs.entries { run.cancel() } }
            return Task.isCancelled
          })
          return true
        }
      }
      let run = SimpleOperation { 7 }.requiring(conditions).start()
      runs.add(run)
      #expect(await run.outcome.isCancelled)
      runs.clear()
    }
  }

  @Test func `Q2: the body does not begin if a condition cancels the run`() async {
    let began = Flag()
    let run = SimpleOperation { began.set() }.requiring(
      Condition("is ready") {
        cancelCurrentTask()
        return true
      })
    let parent = SimpleOperation.withContext { context in await context.outcome(of: run) }
    #expect(await parent.start().outcome.isCancelled)
    #expect(!began.isSet)
  }

  @Test func `Q2: a condition that is listed several times is evaluated once in a run`() async {
    for letter in "pPsSfF" {
      let log = Log<Character>()
      let condition = ConditionTests.condition(letter, noting: log)
      let met = ConditionTests.condition("p", noting: Log())
      let body = SimpleOperation { 7 }
      let plain = await body.requiring(condition).run().kind
      for operation: any ComposableOperation<Int> in [
        body.requiring(condition, condition), body.requiring([condition, met, condition]),
        body.requiring(condition).requiring(condition),
        body.requiring(.all(condition, met), condition), body.requiring(.all(condition, condition)),
        body.requiring(.any(condition, condition)), body.requiring(condition, .any(condition)),
        body.requiring(.all(.any(condition), .all(condition)), .any(.all(condition))),
        body.requiring(.not(.not(condition)), condition),
      ] {
        for observers in [[], [RecordingObserver()]] {
          log.clear()
          let environment = OperationEnvironment(observers: observers)
          let kind = await AnyOperation(operation).run(in: environment).kind
          #expect(log.count == 1, "\(letter)")
          if !kind.contains("no condition was met") { #expect(kind == plain, "\(letter)") }
          for observer in observers {
            let names = observer.events.map(\.name).filter { $0 == "\(letter)" }
            #expect(Set(observer.events.map(\.id)).count <= 2 && names.count <= 3)
          }
        }
      }
      // Each run evaluates them again. Separate calls create different conditions.
      log.clear()
      _ = await body.requiring(condition).run()
      _ = await body.requiring(condition).run()
      #expect(log.count == 2)
      if letter == "p" || letter == "P" {
        _ = await body.requiring(condition, ConditionTests.condition(letter, noting: log)).run()
        #expect(log.count == 4)
      }
    }
  }

  @Test func `Q2: a condition and its negation are never both met, and are evaluated once`() async {
    for letter in "pPsS" {
      let log = Log<Character>()
      let condition = ConditionTests.condition(letter, noting: log)
      let both = SimpleOperation { 7 }.requiring(condition, .not(condition))
      #expect(await both.run().isCancelled)
      let either = SimpleOperation { 7 }.requiring(.any(condition, .not(condition)))
      #expect(await either.run().result == 7)
      #expect(log.count == 2)
    }
  }

  @Test func `Q2: a certain result does not wait for a condition that ignores its cancellation`()
    async
  {
    for (name, kind) in [
      ("any", "result 7"), ("all", "error no"), ("listed", "error no"), ("nested", "result 7"),
    ] {
      let gate = Gate()
      let recorder = RecordingObserver()
      let ignoring = Condition("ignores") {
        await gate.passIgnoringCancellation()
        return true
      }
      let other = Condition("other") {
        await gate.waitForArrivals(1)
        if kind == "result 7" { return true }
        throw TestError("no")
      }
      let body = SimpleOperation { 7 }.named("body")
      let operation: any ComposableOperation<Int> =
        switch name {
        case "any": body.requiring(.any(ignoring, other))
        case "all": body.requiring(.all(ignoring, other))
        case "nested": body.requiring(.not(.not(.any(ignoring, .all(other, .any(other))))))
        default: body.requiring(ignoring, other)
        }
      let environment = OperationEnvironment(observers: [recorder])
      let outcome = await AnyOperation(operation).run(in: environment)
      #expect(outcome.kind == kind, "\(name)")
      #expect(!recorder.short.contains { $0.hasPrefix("body ended an abandoned body") })
      gate.open()
      while !recorder.short.contains("body ended an abandoned body: cancelled") {
        await Task.yield()
      }
    }
  }

  @Test func `Q2: a run with a certain result does not end while a condition is being created`()
    async throws
  {
    var count = 0
    for seed in 0..<20 as Range<UInt64> {
      let executor = SeededExecutor(seed: seed)
      let recorder = RecordingObserver()
      let late = Condition("late") {
        await Task.yield()
        return true
      }
      let other = Condition("other") {
        await Task.yield()
        return true
      }
      let operation = SimpleOperation { 7 }.named("body").requiring(.any(late, other))
      let environment = OperationEnvironment(
        observers: [DrainingObserver(executor), recorder])
      let outcome = try await executor.run { await operation.run(in: environment) }
      #expect(outcome.result == 7)
      let events = recorder.short
      let end = try #require(events.firstIndex(of: "body ended: result 7"))
      #expect(!events[end...].contains { $0.hasSuffix("created") }, "seed \(seed)")
      if events.contains("late created") { count += 1 }
    }
    #expect(count > 0)
  }

  @Test func `Q2: a condition that no longer matters is cancelled while others are evaluated`()
    async throws
  {
    let gate = Gate()
    let slow = Gate()
    let isCancelled = Flag()
    let irrelevant = Condition("waits") {
      await withTaskCancellationHandler {
        await slow.passIgnoringCancellation()
      } onCancel: {
        isCancelled.set()
        slow.open()
      }
      return true
    }
    let met = Condition("is met") {
      await slow.waitForArrivals(1)
      return true
    }
    let open = Condition("is open") {
      try await gate.pass()
      return true
    }
    let run = SimpleOperation { 7 }.requiring(open, .any(irrelevant, met)).start()
    await gate.waitForArrivals(1)
    while !isCancelled.isSet { await Task.yield() }
    gate.open()
    #expect(await run.outcome.result == 7)
  }
}

/// Runs the other jobs of an executor while the creation of a condition is reported, as other
/// threads would.
private final class DrainingObserver: OperationObserver {
  private let executor: SeededExecutor

  init(_ executor: SeededExecutor) { self.executor = executor }

  func observe(_ event: OperationEvent) {
    if event.short == "late created" { executor.drain() }
  }
}
