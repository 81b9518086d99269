import CompositeOperations
import DurableOperations
import DurableOperationsTestKit
import Testing

@Suite(.timeLimit(.minutes(10))) struct ChildFlowTests {
  @Test func `a child flow is a run of its own, named after its step`() async throws {
    let test = TestStore()
    #expect(try await test.run(Single(.child)).state == .result)
    #expect(try await test.outcome(of: Single.self).get() == 3)
    let child = try await test.store.runs().first { $0.parent == "r" }
    #expect(child?.flow == "Sum" && child?.state == .result)
    let children = try await test.store.runs(RunSelection(parent: "r")).map(\.id)
    #expect(children == [child?.id])
    #expect(try await test.store.runs(RunSelection(parent: children.first)).isEmpty)
  }

  @Test func `after a crash at any write, a child does not repeat its finished steps`() async throws
  {
    try await CrashHunt().run(Single(.child)) { trial in
      try await Effects.recorded { effects in
        let sum = try await trial.outcome.get()
        #expect(sum == 3)
        #expect(effects.names.count <= 3)
        return effects.once
      }
    }
  }

  @Test func `children in parallel, with keys, each run once`() async throws {
    let test = TestStore()
    #expect(try await test.run(ParallelChildren()).state == .result)
    #expect(try await test.outcome(of: ParallelChildren.self).get() == [1, 3, 6])
    try await CrashHunt().run(ParallelChildren()) { try await $0.outcome.get() }
  }

  @Test func `the error of a child is the error of the step`() async throws {
    let test = TestStore()
    #expect(try await test.run(FailingChild()).state == .error)
    let error = try await test.outcome(of: FailingChild.self).error
    #expect("\(error.debugDescription)".contains("CodableError"))
  }

  /// The requests that let a parked child continue.
  enum Continuation: CaseIterable { case event, cancellation, retry }

  @Test(arguments: Continuation.allCases)
  func `a parent without a worker continues when its parked child does`(
    by continuation: Continuation
  ) async throws {
    // In memory, nothing but a notification wakes the operation.
    let store = RunStore.test()
    let flow = DurableOperation(Single(.childEvent), named: "r", in: store).start()
    // Where workers share a store, such a parent waits in memory.
    let waiting: RunID = TestServer.isAbsent ? "r" : "child"
    while try await store.run(waiting)?.summary.state != .parked { await Task.yield() }
    switch continuation {
    case .event: try await store.send(5, as: "go", to: "child")
    case .cancellation: try await store.cancel("child", because: "enough")
    case .retry:
      try await store.retry("child", from: 0)
      while try await store.run("child")?.summary.state != .parked { await Task.yield() }
      try await store.send(5, as: "go", to: "child")
    }
    switch await flow.outcome {
    case .result(let value): #expect(value == 5 && continuation != .cancellation)
    case .cancelled: #expect(continuation == .cancellation)
    case .error(let error): Issue.record(error)
    }
  }

  @Test func `forgetting a parent forgets its children`() async throws {
    let test = TestStore()
    _ = try await test.run(Single(.child))
    try await test.store.forget("r")
    #expect(try await test.store.runs().isEmpty)
  }

  @Test func `a parent whose child has not ended is not forgotten`() async throws {
    let test = TestStore()
    let backend = test.store.backend
    _ = try await test.run(Sum(count: 1), "r")
    _ = try await backend.start(Sum(count: 1), named: "ended child", parent: "r")
    _ = try await test.attempt("ended child", of: Sum.self)
    _ = try await backend.start(Sum(count: 1), named: "child", parent: "ended child")
    test.time.pass(.seconds(60))
    #expect(try await test.store.forget(olderThan: .seconds(1)) == 0)
    let error = await #expect(throws: RunStoreError.self) { try await test.store.forget("r") }
    #expect(error?.description.contains("child") == true)
    _ = try await test.run(Sum(count: 1), "child")
    test.time.pass(.seconds(60))
    #expect(try await test.store.forget(olderThan: .seconds(1)) == 3)
  }

  @Test func `children without names, at any depth`() async throws {
    let test = TestStore()
    #expect(try await test.run(Nested(depth: 20)).state == .result)
    let runs = try await test.store.runs()
    #expect(runs.count == 21)
    #expect(runs.allSatisfy { $0.id.text.utf8.count <= 200 })
  }

  @Test func `outside a durable run, a child flow runs without a journal`() async throws {
    #expect(try await ChildFlow(Sum(count: 3)).run().get() == 6)
  }
}

private struct ParallelChildren: DurableSequence {
  var sums: [Int] = []

  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    if let previous { sums = previous.result(as: [Int].self) ?? [] }
    return previous == nil
      ? ParallelOperation((1...3).map { ChildFlow(Sum(count: $0)).journaled(as: $0) }) : nil
  }
  func output(of steps: FinishedSteps) -> [Int] { sums }
}

private struct Nested: DurableSequence {
  let depth: Int

  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    previous == nil && depth > 0 ? ChildFlow(Nested(depth: depth - 1)) : nil
  }
  func output(of steps: FinishedSteps) -> Int { depth }
}

private struct FailingChild: DurableSequence {
  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    previous == nil ? ChildFlow(Single(.failure)) : nil
  }
  func output(of steps: FinishedSteps) {}
}
