internal import CompositeOperations
internal import CompositeOperationsTestKit
internal import DurableOperations
internal import Testing

@Suite(.enabled(if: PrivateServer.whatIsMissing == nil), .timeLimit(.minutes(10)))
struct ClaimsAheadTests {
  @Test
  func `K3: a worker of short runs claims the next one ahead, and releases it without a place`()
    async throws
  {
    try await withWorkerThatIsAhead { store, worker, clock in
      while try await store.run("next")?.summary.state != .ready {
        clock.advance(by: .milliseconds(1))
      }
      #expect(try await store.run("long")?.summary.state == .running)
      let other = DurableWorker(in: store, running: [Leaf.self]).start()
      let next = try await store.start(Leaf(name: "leaf"), named: "next")
      #expect(try await next.outcome.get() == "leaf")
      for worker in [other, worker] {
        worker.cancel()
        _ = await worker.outcome
      }
      #expect(try await store.run("long")?.summary.state == .ready)
    }
  }

  @Test func `K3: a worker that is cancelled releases the runs that it has claimed ahead`()
    async throws
  {
    try await withWorkerThatIsAhead { store, worker, _ in
      worker.cancel()
      _ = await worker.outcome
      let states = try await store.runs().prefix(2).map { "\($0.id) \($0.state)" }
      #expect(states == ["next ready", "long ready"])
    }
  }

  /// Runs a worker with one place, which runs "long" and has claimed "next", on a clock on which all
  /// runs so far were short.
  private func withWorkerThatIsAhead(
    _ body: (RunStore, OperationRun<Void>, ManualClock) async throws -> Void
  ) async throws {
    let queue = try await TestQueue()
    let store = queue.store()
    let clock = ManualClock()
    let worker = DurableWorker(
      in: queue.store(), running: [Leaf.self, LastingFlow.self], width: .limited(to: 1)
    ).start(in: OperationEnvironment(clock: clock))
    func waitUntil(_ id: RunID, is state: RunState) async throws {
      while true {
        let current = try await store.run(id)?.summary.state
        if current == state { return }
        // A worker waits by the clock before it claims the run. Later, the run would become longer.
        if current == .ready { clock.advance(by: .milliseconds(1)) }
      }
    }
    for number in 0..<3 {
      try await store.start(Leaf(name: "leaf"), named: "leaf-\(number)")
      try await waitUntil("leaf-\(number)", is: .result)
    }
    try await store.start(LastingFlow(milliseconds: 60_000), named: "long")
    try await waitUntil("long", is: .running)
    try await store.start(Leaf(name: "leaf"), named: "next")
    try await waitUntil("next", is: .running)
    #expect(try await store.run("long")?.summary.state == .running)
    try await body(store, worker, clock)
  }
}
