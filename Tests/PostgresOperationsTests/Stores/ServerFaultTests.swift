internal import CompositeOperations
internal import DurableOperations
internal import PostgresOperations
internal import Testing

@Suite(.enabled(if: PrivateServer.whatIsMissing == nil), .timeLimit(.minutes(10)))
struct ServerFaultTests {
  @Test func `a server that is down at the start is an error, and a worker waits for it`()
    async throws
  {
    let server = PrivateServer()
    let queue = try await TestQueue(on: server)
    try await server.stop(.fast)
    let store = queue.store()
    // Beside other programs, these seconds are as late as the repeated requests.
    let seconds = Lock(0)
    let clock = Task {
      while true {
        try await Task.sleep(for: .seconds(1))
        seconds.withLock { $0 += 1 }
      }
    }
    let error = await #expect(throws: RunStoreError.self) {
      try await store.start(Leaf(name: "a"), named: "r")
    }
    clock.cancel()
    #expect(error?.reason == .unreachable)
    #expect(seconds.withLock { $0 } < 20)
    let worker = DurableWorker(in: store, running: [Leaf.self]).start()
    try await Task.sleep(for: .seconds(1))
    try await server.start()
    let run = try await queue.store().start(Leaf(name: "a"), named: "r")
    #expect(try await run.outcome.result == "a")
    worker.cancel()
    _ = await worker.outcome
  }

  @Test func `a server that crashes in the middle changes nothing for the flow`() async throws {
    let server = PrivateServer()
    let queue = try await TestQueue(on: server)
    let store = queue.store()
    try await Deeds.recorded { deeds in
      let worker = DurableWorker(in: store, running: [Everything.self, Leaf.self]).start()
      let run = try await store.start(Everything(), named: "r")
      for _ in 0..<3 {
        try await server.restart(.immediate)
        try await Task.sleep(for: .milliseconds(100))
      }
      try await store.send(7, as: "go", to: "r")
      #expect(try await run.outcome.result == Everything.log)
      #expect(deeds.all.sorted() == Everything.deeds)
      worker.cancel()
      _ = await worker.outcome
    }
  }
}
