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

  @Test(arguments: [Int64.min, -1, 0, 1 << 48, .max])
  func `A8: on PostgreSQL, a page after a run of any time is read`(began: Int64) async throws {
    let queue = try await TestQueue()
    let store = queue.store()
    try await Self.start(times: 1, in: store, of: queue)
    let selection = RunSelection(after: (began, "unknown"))
    #expect(try await store.runs(selection).count == (began > 0 ? 50 : 0))
  }
}
