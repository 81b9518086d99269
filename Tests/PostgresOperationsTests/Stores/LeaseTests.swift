internal import CompositeOperations
internal import DurableOperations
internal import Foundation
internal import PostgresOperations
internal import TestSupport
internal import Testing

@Suite(.enabled(if: PrivateServer.whatIsMissing == nil), .timeLimit(.minutes(10))) struct LeaseTests
{
  @Test func `K2: a body that takes longer than its lease keeps its run`() async throws {
    let queue = try await TestQueue()
    let (store, other) = (queue.store(lease: .seconds(4)), queue.store(lease: .seconds(4)))
    try await Deeds.recorded { deeds in
      let workers = [store, other].map {
        DurableWorker(in: $0, running: [LastingFlow.self]).start()
      }
      let run = try await store.start(LastingFlow(milliseconds: 7_000), named: "r")
      #expect(try await run.outcome.result == "ended")
      #expect(deeds.all == ["begun"])
      for worker in workers { worker.cancel() }
      for worker in workers { _ = await worker.outcome }
    }
    #expect(try await queue.query("select count(*) from absurd.r_default") == "1")
  }

  @Test func `K2: the run of a killed worker is taken over when its lease has expired`()
    async throws
  {
    let queue = try await TestQueue()
    let folder = try ClusterFolder(queue.address, lease: 1_000)
    let store = queue.store(lease: .seconds(1))
    // Its first step does not end before it is killed.
    let killed = try folder.start("work", "1", "1", "600000")
    let started = try folder.start("start", "1", "0")
    #expect(await started.end() == 0)
    while folder.lines.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
    kill(killed.processIdentifier, SIGKILL)
    _ = await killed.end()
    let killedAt = ContinuousClock.now
    let next = try folder.start("work", "2", "1")
    defer { kill(next.processIdentifier, SIGKILL) }
    while try await store.run("item-0")?.summary.state != .result {
      try await Task.sleep(for: .milliseconds(20))
    }
    print("takeover and end: \(ContinuousClock.now - killedAt)")
    let reason = try await queue.query(
      "select failure_reason->>'name' from absurd.r_default where state = 'failed'")
    #expect(reason == "$ClaimTimeout")
    #expect(try await store.run("item-0")?.steps.last?.fence == 2)
    kill(next.processIdentifier, SIGKILL)
    _ = await next.end()
  }

  @Test func `K2: a worker that cannot reach the server cancels its bodies before others begin`()
    async throws
  {
    let server = PrivateServer()
    let queue = try await TestQueue(on: server)
    // On a busy machine, a shorter lease could end before the body begins.
    let store = queue.store(lease: .seconds(15))
    try await Deeds.recorded { deeds in
      let worker = DurableWorker(in: store, running: [LastingFlow.self]).start()
      try await store.start(LastingFlow(milliseconds: 60_000), named: "r")
      while deeds.all.isEmpty { try await Task.sleep(for: .milliseconds(10)) }
      let began = ContinuousClock.now
      try await server.pause()
      while deeds.all.count < 2 { try await Task.sleep(for: .milliseconds(10)) }
      let time = ContinuousClock.now - began
      // Before the server continues, after which the worker may claim the run again.
      #expect(deeds.all == ["begun", "cancelled"])
      try await server.resume()
      #expect(time < .seconds(15), "\(time)")
      worker.cancel()
      _ = await worker.outcome
    }
    // It continues later.
    #expect(try await store.run("r")?.summary.state.hasEnded == false)
  }

  @Test func `K2: a cancellation by another process is seen while a body runs`() async throws {
    let queue = try await TestQueue()
    // An extension of the lease would see the cancellation too.
    let (store, other) = (queue.store(lease: .seconds(3_600)), queue.store())
    try await Deeds.recorded { deeds in
      let worker = DurableWorker(in: store, running: [LastingFlow.self]).start()
      let run = try await store.start(LastingFlow(milliseconds: 60_000), named: "r")
      while deeds.all.isEmpty { try await Task.sleep(for: .milliseconds(10)) }
      let began = ContinuousClock.now
      try await other.cancel("r", because: "enough")
      #expect(try await run.outcome.isCancelled)
      while deeds.all.count < 2 { try await Task.sleep(for: .milliseconds(10)) }
      print("cancelled after \(ContinuousClock.now - began)")
      #expect(deeds.all == ["begun", "cancelled"])
      #expect(try await store.run("r")?.summary.reason == "enough")
      worker.cancel()
      _ = await worker.outcome
    }
  }

  @Test func `K2: the lease of a run that was cancelled is not extended any more`() async throws {
    let server = PrivateServer(settings: ["log_statement=all"])
    let queue = try await TestQueue(on: server)
    let store = queue.store(lease: .seconds(1))
    try await Deeds.recorded { deeds in
      let worker = DurableWorker(in: store, running: [LastingFlow.self]).start()
      try await store.start(LastingFlow(milliseconds: 60_000), named: "r")
      while deeds.all.isEmpty { try await Task.sleep(for: .milliseconds(10)) }
      try await queue.store().cancel("r")
      while deeds.all.count < 2 { try await Task.sleep(for: .milliseconds(10)) }
      worker.cancel()
      _ = await worker.outcome
    }
    func extensions() -> Int {
      server.logText.split(separator: "\n").count { $0.contains("absurd.extend_claim") }
    }
    // After the last one, which finds that the claim is not valid.
    try await Task.sleep(for: .seconds(2))
    let count = extensions()
    try await Task.sleep(for: .seconds(2))
    #expect(extensions() == count)
    await store.close()
  }

  @Test func `K2: a lease that is lost while a body runs stores nothing of it`() async throws {
    let queue = try await TestQueue()
    let store = queue.store()
    let backend = store.backend
    _ = try await store.start(Leaf(name: "a"), named: "r")
    guard case .claimed(let first) = try await backend.claim("r") else {
      Issue.record("not claimed")
      return
    }
    try await queue.query(
      "update absurd.r_default set claim_expires_at = now() - interval '1 second'")
    guard case .claimed(let second) = try await queue.store().backend.claim("r") else {
      Issue.record("not claimed again")
      return
    }
    #expect(second.token.fence == first.token.fence + 1)
    let step = StoredStep(
      position: 0, name: "a", kind: .result, value: "1", fence: 1, began: 0, ended: 0)
    await #expect(throws: DurableRunError("r", .taken(fence: first.token.fence))) {
      try await backend.append(step, dropping: 0..<0, hasKeys: false, by: first.token)
    }
    await #expect(throws: DurableRunError("r", .taken(fence: first.token.fence))) {
      try await backend.end(by: first.token, "1", as: .result, sequence: nil)
    }
    let run = try #require(try await store.run("r"))
    #expect(run.steps.isEmpty && run.summary.state == .running)
  }

  @Test func `K2: processes that end an expired attempt at the same time do not fail`() async throws
  {
    let queue = try await TestQueue()
    let stores = (0..<4).map { _ in queue.store() }
    for round in 0..<20 {
      let id = RunID("r\(round)")
      try await stores[0].start(Leaf(name: "a"), named: id)
      _ = try await stores[0].backend.claim(id)
      try await queue.query(
        "update absurd.r_default set claim_expires_at = now() - interval '1 second' where state = 'running'"
      )
      let claimed = try await withThrowingTaskGroup { group in
        for store in stores {
          group.addTask {
            if case .claimed = try await store.backend.claim(id) { true } else { false }
          }
        }
        return try await group.reduce(into: 0) { count, isClaimed in if isClaimed { count += 1 } }
      }
      #expect(claimed == 1)
      try await stores[0].cancel(id)
    }
  }

  @Test func `K3: an idle worker makes few statements, and a start in its process wakes it`()
    async throws
  {
    let server = PrivateServer(settings: ["log_statement=all"])
    let queue = try await TestQueue(on: server)
    let store = queue.store()
    let setup = server.statementCount
    let worker = DurableWorker(in: store, running: [Leaf.self]).start()
    // After the first claims.
    while server.statementCount < setup + 20 { try await Task.sleep(for: .milliseconds(10)) }
    let (before, start) = (server.statementCount, ContinuousClock.now)
    while server.statementCount < before + 30 { try await Task.sleep(for: .milliseconds(10)) }
    let time = ContinuousClock.now - start
    #expect(time >= .seconds(3), "30 statements in \(time)")
    let began = ContinuousClock.now
    #expect(try await store.start(Leaf(name: "a"), named: "r").outcome.result == "a")
    print("idle: 30 statements in \(time); a start is run after \(ContinuousClock.now - began)")
    worker.cancel()
    _ = await worker.outcome
  }
}
