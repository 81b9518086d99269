internal import CompositeOperations
internal import DurableOperations
internal import PostgresOperations
internal import PostgresTestSupport
internal import Testing

@Suite(.enabled(if: PrivateServer.whatIsMissing == nil)) struct LostReplyTests {
  /// Runs a flow with each kind of write, whose store loses a reply after a number of others.
  ///
  /// - Returns: Whether the reply was lost before the flow ended.
  private static func run(
    losing count: Int?, _ proxy: CuttingProxy, _ port: Int, _ queue: TestQueue
  ) async throws -> Bool {
    let store = queue.store(at: queue.address + "&port=\(port)")
    return try await Deeds.recorded { deeds in
      if let count { proxy.cut(after: count) }
      let id: RunID = "run-\(count ?? -1)"
      let worker = DurableWorker(in: store, running: [Everything.self, Leaf.self]).start()
      let run = try await store.start(Everything(), named: id)
      #expect(run.isNew)
      try await store.send(7, as: "go", to: id)
      let outcome = try await run.outcome
      worker.cancel()
      _ = await worker.outcome
      #expect(outcome.result == Everything.log, "\(count ?? -1): \(outcome)")
      // A step whose reply was lost is finished, and does not run again.
      #expect(deeds.all.sorted() == Everything.deeds, "\(count ?? -1): \(deeds.all)")
      await store.close()
      return proxy.hasCut
    }
  }

  @Test(.timeLimit(.minutes(10)))
  func `K7: a write whose reply is lost is made once`() async throws {
    let server = PrivateServer()
    let width = 8
    let lanes = (0..<width).map { lane in
      SimpleOperation {
        let queue = try await TestQueue(on: server)
        let port = 5433 + lane
        let proxy = try CuttingProxy(in: server.folder, port: port)
        _ = try await Self.run(losing: nil, proxy, port, queue)
        var count = lane
        // As long as the flow has so many replies; the last ones belong to idle connections.
        while try await Self.run(losing: count, proxy, port, queue) { count += width }
        return count
      }
    }
    let counts = try await ParallelOperation(lanes, width: .limited(to: width)).run().get()
    print("lost replies: \(counts)")
    #expect(counts.allSatisfy { $0 > 30 })
  }

  @Test(.timeLimit(.minutes(10)))
  func `K7: a request whose first attempt outlasts the time of repetition is repeated`()
    async throws
  {
    let server = PrivateServer()
    let queue = try await TestQueue(on: server)
    let proxy = try CuttingProxy(in: server.folder)
    // So the server has four seconds for an answer. A request is repeated for three.
    let store = queue.store(lease: .seconds(6), at: queue.address + "&port=5433")
    #expect(try await store.summary(of: "a") == nil)
    proxy.cut(after: 0, isSilent: true)
    let run = try await store.start(Leaf(name: "leaf"), named: "a")
    #expect(run.isNew && proxy.hasCut)
    #expect(try await store.summary(of: "a")?.id == "a")
    await store.close()
  }
}
