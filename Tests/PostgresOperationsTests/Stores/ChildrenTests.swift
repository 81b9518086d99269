internal import CompositeOperations
internal import DurableOperations
internal import PostgresOperations
internal import Testing

@Suite(.enabled(if: PrivateServer.whatIsMissing == nil), .timeLimit(.minutes(10)))
struct ChildrenTests {
  @Test func `K5: the child flows of one step run on several workers`() async throws {
    let queue = try await TestQueue()
    let stores = [queue.store(), queue.store(), queue.store()]
    let workers = stores.map {
      DurableWorker(in: $0, running: [Crowd.self, Leaf.self], width: .limited(to: 2)).start()
    }
    let run = try await stores[0].start(Crowd(count: 60), named: "r")
    #expect(try await run.outcome.result == 60)
    let processes = try await queue.query(
      """
      select count(distinct split_part(claimed_by, '/', 2)) from absurd.r_default r
      join absurd.t_default t using (task_id) where t.task_name = 'Leaf'
      """)
    #expect(processes == "3")
    for worker in workers { worker.cancel() }
    for worker in workers { _ = await worker.outcome }
  }

  @Test func `K5: parents that wait for children leave the places of a worker to them`()
    async throws
  {
    let queue = try await TestQueue()
    let store = queue.store()
    let worker = DurableWorker(
      in: store, running: [Crowd.self, Leaf.self], width: .limited(to: 1)
    ).start()
    for number in 0..<5 {
      try await store.start(CrowdOfOwn(number: number), named: "parent-\(number)")
    }
    let other = DurableWorker(
      in: queue.store(), running: [CrowdOfOwn.self, Leaf.self], width: .limited(to: 2)
    ).start()
    for number in 0..<5 {
      let run = try await store.start(CrowdOfOwn(number: number), named: "parent-\(number)")
      #expect(try await run.outcome.result == 4)
    }
    worker.cancel()
    other.cancel()
    _ = await worker.outcome
    _ = await other.outcome
  }

  @Test func `K5: without a worker that knows the child's flow, its parent's process runs it`()
    async throws
  {
    let queue = try await TestQueue()
    // No worker at all.
    let alone = await DurableOperation(Crowd(count: 3), named: "alone", in: queue.store()).run()
    #expect(alone.result == 3)
    // A worker of the parent only.
    let store = queue.store()
    let worker = DurableWorker(in: store, running: [CrowdOfOwn.self]).start()
    #expect(try await store.start(CrowdOfOwn(number: 0), named: "r").outcome.result == 4)
    worker.cancel()
    _ = await worker.outcome
  }

  @Test func `K5: the process of the parent claims a child in the transaction of its start`()
    async throws
  {
    let queue = try await TestQueue()
    // The states of attempts at the ends of the transactions that have inserted them.
    try await queue.query(
      """
      create table seen (state text);
      create function look() returns trigger language plpgsql as $$ begin
        insert into public.seen select state from absurd.r_default where run_id = new.run_id;
        return null;
      end $$;
      create constraint trigger look after insert on absurd.r_default deferrable initially deferred
        for each row execute function look()
      """)
    let outcome = await DurableOperation(Crowd(count: 3), named: "alone", in: queue.store()).run()
    #expect(outcome.result == 3)
    #expect(try await queue.query("select state, count(*) from seen group by 1") == "running|4")
  }

  @Test func `K5: a child that is parked and retried wakes its parked parent`() async throws {
    let queue = try await TestQueue()
    let store = queue.store()
    let worker = DurableWorker(in: store, running: [Parent.self, Everything.self, Leaf.self])
      .start()
    let run = try await store.start(Parent(), named: "r")
    while try await store.run("child")?.summary.event != "go" {
      try await Task.sleep(for: .milliseconds(10))
    }
    // The worker may still be looking at the child for its parent.
    while try await store.run("r")?.summary.state != .parked {
      try await Task.sleep(for: .milliseconds(10))
    }
    try await store.send(7, as: "go", to: "child")
    #expect(try await run.outcome.result == Everything.log)
    worker.cancel()
    _ = await worker.outcome
  }

  @Test func `K5: a child that no worker knows is not given back by one`() async throws {
    let server = PrivateServer(settings: ["log_statement=all"])
    let queue = try await TestQueue(on: server)
    let store = queue.store()
    let worker = DurableWorker(in: store, running: [CrowdOfOwn.self]).start()
    for number in 0..<5 {
      let run = try await store.start(CrowdOfOwn(number: number), named: "parent-\(number)")
      #expect(try await run.outcome.result == 4)
    }
    // The statement that gives a run back.
    #expect(!server.logText.contains("absurd.schedule_run($1, $2::uuid"))
    worker.cancel()
    _ = await worker.outcome
  }

  @Test func `K5: a parent and its stuck child are retried, and the parent waits without turning`()
    async throws
  {
    let queue = try await TestQueue()
    let store = queue.store()
    let worker = DurableWorker(in: store, running: [StuckParent.self, StuckChild.self]).start()
    try await store.start(StuckParent(), named: "r")
    while try await store.run("r")?.summary.state != .stuck {
      try await Task.sleep(for: .milliseconds(10))
    }
    #expect(try await store.run("child")?.summary.state == .stuck)
    try await store.retry("child")
    try await store.retry("r")
    while try await store.run("child")?.summary.event != "go" {
      try await Task.sleep(for: .milliseconds(10))
    }
    while try await store.run("r")?.summary.state != .parked {
      try await Task.sleep(for: .milliseconds(10))
    }
    let attempt =
      "select started_at from absurd.r_default r join absurd.t_default using (task_id) "
      + "where task_name = 'StuckParent' order by attempt desc limit 1"
    let before = try await queue.query(attempt)
    try await Task.sleep(for: .milliseconds(500))
    #expect(try await queue.query(attempt) == before)
    try await store.send(7, as: "go", to: "child")
    while try await store.run("r")?.summary.state != .result {
      try await Task.sleep(for: .milliseconds(10))
    }
    worker.cancel()
    _ = await worker.outcome
  }

  @Test func `K5: a second wait for an event whose row was deleted waits`() async throws {
    let queue = try await TestQueue()
    let store = queue.store()
    let worker = DurableWorker(in: store, running: [TwoWaits.self]).start()
    let run = try await store.start(TwoWaits(), named: "r")
    while try await store.run("r")?.summary.state != .parked {
      try await Task.sleep(for: .milliseconds(10))
    }
    try await store.send(7, as: "go", to: "r")
    while try await store.run("r")?.summary.event != "next" {
      try await Task.sleep(for: .milliseconds(10))
    }
    // As Absurd's clean-up of events does.
    try await queue.query("delete from absurd.e_default where payload is not null")
    try await store.send(0, as: "next", to: "r")
    while try await store.run("r")?.summary.event != "go" {
      try await Task.sleep(for: .milliseconds(10))
    }
    try await store.send(8, as: "go", to: "r")
    #expect(try await run.outcome.result == 8)
    worker.cancel()
    _ = await worker.outcome
  }

  @Test func `K8: more child flows than claims can bear are refused before any of them begins`()
    async throws
  {
    let queue = try await TestQueue()
    let store = queue.store()
    let outcome = await DurableOperation(Crowd(count: 10_001), named: "r", in: store).run()
    let error = try #require(outcome.error as? SequentialOperationError)
    let cause = try #require(error.cause as? DurableStepError)
    guard case .tooManyChildren(10_001, limit: 10_000, _) = cause.reason else {
      Issue.record("\(cause)")
      return
    }
    #expect(
      "\(cause)".contains(
        "10,001 child flows exceed the limit of 10,000 for postgresql://postgres@"), "\(cause)")
    #expect("\(cause)".contains("queue 'default'") && "\(cause)".contains("batched(by:)"))
    #expect(try await store.runs().count == 1)
  }
}

/// A flow with child flows of its own names.
private struct CrowdOfOwn: DurableSequence {
  let number: Int
  private var count = 0

  init(number: Int) { self.number = number }

  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    if let previous {
      count = previous.result(as: [String].self)?.count ?? -1
      return nil
    }
    return ParallelOperation(
      (0..<4).map { ChildFlow(Leaf(name: "leaf"), named: "leaf-\(number)-\($0)") })
  }

  func output(of steps: FinishedSteps) -> Int { count }
}

/// A flow of one child flow.
private struct Parent: DurableSequence {
  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    previous == nil ? ChildFlow(Everything(), named: "child") : nil
  }

  func output(of steps: FinishedSteps) -> [String] {
    steps.last(of: ChildFlow<Everything>.self) ?? []
  }
}

/// A flow whose child gets stuck.
private struct StuckParent: DurableSequence {
  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    previous == nil ? ChildFlow(StuckChild(), named: "child") : nil
  }

  func output(of steps: FinishedSteps) {}
}

/// A flow that gets stuck once, because its state cannot be encoded, and then waits for an event.
private struct StuckChild: DurableSequence {
  private var isBroken = false
  private static let hasBroken = Lock(false)

  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    if previous != nil { return nil }
    isBroken = Self.hasBroken.withLock { hasBroken in
      defer { hasBroken = true }
      return !hasBroken
    }
    return AwaitedEvent("go", as: Int.self)
  }

  func encode(to encoder: any Encoder) throws {
    struct Broken: Error {}
    if isBroken { throw Broken() }
    var container = encoder.singleValueContainer()
    try container.encode([String: String]())
  }

  init() {}
  init(from decoder: any Decoder) throws {}

  func output(of steps: FinishedSteps) -> Int? { steps.last(of: AwaitedEvent<Int>.self) }
}

/// A flow that waits twice for an event of one name.
private struct TwoWaits: DurableSequence {
  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    switch previous.map({ $0.index + 1 }) ?? 0 {
    case 0: AwaitedEvent("go", as: Int.self)
    case 1: AwaitedEvent("next", as: Int.self)
    case 2: AwaitedEvent("go", as: Int.self)
    default: nil
    }
  }

  func output(of steps: FinishedSteps) -> Int? { steps.last(of: AwaitedEvent<Int>.self) }
}
