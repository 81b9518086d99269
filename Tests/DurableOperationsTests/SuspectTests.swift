import CompositeOperations
import DurableOperations
import DurableTestSupport
import Foundation
import TestSupport
import Testing

/// Runs that may be what has ended their processes. Each store is a process, which ends when it is released.
@Suite(.timeLimit(.minutes(10)), .enabled(if: TestServer.isAbsent)) struct SuspectTests {
  private func names(_ claims: [RunClaim]) -> [String] { claims.map(\.token.run.text).sorted() }

  private func claim(
    _ store: RunStore, limit: Int = 10, isIdle: Bool = true
  ) async throws -> [RunClaim] {
    try await store.backend.claim(flows: ["Sum"], limit: limit, isIdle: isIdle)
  }

  /// Lets two processes end that have claimed all due runs.
  private func endTwoProcesses(_ file: String) async throws {
    for _ in 0..<2 { _ = try await claim(RunStore.sqlite(file)) }
  }

  @Test func `J21: an idle worker claims one run at a time of those that have ended two processes`()
    async throws
  {
    try await withTemporaryFile { file in
      let store = RunStore.sqlite(file)
      for name in ["a", "b"] { try await store.start(Sum(count: 1), named: RunID(name)) }
      try await endTwoProcesses(file)
      #expect(try await claim(store, isIdle: false).isEmpty)
      let first = try await claim(store)
      #expect(first.count == 1 && first.allSatisfy(\.run.isSuspect))
      // Others run beside it in other processes only.
      try await store.start(Sum(count: 1), named: "c")
      #expect(names(try await claim(store, isIdle: false)) == ["c"])
      let other = RunStore.sqlite(file)
      #expect(names(first + (try await claim(other))) == ["a", "b"])
    }
  }

  @Test func `J21: the end of a process counts against a suspect only if it ran nothing else`()
    async throws
  {
    try await withTemporaryFile { file in
      let store = TestStore(file)
      for name in ["a", "b"] { try await store.store.start(Sum(count: 1), named: RunID(name)) }
      try await endTwoProcesses(file)
      for _ in 0..<3 {
        let process = RunStore.sqlite(file)
        _ = try await process.backend.claim("a")
        _ = try await process.backend.claim("b")
      }
      do {
        let process = RunStore.sqlite(file)
        _ = try await process.backend.claim("a")
      }
      _ = try await claim(RunStore.sqlite(file), limit: 0, isIdle: false)
      #expect(try await store.row("a").interruptions == 3)
      #expect(try await store.row("b").interruptions == 2)
    }
  }

  @Test func `J21: a child and the parent that waits for it are alone together`() async throws {
    try await withTemporaryFile { file in
      let store = TestStore(file)
      try await store.store.start(Sum(count: 1), named: "parent")
      _ = try await store.store.backend.start(Sum(count: 1), named: "child", parent: "parent")
      for _ in 0..<4 {
        let process = RunStore.sqlite(file)
        _ = try await process.backend.claim("parent")
        _ = try await process.backend.claim("child")
      }
      _ = try await claim(RunStore.sqlite(file), limit: 0, isIdle: false)
      #expect(try await store.row("parent").interruptions == 4)
      #expect(try await store.row("child").interruptions == 4)
    }
  }

  @Test func `J21: a finished step ends the suspicion`() async throws {
    try await withTemporaryFile { file in
      let store = TestStore(file)
      try await store.store.start(Sum(count: 2), named: "a")
      try await endTwoProcesses(file)
      let claim = try #require(try await claim(store.store).first)
      try await store.store.backend.append(
        StoredStep(
          position: 0, name: "add 0", kind: .result, value: "1", fence: claim.token.fence, began: 0,
          ended: 0), dropping: 0..<0, hasKeys: false, by: claim.token)
      #expect(try await store.row("a").interruptions == 0)
    }
  }

  @Test func `J21: a worker that always has other work begins no more of it after 30 seconds`()
    async throws
  {
    try await withTemporaryFile { file in
      let test = TestStore(file)
      try await test.store.start(Sum(count: 1), named: "a")
      for _ in 0..<2 {
        let process = TestStore(file)
        _ = try await claim(process.store)
      }
      // The take-over is at this time.
      _ = try await claim(test.store, limit: 0, isIdle: false)
      try await test.store.start(Sum(count: 1), named: "b")
      try await test.store.start(Sum(count: 1), named: "c")
      #expect(names(try await claim(test.store, limit: 1, isIdle: false)) == ["b"])
      test.time.pass(.seconds(30))
      #expect(try await claim(test.store, isIdle: false).isEmpty)
      #expect(try await test.store.backend.longestPause(of: ["Sum"], isIdle: false) > .zero)
      #expect(names(try await claim(test.store)) == ["a"])
    }
  }

  @Test func `J21: a worker begins nothing while it runs a suspect`() async throws {
    try await withTemporaryFile { file in
      let store = RunStore.sqlite(file)
      try await store.start(LookingFlow(), named: "suspect")
      for _ in 0..<2 {
        let process = RunStore.sqlite(file)
        _ = try await process.backend.claim(flows: ["LookingFlow"], limit: 1, isIdle: true)
      }
      try await LookingFlow.$store.withValue(store) {
        let worker = DurableWorker(in: store, running: [LookingFlow.self, Sum.self]).start()
        while try await store.runs(in: [.result]).count < 2 {
          try await Task.sleep(for: .milliseconds(1))
        }
        let handle = try await store.start(LookingFlow(), named: "suspect")
        #expect(try await handle.outcome.get() == RunState.ready)
        worker.cancel()
        _ = await worker.outcome
      }
    }
  }

  @Test func `J21: a run that kills its processes makes no other run stuck`() async throws {
    let folder = try CrashFolder()
    let started = try await folder.run("poison", launch: 0, "5")
    #expect(started.status == 0, "\(started.output)")
    let store = RunStore.sqlite(folder.journal)
    var launches = 0
    while try await !store.runs(in: [.ready, .running, .interrupted, .parked], limit: 1).isEmpty {
      launches += 1
      let process = try folder.start("work", launch: launches)
      let isDone = Task {
        while try await !store.runs(in: [.ready, .running, .interrupted, .parked], limit: 1).isEmpty
        {
          try await Task.sleep(for: .milliseconds(10))
        }
        kill(process.processIdentifier, SIGTERM)
      }
      _ = await process.end()
      isDone.cancel()
      try #require(launches < 40)
    }
    let runs = try await store.runs()
    #expect(runs.filter { $0.state == .result }.count == 5, "\(runs)")
    #expect(runs.filter { $0.state == .stuck }.map(\.id) == ["poison"])
    #expect(
      runs.first { $0.id == "poison" }?.reason
        == "12 processes in a row have ended during step 0, the last ones while they ran nothing else"
    )
  }

  @Test func `J10: a run that is ready is claimed whatever the clock says`() async throws {
    try await withTemporaryFile { file in
      let ahead = TestStore(file)
      ahead.time.pass(.seconds(3_600))
      try await ahead.store.start(Sum(count: 1), named: "a")
      let test = TestStore(file)
      #expect(try await test.store.backend.longestPause(of: ["Sum"], isIdle: true) <= .zero)
      #expect(names(try await claim(test.store)) == ["a"])
      try await ahead.store.start(Sum(count: 1), named: "b")
      guard case .claimed = try await test.store.backend.claim("b") else {
        Issue.record("not claimed")
        return
      }
    }
  }
}

/// A flow that starts another run, and returns its state after some requests.
private struct LookingFlow: DurableSequence {
  @TaskLocal static var store: RunStore?

  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    previous == nil ? SimpleOperation<RunState> { try await Self.look() }.named("look") : nil
  }

  func output(of steps: FinishedSteps) -> RunState? { steps.last?.result(as: RunState.self) }

  private static func look() async throws -> RunState {
    guard let store else { return .stuck }
    try await store.start(Sum(count: 1), named: "other")
    // A worker that looks for runs is woken by the start, and claims it meanwhile.
    for _ in 0..<50 { _ = try await store.runs() }
    return try await store.run("other")?.summary.state ?? .stuck
  }
}
