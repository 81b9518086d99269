import CompositeOperations
import DurableOperations
import DurableOperationsTestKit
import Testing

@Suite struct JournaledTests {
  @Test func `J15: children with keys that have ended do not run again after a crash`() async throws
  {
    try await CrashHunt().run(Single(.keyed)) { trial in
      try await Effects.recorded { effects in
        _ = try await trial.outcome.get()
        // One of the three at most was in progress, or all before their first write.
        #expect(effects.names.count <= 6)
        return effects.once
      }
    }
  }

  @Test func `J15: a stored result is returned by its key, and only parts without one run`()
    async throws
  {
    let test = TestStore()
    try await test.interrupt(
      Single(.keyed), afterStoring: "100", as: .result, under: "1", ofStep: "ParallelOperation")
    try await Effects.recorded { effects in
      _ = try await test.run(Single(.keyed))
      #expect(Set(effects.names) == ["part 0", "part 2"])
    }
    let details = try await test.store.run("r")
    #expect(details?.steps.first?.value == "[0,100,2]")
    // The keys are deleted with the step.
    #expect(details?.steps.count == 1)
  }

  @Test func `J15: keys of a step that the sequence decided otherwise after a crash do not count`()
    async throws
  {
    let test = TestStore()
    try await test.interrupt(
      Single(.keyed), afterStoring: "100", as: .result, under: "1", ofStep: "another step")
    _ = try await test.run(Single(.keyed))
    #expect(try await test.store.run("r")?.steps.first?.value == "[0,1,2]")
  }

  @Test func `J15: a key that is used twice in one attempt is an error that names it`() async throws
  {
    for step in [Single.Step.sameKeyTwice, .sameKeyInHedge] {
      let test = TestStore()
      _ = try await test.run(Single(step))
      let error = try await test.outcome(of: Single.self).error
      let cause = (error as? SequentialOperationError)?.cause
      #expect("\(cause.debugDescription)".contains("the key 'k' is used twice in one attempt"))
    }
  }

  @Test func `J15: an empty key is an error of the step, not of the program`() async throws {
    let test = TestStore()
    _ = try await test.run(Single(.emptyKey))
    let error = try await test.outcome(of: Single.self).error
    let cause = (error as? SequentialOperationError)?.cause
    #expect(
      "\(cause.debugDescription)".contains("run r, step 0, ParallelOperation: a key is empty; "))
    #expect(try await test.row().stepCount == 1)
  }

  @Test func `J15: keys in a body, in a graph, and below keys`() async throws {
    try await CrashHunt().run(NestedKeys()) { trial in
      try await Effects.recorded { effects in
        let sum = try await trial.outcome.get()
        #expect(sum == 111)
        return Set(effects.once.map(\.key))
      }
    }
  }

  @Test func `J15, J16: outside a durable run, the modifier has no effect and there is no key`()
    async throws
  {
    try await Effects.recorded { effects in
      let value = try await Note("n", 3).journaled(as: "k").run().get()
      #expect(value == 3)
      #expect(effects.all == [Effects.Effect(name: "n", key: nil, token: nil)])
    }
  }

  @Test func `J16: the idempotency key names run, step and keys, and is equal in every attempt`()
    async throws
  {
    let test = TestStore()
    try await Effects.recorded { effects in
      _ = try await test.run(Sum(count: 2), "order/7")
      _ = try await test.run(Single(.keyed), "k")
      _ = try await test.run(Single(.retried), "a")
      let keys = effects.all.compactMap(\.key)
      #expect(keys.prefix(2) == ["order%2F7/0.add 0", "order%2F7/1.add 1"])
      #expect(
        Set(keys[2..<5]) == [
          "k/0.ParallelOperation/0", "k/0.ParallelOperation/1", "k/0.ParallelOperation/2",
        ])
      // All attempts have one key.
      #expect(Set(keys[5...]).count == 1)
    }
  }
}

private struct NestedKeys: DurableSequence {
  var sum = 0

  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    if let value = previous?.result(as: Int.self) { sum = value }
    return previous == nil ? Body().journaled(as: "body/%") : nil
  }
  func output(of steps: FinishedSteps) -> Int { sum }

  private struct Body: ComposableOperation {
    var operationName: String { "Body" }

    func perform(in context: OperationContext) async throws -> Int {
      let first = try await context.run(Note("first", 1).journaled(as: "part"))
      let graph = OperationGraph { graph in
        let left = graph.add(Note("left", 10).journaled(as: "left"))
        let right = graph.add(Note("right", 100).journaled(as: "right"))
        return graph.add(needing: left, right) { left, right in SimpleOperation { left + right } }
      }
      return try await first + context.run(graph)
    }
  }
}
