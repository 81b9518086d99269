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
}
