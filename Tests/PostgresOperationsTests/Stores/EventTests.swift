internal import CompositeOperations
internal import DurableOperations
internal import PostgresOperations
internal import Testing

@Suite(.enabled(if: PrivateServer.whatIsMissing == nil), .timeLimit(.minutes(10))) struct EventTests
{
  @Test func `the events of a run are listed, the newest first`() async throws {
    let queue = try await TestQueue()
    let store = queue.store()
    for id in ["r", "r/2", "r2"] as [RunID] { try await store.start(Leaf(name: "leaf"), named: id) }
    for (event, id) in [("a/b", "r"), ("%@end", "r"), ("x", "r/2"), ("y", "r2")]
      as [(String, RunID)]
    {
      try await store.send([event], as: event, to: id)
    }
    try await store.cancel("r")
    let events = try await store.events(of: "r")
    #expect(events.map(\.name) == ["%@end", "a/b"])
    #expect(events.map(\.payload) == [#"["%@end"]"#, #"["a/b"]"#])
    #expect(events.allSatisfy { $0.sent > 1_600_000_000_000 })
    #expect(try await store.events(of: "r", last: 1).map(\.name) == ["%@end"])
    #expect(try await store.events(of: "none").isEmpty)
  }

  @Test func `a session that may not write is known`() async throws {
    let queue = try await TestQueue()
    #expect(try await queue.store().canWrite())
    let mark = queue.address.contains("?") ? "&" : "?"
    let options = "options=-c%20default_transaction_read_only%3Don"
    let reader = queue.store(at: queue.address + mark + options)
    #expect(try await !reader.canWrite())
    #expect(try await reader.runs().isEmpty)
  }

  /// Waits until a run waits for an event without its process.
  private func park(_ run: RunID, in store: RunStore) async throws {
    let worker = DurableWorker(in: store, running: [LimitedWait.self]).start()
    while try await store.run(run)?.summary.event != "go" {
      try await Task.sleep(for: .milliseconds(10))
    }
    worker.cancel()
    _ = await worker.outcome
  }

  @Test func `K1: the limit decides about an event, and not the time at which a process looks`()
    async throws
  {
    let queue = try await TestQueue()
    let store = queue.store()
    let runs = ["late", "early"] as [RunID]
    for run in runs {
      try await store.start(LimitedWait(), named: run)
      try await park(run, in: store)
    }
    for run in runs { #expect(try await store.send(5, as: "go", to: run)) }
    try await queue.query(
      """
      update absurd.e_default set emitted_at = now() + interval '1 day'
      where starts_with(event_name, 'late/')
      """)
    let worker = DurableWorker(in: store, running: [LimitedWait.self]).start()
    let late = try await store.start(LimitedWait(), named: runs[0]).outcome
    let error = late.error as? SequentialOperationError
    #expect(error?.cause is TimeoutError, "\(late)")
    let early = try await store.start(LimitedWait(), named: runs[1]).outcome
    #expect(early.result == 5, "\(early)")
    worker.cancel()
    _ = await worker.outcome
  }

  @Test func `K1: an event that replaces another one keeps its time`() async throws {
    let queue = try await TestQueue()
    let store = queue.store()
    try await store.start(LimitedWait(), named: "w")
    try await store.send(1, as: "go", to: "w")
    try await queue.query("update absurd.e_default set emitted_at = 'epoch'")
    #expect(try await store.send(2, as: "go", to: "w", replacing: true))
    let events = try await store.events(of: "w")
    #expect(events.map(\.payload) == ["2"] && events.map(\.sent) == [0])
  }
}

private struct LimitedWait: DurableSequence {
  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    previous == nil ? AwaitedEvent("go", as: Int.self, within: .seconds(3_600)) : nil
  }

  func output(of steps: FinishedSteps) -> Int? { steps.last(of: AwaitedEvent<Int>.self) }
}
