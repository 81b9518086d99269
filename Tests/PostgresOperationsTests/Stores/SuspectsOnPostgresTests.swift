internal import CompositeOperations
internal import DurableOperations
internal import PostgresOperations
internal import Testing

/// Runs that may be what has ended their workers. A worker has ended when the leases of its claims have expired.
@Suite(.timeLimit(.minutes(10)), .enabled(if: PrivateServer.whatIsMissing == nil))
struct SuspectsOnPostgresTests {
  private func claim(
    _ store: RunStore, limit: Int = 16, isIdle: Bool = true
  ) async throws -> [RunClaim] {
    try await store.backend.claim(flows: ["Leaf"], limit: limit, isIdle: isIdle)
  }

  /// Claims as a worker that asks again until there is something.
  private func nextClaims(_ store: RunStore) async throws -> [RunClaim] {
    while true {
      let claims = try await claim(store)
      if !claims.isEmpty { return claims }
      try await Task.sleep(for: .milliseconds(10))
    }
  }

  private func names(_ claims: [RunClaim]) -> [String] { claims.map(\.token.run.text).sorted() }

  private func endWorkers(of queue: TestQueue) async throws {
    try await queue.query(
      "update absurd.r_default set claim_expires_at = now() - interval '1 second' where state = 'running'"
    )
  }

  /// Keeps suspects from becoming old while a machine is busy.
  private func makeYoung(_ queue: TestQueue) async throws {
    try await queue.query("update absurd.r_default set created_at = now() + interval '1 day'")
  }

  /// A queue whose runs have ended two workers.
  private func queue(with runs: [String]) async throws -> TestQueue {
    let queue = try await TestQueue()
    for name in runs { try await queue.store().start(Leaf(name: name), named: RunID(name)) }
    for _ in 0..<2 {
      #expect(names(try await claim(queue.store())) == runs)
      try await endWorkers(of: queue)
    }
    return queue
  }

  @Test func `K1: an idle worker claims one suspect, and a busy one gives them back`() async throws
  {
    let queue = try await queue(with: ["a", "b", "c"])
    let store = queue.store()
    #expect(try await claim(store, isIdle: false).isEmpty)
    try await makeYoung(queue)
    let first = try await nextClaims(queue.store())
    #expect(first.count == 1 && first[0].run.isSuspect && first[0].run.claims == 3)
    try await store.start(Leaf(name: "d"), named: "d")
    #expect(names(try await claim(store, isIdle: false)) == ["d"])
    // An idle worker begins the others before a suspect, which waits for another one.
    try await store.start(Leaf(name: "e"), named: "e")
    #expect(names(try await claim(store)) == ["e"])
    let second = try await nextClaims(queue.store())
    #expect(second.count == 1 && second[0].token.run != first[0].token.run)
    // A run that was given back has no more attempts.
    let runs = try await store.runs(in: [.ready, .parked])
    #expect(runs.count == 1 && runs[0].attempt == 2)
  }

  @Test func `K1: a finished step ends the suspicion, and the end of its claim counts again`()
    async throws
  {
    let queue = try await queue(with: ["a"])
    let store = queue.store()
    let claim = try #require(try await nextClaims(store).first)
    try await store.backend.append(
      StoredStep(
        position: 0, name: "a", kind: .result, value: "1", fence: claim.token.fence, began: 0,
        ended: 0),
      dropping: 0..<0, hasKeys: false, by: claim.token)
    #expect(try await store.backend.run("a")?.interruptions == 0)
    try await endWorkers(of: queue)
    #expect(names(try await nextClaims(queue.store())) == ["a"])
    #expect(try await store.backend.run("a")?.interruptions == 1)
  }

  @Test func `K1: a worker that always has other work begins no more of it after 30 seconds`()
    async throws
  {
    let queue = try await queue(with: ["a"])
    let store = queue.store()
    // The attempt is made by the first worker that finds the lease expired.
    #expect(try await claim(store, isIdle: false).isEmpty)
    try await makeYoung(queue)
    try await store.start(Leaf(name: "b"), named: "b")
    #expect(names(try await claim(store, isIdle: false)) == ["b"])
    try await queue.query(
      """
      update absurd.r_default set created_at = now() - interval '30 seconds',
        available_at = now() where state = 'sleeping'
      """)
    #expect(try await claim(store, isIdle: false).isEmpty)
    try await store.start(Leaf(name: "c"), named: "c")
    #expect(try await claim(store, isIdle: false).isEmpty)
    #expect(names(try await claim(store, limit: 1)) == ["a"])
    #expect(names(try await claim(store, isIdle: false)) == ["c"])
  }

  @Test func `K1: a worker begins other runs again when another one has taken the suspect`()
    async throws
  {
    let queue = try await queue(with: ["a"])
    let store = queue.store()
    _ = try await claim(store, isIdle: false)
    try await queue.query(
      "update absurd.r_default set created_at = now() - interval '30 seconds', available_at = now()"
    )
    #expect(try await claim(store, isIdle: false).isEmpty)
    try await store.start(Leaf(name: "b"), named: "b")
    // A worker of other flows does not take it.
    #expect(
      try await store.backend.claim(flows: ["Other"], limit: 16, isIdle: true).isEmpty)
    try await queue.query(
      "update absurd.r_default set available_at = now() where state = 'sleeping'")
    #expect(names(try await nextClaims(queue.store())) == ["a"])
    var claims: [RunClaim] = []
    while claims.isEmpty { claims = try await claim(store, isIdle: false) }
    #expect(names(claims) == ["b"])
  }

  @Test func `K1: an event is late also if a worker has given the run back`() async throws {
    let queue = try await TestQueue()
    let store = queue.store()
    try await store.start(LimitedWait(), named: "w")
    let worker = DurableWorker(in: store, running: [LimitedWait.self]).start()
    while try await store.run("w")?.summary.event != "go" {
      try await Task.sleep(for: .milliseconds(10))
    }
    worker.cancel()
    _ = await worker.outcome
    // The limit passes, and a worker that does not know the flow finds the run first.
    try await queue.query(
      """
      update absurd.r_default set available_at = now();
      update absurd.w_default set timeout_at = now()
      """)
    _ = try await queue.store().backend.claim(flows: ["Other"], limit: 1, isIdle: true)
    #expect(try await queue.query("select claimed_by is null from absurd.r_default") == "t")
    #expect(try await !store.send(5, as: "go", to: "w"))
  }

  @Test func `K1: a run that kills its workers makes no other run stuck`() async throws {
    let queue = try await TestQueue()
    let store = queue.store()
    let healthy = ["a", "b", "c", "d", "e"]
    for name in healthy + ["poison"] { try await store.start(Leaf(name: name), named: RunID(name)) }
    var workers = 0
    while try await !store.runs(in: [.ready, .running, .interrupted, .parked]).isEmpty {
      let worker = queue.store()
      let claims = try await claim(worker)
      if claims.contains(where: { $0.token.run == "poison" }) {
        workers += 1
        try await endWorkers(of: queue)
      } else {
        for claim in claims {
          try await worker.backend.end(by: claim.token, "1", as: .result, sequence: nil)
        }
      }
      if claims.isEmpty { try await Task.sleep(for: .milliseconds(10)) }
      await worker.close()
      try #require(workers <= 10)
    }
    let runs = try await store.runs()
    #expect(runs.filter { $0.state == .result }.map(\.id.text).sorted() == healthy)
    #expect(runs.filter { $0.state == .stuck }.map(\.id) == ["poison"])
    #expect(workers == 10)
  }

  @Test func `K1: a caller continues a run that another worker has made ready`() async throws {
    let queue = try await TestQueue()
    let run = try await queue.store().start(Leaf(name: "a"), named: "a")
    _ = try await claim(queue.store())
    async let outcome = run.outcome
    // A worker that does not know the flow notices the end of the first one.
    try await endWorkers(of: queue)
    _ = try await queue.store().backend.claim(flows: ["Other"], limit: 1, isIdle: true)
    #expect(try await outcome.result != nil)
  }
}

private struct LimitedWait: DurableSequence {
  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    previous == nil ? AwaitedEvent("go", as: Int.self, within: .seconds(3_600)) : nil
  }
}
