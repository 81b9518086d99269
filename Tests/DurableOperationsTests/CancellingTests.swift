import CompositeOperations
import DurableOperations
import DurableTestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct CancellingTests {
  @Test func `J12: a run that no process runs ends at once, with the reason`() async throws {
    let test = TestStore()
    _ = try await test.store.start(Sum(count: 2), named: "ready")
    _ = try await test.run(Single(.sleep), "parked")
    for id: RunID in ["ready", "parked"] {
      try await test.store.cancel(id, because: "the customer asked")
      let run = try await test.row(id)
      #expect(run.state == .cancelled && run.reason == "the customer asked")
      #expect(run.ended != nil && run.wake == nil)
    }
    let error = await DurableOperation(Sum(count: 2), named: "ready", in: test.store).run()
    #expect(error.isCancelled)
  }

  @Test(arguments: [false, true])
  func `J12: a running step is cancelled, and no further step begins`(inOtherProcess: Bool)
    async throws
  {
    try await withTemporaryFile { file in
      let runner = RunStore.sqlite(file)
      // As another process sees the file.
      let other = inOtherProcess ? RunStore.sqlite(file) : runner
      let (begun, continuation) = AsyncStream.makeStream(of: Void.self)
      let outcome = try await Endless.$begun.withValue(continuation) {
        let flow = DurableOperation(EndlessThenNote(), named: "r", in: runner).start()
        for await _ in begun { break }
        try await other.cancel("r", because: "enough")
        return await flow.outcome
      }
      #expect(outcome.isCancelled)
      let details = try await other.run("r")
      #expect(details?.summary.state == .cancelled)
      #expect(details?.summary.reason == "enough")
      #expect(details?.steps.isEmpty == true)
    }
  }

  @Test func `J12: a run that has ended does not change`() async throws {
    let test = TestStore()
    _ = try await test.run(Sum(count: 1))
    try await test.store.cancel("r", because: "late")
    let run = try await test.row()
    #expect(run.state == .result && run.reason == nil && run.cancelled == nil)
  }

  @Test func `J12: the cancellation of a parent cancels its child flows`() async throws {
    let test = TestStore()
    let (begun, continuation) = AsyncStream.makeStream(of: Void.self)
    let outcome = try await Endless.$begun.withValue(continuation) {
      let flow = DurableOperation(Single(.endlessChild), named: "r", in: test.store).start()
      for await _ in begun { break }
      try await test.store.cancel("r")
      return await flow.outcome
    }
    #expect(outcome.isCancelled)
    #expect(try await test.row("child").state == .cancelled)
    #expect(try await test.row("child").parent == "r")
    #expect(try await test.row("r").state == .cancelled)
  }

  @Test func `J12: a second cancellation keeps the first reason`() async throws {
    let test = TestStore()
    _ = try await test.store.start(Sum(count: 1), named: "r")
    try await test.store.cancel("r", because: "first")
    try await test.store.cancel("r", because: "second")
    #expect(try await test.row().reason == "first")
  }

  @Test func `a request about a run that does not exist is an error that names it`() async throws {
    let store = RunStore.test()
    let requests: [@Sendable () async throws -> Void] = [
      { try await store.cancel("none") }, { try await store.retry("none") },
      { try await store.send(1, as: "e", to: "none") }, { try await store.forget("none") },
    ]
    for request in requests {
      let error = await #expect(throws: RunStoreError.self) { try await request() }
      #expect(error?.reason == .noSuchRun)
      #expect(error?.description.contains("none") == true)
    }
    #expect(try await store.run("none") == nil)
  }
}

private struct EndlessThenNote: DurableSequence {
  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    previous == nil ? Endless() : Note("never")
  }
  func output(of steps: FinishedSteps) {}
}
