import CompositeOperations
import CompositeOperationsTestKit
import DurableOperations
import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct WorkerTests {
  @Test func `J20: a worker runs the runs of the flows that it knows, and leaves the others`()
    async throws
  {
    let store = RunStore.test()
    try await store.start(Single(.note), named: "unknown")
    let runs = try await (0..<10).asyncMap { try await store.start(Sum(count: 3), named: "r\($0)") }
    let worker = DurableWorker(in: store, running: [Sum.self], width: .limited(to: 3)).start()
    for run in runs { #expect(try await run.outcome.get() == 6) }
    // A run that is started later.
    #expect(try await store.start(Sum(count: 1), named: "late").outcome.get() == 1)
    let state = try await store.run("unknown")?.summary.state
    // A queue is shared with other programs, so the worker gives the run back for some seconds.
    #expect(state == (TestServer.isAbsent ? .ready : .parked))
    worker.cancel()
    #expect(await worker.outcome.isCancelled)
  }

  @Test func `a worker runs at most as many runs at once as its width`() async throws {
    let store = RunStore.test()
    let gate = Gate()
    try await GatedFlow.$gate.withValue(gate) {
      for number in 0..<5 { try await store.start(GatedFlow(), named: "r\(number)") }
      let worker = DurableWorker(in: store, running: [GatedFlow.self], width: .limited(to: 2))
        .start()
      await gate.waitForArrivals(2)
      let running = try await store.runs(in: [.running]).count
      #expect(running == 2)
      gate.open()
      for number in 0..<5 {
        _ = try await store.start(GatedFlow(), named: "r\(number)").outcome
      }
      worker.cancel()
      _ = await worker.outcome
    }
    #expect(try await store.runs(in: [.result]).count == 5)
  }

  @Test func `a worker that is cancelled releases its runs, so that another takes them at once`()
    async throws
  {
    let store = RunStore.test()
    let (begun, continuation) = AsyncStream.makeStream(of: Void.self)
    try await store.start(Single(.endless), named: "r")
    await Endless.$begun.withValue(continuation) {
      let worker = DurableWorker(in: store, running: [Single.self]).start()
      for await _ in begun { break }
      worker.cancel()
      _ = await worker.outcome
    }
    #expect(try await store.run("r")?.summary.state == .ready)
  }

  @Test(.enabled(if: TestServer.isAbsent, "the moment of the commit is that of SQLite"))
  func `a worker that is cancelled while it claims a run releases it`() async throws {
    let folder = try TemporaryFolder()
    let worker = Lock<OperationRun<Void>?>(nil)
    let isCancelling = Lock(false)
    let store = RunStore.sqlite(folder["runs.sqlite"].path) { moment, _ in
      guard moment == .afterCommit, isCancelling.withLock(\.self) else { return }
      // The first commit of the worker is that of its claim.
      while worker.withLock({ $0 == nil }) {}
      worker.withLock(\.self)?.cancel()
    }
    try await store.start(Sum(count: 1), named: "r")
    isCancelling.withLock { $0 = true }
    let run = DurableWorker(in: store, running: [Sum.self]).start()
    worker.withLock { $0 = run }
    _ = await run.outcome
    isCancelling.withLock { $0 = false }
    #expect(try await store.run("r")?.summary.state == .ready)
  }

  @Test
  func `a run that waits for a child or an event within a composite gives its place to others`()
    async throws
  {
    let store = RunStore.test()
    let worker = DurableWorker(
      in: store, running: [WaitingInParallel.self, Sum.self], width: .limited(to: 1)
    ).start()
    let waiting = try await store.start(WaitingInParallel(), named: "w")
    // With the only place taken, this run would never begin.
    #expect(try await store.start(Sum(count: 2), named: "s").outcome.get() == 3)
    try await store.send(8, as: "go", to: "w")
    #expect(try await waiting.outcome.get() == [8, 1])
    worker.cancel()
    _ = await worker.outcome
  }

  @Test func `a parked run continues in a worker when its event comes`() async throws {
    let store = RunStore.test()
    let worker = DurableWorker(in: store, running: [Single.self]).start()
    let run = try await store.start(Single(.event), named: "r")
    try await store.send(5, as: "go", to: "r")
    #expect(try await run.outcome.get() == 5)
    worker.cancel()
    _ = await worker.outcome
  }

  @Test func `J23: ended runs are deleted by age, and others stay`() async throws {
    let test = TestStore()
    for number in 0..<3 {
      _ = try await test.run(Sum(count: 1), RunID("old\(number)"))
    }
    try await test.store.start(Sum(count: 1), named: "open")
    test.time.pass(.seconds(3_600))
    _ = try await test.run(Sum(count: 1), "new")
    #expect(try await test.store.forget(olderThan: .seconds(1_800)) == 3)
    #expect(Set(try await test.store.runs().map(\.id)) == ["open", "new"])
    let error = await #expect(throws: RunStoreError.self) { try await test.store.forget("open") }
    #expect(error?.reason == .wrongState)
    try await test.store.forget("new")
    #expect(try await test.store.runs().map(\.id) == ["open"])
  }

  @Test(.enabled(if: TestServer.isAbsent))
  func `J23: an idle worker deletes runs that are older than the retention`() async throws {
    let test = TestStore(nil, RunStoreOptions(retention: .seconds(60)))
    _ = try await test.run(Sum(count: 1), "old")
    test.time.pass(.seconds(61))
    let worker = DurableWorker(in: test.store, running: [Sum.self]).start()
    // The worker deletes before it waits for this one.
    while try await test.store.run("old") != nil { await Task.yield() }
    worker.cancel()
    _ = await worker.outcome
  }
}

extension Sequence {
  fileprivate func asyncMap<Value>(
    _ transform: (Element) async throws -> Value
  ) async throws -> [Value] {
    var values: [Value] = []
    for element in self { values.append(try await transform(element)) }
    return values
  }
}

private struct GatedFlow: DurableSequence {
  @TaskLocal static var gate: Gate?

  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    previous == nil ? SimpleOperation<Void> { try await Self.gate?.pass() }.named("gated") : nil
  }
  func output(of steps: FinishedSteps) {}
}

private struct WaitingInParallel: DurableSequence {
  var results: [Int] = []

  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    if let previous { results = previous.result(as: [Int].self) ?? [] }
    return previous == nil
      ? ParallelOperation([
        AnyOperation(AwaitedEvent("go", as: Int.self)), AnyOperation(Note("note", 1)),
      ]) : nil
  }
  func output(of steps: FinishedSteps) -> [Int] { results }
}
