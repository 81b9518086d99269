import CompositeOperations
import Foundation
import PostgresOperations
import RecordOperations
import TestSupport
import Testing

@Suite(
  .serialized, .enabled(if: PrivateServer.missingServer == nil), .timeLimit(.minutes(10)))
struct RecordHintTests {
  private static let server = PrivateServer(settings: ["autovacuum=off"])

  private func database(_ schema: RecordSchema) -> PostgresRecordDatabase {
    PostgresRecordDatabase(
      schema.address, PostgresRecordOptions(schema: schema.name, hinting: true))
  }

  @Test func `a commit of any program is a hint, and so is a new connection`() async throws {
    let schema = try await RecordSchema(on: Self.server)
    var hints = database(schema).hints(in: .default).makeAsyncIterator()
    // The first connection.
    #expect(await hints.next() != nil)
    let other = schema.database()
    try await other.save(record("Book", "1", ["a": 1]))
    #expect(await hints.next() != nil)
    try await schema.query("update \"Book\" set a = 2")
    #expect(await hints.next() != nil)
    #expect(try await other.record("Book", "1")?["a"] == 2)
    let ended = try await schema.query(
      """
      select count(pg_terminate_backend(pid)) from pg_stat_activity
      where query = 'LISTEN "record_changes"'
      """)
    #expect(ended == "1")
    #expect(await hints.next() != nil)
  }

  @Test func `a cancelled stream closes its connection`() async throws {
    let schema = try await RecordSchema(on: Self.server)
    let database = database(schema)
    let (started, signal) = AsyncStream.makeStream(of: Void.self)
    let task = Task { for await _ in database.hints(in: .default) { signal.yield() } }
    for await _ in started { break }
    task.cancel()
    await task.value
    // The server may notice the end of the connection later.
    let listeners = "select count(*) from pg_stat_activity where query like 'LISTEN%'"
    while try await schema.query(listeners) != "0" { await Task.yield() }
  }

  @Test func `a mirror of a PostgreSQL database follows its changes`() async throws {
    let schema = try await RecordSchema(on: Self.server)
    let remote = database(schema)
    let folder = try TemporaryFolder()
    let local = SQLiteRecordDatabase(folder.url.appendingPathComponent("local.sqlite").path)
    let mirror = RecordMirror(of: ["Book"], in: local, with: remote)
    try await remote.save(record("Book", "1", ["title": "Emma"]))
    var changes = mirror.changes.makeAsyncIterator()
    let run = mirror.following(atLeastEvery: .seconds(3_600)).start()
    guard case .saved(let first)? = await changes.next() else {
      Issue.record("the first change must be a saved record")
      return run.cancel()
    }
    #expect(first["title"] == "Emma")
    try await schema.query("update \"Book\" set title = 'Sanditon'")
    guard case .saved(let second)? = await changes.next() else {
      Issue.record("the second change must be a saved record")
      return run.cancel()
    }
    #expect(second["title"] == "Sanditon")
    try await local.save(record("Book", "2", ["title": "Persuasion"]))
    let other = schema.database()
    while try await other.record("Book", "2")?["title"] != "Persuasion" { await Task.yield() }
    run.cancel()
    _ = await run.lateOutcome
  }
  @Test func `a mirror fetches a delayed change without a further hint`() async throws {
    let schema = try await RecordSchema(on: Self.server)
    let remote = database(schema)
    let folder = try TemporaryFolder()
    let local = SQLiteRecordDatabase(folder.url.appendingPathComponent("local.sqlite").path)
    let mirror = RecordMirror(of: ["Book"], in: local, with: remote)
    try await remote.save(record("Book", "1", ["title": "Emma"]))
    var changes = mirror.changes.makeAsyncIterator()
    var states = mirror.states.makeAsyncIterator()
    let run = mirror.following(atLeastEvery: .seconds(3_600)).start()
    _ = await changes.next()
    let slow = try schema.connection()
    try slow.execute("BEGIN")
    try slow.execute("SELECT pg_current_xact_id()")
    try await schema.query("update \"Book\" set title = 'Sanditon'")
    while let state = await states.next() {
      if case .idle(let report?) = state, report.delayedSince != nil { break }
    }
    // It changes no record, so its end is no hint.
    try slow.execute("COMMIT")
    guard case .saved(let fetched)? = await changes.next() else {
      Issue.record("the change must be fetched")
      return run.cancel()
    }
    #expect(fetched["title"] == "Sanditon")
    while let state = await states.next() {
      if case .idle(let report?) = state, report.delayedSince == nil { break }
    }
    run.cancel()
    _ = await run.lateOutcome
  }

  @Test func `a remote number that no file can hold is rejected until it is replaced`() async throws
  {
    let schema = try await RecordSchema(on: Self.server)
    let remote = schema.database()
    let folder = try TemporaryFolder()
    let local = SQLiteRecordDatabase(folder.url.appendingPathComponent("local.sqlite").path)
    let mirror = RecordMirror(of: ["Book"], in: local, with: remote)
    try await remote.save(record("Book", "1", ["ratio": 0.5]), record("Book", "2", ["ratio": 1.5]))
    try await schema.query("update \"Book\" set ratio = 'NaN' where id = '1'")
    for _ in 0..<2 {
      _ = try await mirror.sync.run().get()
      #expect(try await mirror.rejections().map(\.key.name) == ["1"])
    }
    #expect(try await local.names(RecordQuery("Book")) == ["2"])
    try await schema.query("update \"Book\" set ratio = 2.5 where id = '1'")
    _ = try await mirror.sync.run().get()
    #expect(try await mirror.rejections().isEmpty)
    #expect(try await local.record("Book", "1")?["ratio"] == 2.5)
  }
}
