internal import CompositeOperations
internal import DurableOperations
internal import Foundation
internal import PostgresOperations
internal import TestSupport
internal import Testing

@Suite(.enabled(if: PrivateServer.whatIsMissing == nil), .timeLimit(.minutes(10))) struct ListTests
{
  /// Starts 50 runs in the same millisecond, and this at several times. PostgreSQL 18 makes the
  /// identifiers from its own clock, though.
  private static func start(times: Int, in store: RunStore, of queue: TestQueue) async throws {
    try await store.start(Leaf(name: "a"), named: "template")
    for time in 0..<times {
      try await queue.query(
        """
        select set_config('absurd.fake_now', '2026-01-01 00:00:0\(time)+00', false);
        select absurd.spawn_task('default', task_name, params, jsonb_build_object(
          'headers', headers, 'idempotency_key', '\(time)-' || number))
        from absurd.t_default, generate_series(1, 50) number where idempotency_key = 'template'
        """)
    }
    _ = try await store.cancel("template")
    try await store.forget("template")
  }

  /// Starts runs as fast as the database can.
  private static func start(_ count: Int, in store: RunStore, of queue: TestQueue) async throws {
    try await store.start(Leaf(name: "a"), named: "0")
    try await queue.query(
      """
      select absurd.spawn_task('default', task_name, params, jsonb_build_object(
        'headers', headers, 'idempotency_key', number::text))
      from absurd.t_default, generate_series(1, \(count - 1)) number where idempotency_key = '0'
      """)
    // As if the transaction had begun a second before it made the identifiers.
    try await queue.query(
      "update absurd.t_default set enqueue_at = enqueue_at - interval '1 second'")
  }

  @Test func `A8: on PostgreSQL, pages of runs contain each run once, the newest first`()
    async throws
  {
    let queue = try await TestQueue()
    let store = queue.store()
    try await Self.start(times: 6, in: store, of: queue)
    var runs: [RunSummary] = []
    var last: RunSummary?
    repeat {
      let page = try await store.runs(limit: 7, after: last)
      #expect(page.count <= 7)
      runs += page
      last = page.last
    } while last != nil
    #expect(Set(runs.map(\.id)).count == 300)
    #expect(runs.count == 300)
    #expect(runs.map(\.began) == runs.map(\.began).sorted(by: >))
    #expect(Set(runs.map(\.began)).count == 6)
    #expect(try await store.runs(RunSelection(text: "5-", limit: 2)).count == 2)
    for began in Set(runs.map(\.began)) {
      let since = Int64((began.timeIntervalSince1970 * 1_000).rounded())
      let selection = RunSelection(since: since)
      #expect(
        try await store.runs(selection).map(\.id) == runs.filter { $0.began >= began }.map(\.id))
      let counts = try await store.counts(of: selection)
      #expect(counts.map(\.count).reduce(0, +) == runs.count { $0.began >= began })
    }
    #expect(try await store.runs(RunSelection(since: .min)).count == 300)
    #expect(try await store.runs(RunSelection(since: .max)).isEmpty)
  }

  @Test func `A8: on PostgreSQL, no run is missing after one that has been deleted`()
    async throws
  {
    let queue = try await TestQueue()
    let store = queue.store()
    try await Self.start(100, in: store, of: queue)
    var found: Set<RunID> = []
    var forgotten: Set<RunID> = []
    var last: RunSummary?
    repeat {
      let page = try await store.runs(limit: 7, after: last)
      last = page.last { !found.contains($0.id) }
      found.formUnion(page.map(\.id))
      if let last {
        _ = try await store.cancel(last.id)
        try await store.forget(last.id)
        forgotten.insert(last.id)
      }
    } while last != nil
    #expect(found.count == 100)
    let rest = try await store.runs()
    #expect(rest.count == 100 - forgotten.count && !rest.contains { forgotten.contains($0.id) })
    #expect(forgotten.count > 0)
  }

  @Test func `A8: on PostgreSQL, the numbers of runs by flow and state are those of the list`()
    async throws
  {
    let queue = try await TestQueue()
    let store = queue.store()
    // Runs in each state, of which those that sleep are parked, due or stuck.
    let worker = DurableWorker(in: store, running: [Failing.self, Leaf.self, Everything.self])
      .start()
    _ = await DurableOperation(Failing(), named: "failing", in: store).run()
    for name in ["a", "b"] {
      _ = await DurableOperation(Leaf(name: name), named: RunID(name), in: store).run()
    }
    for name in ["parked", "due"] as [RunID] {
      try await store.start(Everything(), named: name)
      while try await store.run(name)?.summary.event != "go" {
        try await Task.sleep(for: .milliseconds(10))
      }
    }
    worker.cancel()
    _ = await worker.outcome
    try await store.send(7, as: "go", to: "due")
    for name in ["ready", "stuck", "running", "cancelled"] as [RunID] {
      try await store.start(Leaf(name: "leaf"), named: name)
    }
    try await store.cancel("cancelled")
    try await queue.query(
      """
      update absurd.t_default set state = 'failed' where idempotency_key = 'stuck';
      update absurd.t_default set state = 'running' where idempotency_key = 'running';
      """)
    for selection in [
      RunSelection(), RunSelection(flows: ["Leaf"]), RunSelection(states: [.ready, .parked]),
      RunSelection(text: "A"), RunSelection(parent: "parked"), RunSelection(text: "none"),
    ] {
      let runs = try await store.runs(selection)
      let counts = try await store.counts(of: selection)
      #expect(
        Dictionary(grouping: runs) { [$0.flow, $0.state.rawValue] }.mapValues(\.count)
          == Dictionary(
            uniqueKeysWithValues: counts.map { ([$0.flow, $0.state.rawValue], $0.count) }))
      #expect(counts.map(\.flow) == counts.map(\.flow).sorted())
    }
    let all = try await store.runs()
    let totals = try await store.totals()
    #expect(
      totals.map { RunCount(flow: $0.flow, state: $0.state, count: $0.count) }
        == (try await store.counts()))
    for total in totals {
      let runs = all.filter { ($0.flow, $0.state) == (total.flow, total.state) }
      let durations = runs.map { $0.ended?.timeIntervalSince($0.began) ?? 0 }.reduce(0, +)
      #expect(abs(Double(total.durations) - durations * 1_000) < 2, "\(total)")
      #expect(total.age >= 0)
    }
    let states = Set(try await store.counts().map(\.state))
    #expect(
      states == [.ready, .running, .parked, .stuck, .result, .error, .cancelled])
  }

  @Test(arguments: [Int64.min, -1, 0, 1 << 48, .max])
  func `A8: on PostgreSQL, a page after a run of any time is read`(began: Int64) async throws {
    let queue = try await TestQueue()
    let store = queue.store()
    try await Self.start(times: 1, in: store, of: queue)
    let selection = RunSelection(after: (began, "unknown"))
    #expect(try await store.runs(selection).count == (began > 0 ? 50 : 0))
  }
}

/// A flow that ends in an error.
private struct Failing: DurableSequence {
  struct Failure: Error {}

  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    previous == nil ? SimpleOperation { throw Failure() } : nil
  }

  func output(of steps: FinishedSteps) {}
}
