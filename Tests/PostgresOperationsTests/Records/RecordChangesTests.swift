import CompositeOperations
import Foundation
import PostgresOperations
import RecordOperations
import Testing

@Suite(
  .serialized, .enabled(if: PrivateServer.missingServer == nil), .timeLimit(.minutes(10)))
struct RecordChangesTests {
  private static let server = PrivateServer(settings: ["autovacuum=off"])

  private func schema() async throws -> RecordSchema { try await RecordSchema(on: Self.server) }

  @Test func `D13: a transaction that began earlier and commits later is not missed`() async throws
  {
    let schema = try await schema()
    let database = schema.database()
    try await database.save(record("Book", "first"))
    let start = try await database.allChanges(since: nil)
    #expect(start.changed.map(\.id.name) == ["first"])
    let slow = try schema.connection()
    try slow.execute("BEGIN")
    try slow.execute("INSERT INTO \"Book\" (id) VALUES ('slow')")
    try await database.save(record("Book", "quick"))
    // It is delayed, because a later position would exclude the open transaction.
    let during = try await database.allChanges(since: start.token)
    #expect(during.changed.isEmpty && during.token == start.token)
    let quick = try #require(try await database.record("Book", "quick")?.modified)
    #expect(during.delayedSince == quick)
    let fetched = try await FetchChanges(since: start.token, in: database).run().get()
    #expect(fetched.delayedSince == quick)
    try slow.execute("COMMIT")
    let after = try await database.allChanges(since: during.token)
    #expect(after.delayedSince == nil)
    #expect(Set(after.changed.map(\.id.name)) == ["slow", "quick"])
    #expect(try await database.allChanges(since: after.token).changed.isEmpty)
  }

  @Test func `D13: an open transaction without records delays changes, too`() async throws {
    let schema = try await schema()
    let database = schema.database()
    let start = try await database.save(record("Book", "1"))
    #expect(start.count == 1)
    let token = try await database.allChanges(since: nil).token
    let other = try schema.connection()
    try other.execute("BEGIN")
    try other.execute("SELECT pg_current_xact_id()")
    try await database.save(record("Book", "2"))
    #expect(try await database.allChanges(since: token).changed.isEmpty)
    // It may still write a record with its early number.
    try other.execute("INSERT INTO \"Book\" (id) VALUES ('late')")
    try other.execute("COMMIT")
    let names = try await database.allChanges(since: token).changed.map(\.id.name)
    #expect(Set(names) == ["2", "late"])
  }

  @Test func `D13: a reader beside 8 writers with open transactions misses no change`() async throws
  {
    let schema = try await schema()
    let database = schema.database(limits: RecordLimits(page: 100))
    try await database.save(record("Book", "0"))
    let pool = PostgresPool(to: schema.address, capacity: 8)
    let isFull = ProcessInfo.processInfo.environment["COMPOSITE_TEST_DEPTH"] == "full"
    let (name, transactions) = (schema.name, isFull ? 1_650 : 40)
    let committed = Lock<Set<String>>(["0"])
    let writers = (0..<8).map { writer in
      SimpleOperation {
        var random = OperationRandomness.seeded(UInt64(writer))
        for number in 0..<transactions {
          let names = (0..<Int.random(in: 1...20, using: &random)).map {
            "\(writer)-\(number)-\($0)"
          }
          let isRolledBack = Int.random(in: 0..<4, using: &random) == 0
          struct Rollback: Error {}
          do {
            try await pool.run { connection in
              try connection.transaction {
                for book in names {
                  _ = try connection.rows(
                    PostgresStatement(
                      "insert", "INSERT INTO \"\(name)\".\"Book\" (id) VALUES ($1::text)"),
                    [.text(book)])
                }
                if isRolledBack { throw Rollback() }
              }
            }
            committed.withLock { $0.formUnion(names) }
          } catch is Rollback {}
        }
      }
    }
    let isDone = Lock(false)
    let reader = SimpleOperation {
      var found: [String] = []
      var token: ChangeToken?
      while true {
        let wasDone = isDone.withLock(\.self)
        let page = try await database.allChanges(since: token)
        found += page.changed.map(\.id.name)
        token = page.token
        if wasDone { return found }
      }
    }
    let reading = reader.start()
    _ = try await ParallelOperation(writers).run().get()
    isDone.withLock { $0 = true }
    let found = try await reading.outcome.get()
    let missed = committed.withLock(\.self).subtracting(found)
    #expect(missed.isEmpty, "\(missed.count) of \(found.count + missed.count) are missed")
    #expect(Set(found) == committed.withLock(\.self))
    #expect(found.count >= (isFull ? 100_000 : 2_000), "\(found.count)")
    // Each is inserted once, and so is reported once.
    #expect(found.count == Set(found).count)
    await pool.close()
  }

  @Test func `changes by another program are reported, whatever its statement is`() async throws {
    let schema = try await schema()
    let database = schema.database()
    try await database.save(
      record("Book", "1", ["a": 1]), record("Book", "2", ["a": 2]), record("Book", "3", ["a": 3]))
    var token = try await database.allChanges(since: nil).token
    func changes(_ sql: String) async throws -> (changed: Set<String>, deleted: Set<String>) {
      try await schema.query(sql)
      let page = try await database.allChanges(since: token)
      token = page.token
      return (Set(page.changed.map(\.id.name)), Set(page.deleted.map(\.name)))
    }
    #expect(try await changes("update \"Book\" set a = 5 where id < '3'") == (["1", "2"], []))
    #expect(try await changes("update \"Book\" set id = 'x' where id = '1'") == (["x"], ["1"]))
    #expect(
      try await changes(
        "insert into \"Book\" values ('2'), ('4') on conflict (id) do update set a = 0")
        == (["2", "4"], []))
    #expect(try await changes("delete from \"Book\" where id in ('2', 'x')") == ([], ["2", "x"]))
    #expect(try await changes("truncate \"Book\"") == ([], ["3", "4"]))
  }

  @Test func `the deletions of a cascade are reported`() async throws {
    let schema = try await schema()
    let database = schema.database()
    let author = RecordID("Author", "a")
    try await database.save(
      record("Author", "a"),
      record("Book", "1", ["author": .reference(RecordReference(author, onDelete: .cascade))]),
      record("Film", "2", ["by": .reference(RecordReference(author, onDelete: .nullify))]))
    let start = try await database.allChanges(since: nil)
    try await database.delete(author)
    let page = try await database.allChanges(since: start.token)
    #expect(Set(page.deleted) == [author, RecordID("Book", "1")])
    #expect(page.changed.map(\.id) == [RecordID("Film", "2")])
    #expect(page.changed.first?["by"] == .null)
  }

  @Test func `a record that is deleted between two pages of all records is reported`() async throws
  {
    let schema = try await schema()
    let database = schema.database(limits: RecordLimits(page: 2))
    for name in ["1", "2", "3"] { try await database.save(record("Book", name)) }
    try await database.delete(RecordID("Book", "3"))
    try await database.save(record("Book", "4"))
    let first = try await database.changes(since: nil, in: .default)
    #expect(first.changed.map(\.id.name) == ["1", "2"] && first.hasMore)
    try await database.delete(RecordID("Book", "1"))
    let rest = try await database.allChanges(since: first.token)
    // The record 3 was deleted before the first page.
    #expect(rest.deleted.map(\.name) == ["1"])
    #expect(rest.changed.map(\.id.name) == ["4"])
  }

  @Test func `the token and the identity belong to one schema`() async throws {
    let (one, other) = (try await schema(), try await schema())
    let database = one.database()
    #expect(try await database.identity() == nil)
    let empty = try await database.changes(since: nil, in: .default)
    #expect(empty.changed.isEmpty && !empty.hasMore)
    for schema in [one, other] { try await schema.database().save(record("Book", "1")) }
    let identity = try #require(try await database.identity())
    #expect(try await one.database().identity() == identity)
    #expect(try await other.database().identity() != identity)
    let token = try await database.allChanges(since: empty.token).token
    let error = await recordError {
      _ = try await other.database().changes(since: token, in: .default)
    }
    guard case .tokenExpired? = error?.reason else {
      Issue.record("\(error as Any)")
      return
    }
  }

  @Test func `the records of another program's table count as changed once it is tracked`()
    async throws
  {
    let schema = try await schema()
    try await schema.create("create table t (id int primary key); insert into t values (1), (2)")
    let database = schema.database()
    let error = await recordError { _ = try await database.changes(since: nil, in: .default) }
    #expect(error?.description.contains("keepChanges(of:) for its tables (t)") == true)
    #expect(try await database.record("t", "1")?.tag == nil)
    try await database.keepChanges(of: ["t"])
    let start = try await database.allChanges(since: nil)
    #expect(Set(start.changed.map(\.id.name)) == ["1", "2"])
    #expect(try await database.record("t", "1")?.tag != nil)
    try await schema.query("delete from t where id = 2")
    #expect(try await database.allChanges(since: start.token).deleted.map(\.name) == ["2"])
    // Without triggers, changes are lost, so the token expires when the table is tracked again.
    try await schema.query("alter table t disable trigger user; insert into t values (3)")
    try await database.save(record("t", "4"))
    await #expect(throws: RecordError.self) {
      try await database.changes(since: start.token, in: .default)
    }
    let all = try await database.allChanges(since: nil).changed.map(\.id.name)
    #expect(Set(all) == ["1", "3", "4"])
  }

  @Test func `a schema of other programs reports changes once future tables are tracked`()
    async throws
  {
    let schema = try await schema()
    try await schema.create("create table t (id int primary key)")
    let database = schema.database()
    try await database.keepChanges(of: [])
    let start = try await database.allChanges(since: nil)
    #expect(start.changed.isEmpty)
    try await schema.query("insert into t values (1)")
    try await database.save(record("Book", "a"))
    #expect(try await database.allChanges(since: start.token).changed.map(\.id.type) == ["Book"])
    // Without tables there is nothing to prepare.
    let empty = try await self.schema()
    try await empty.database().keepChanges(of: [])
    #expect(
      try await empty.server.query("select to_regnamespace('\"\(empty.name)\"') is null") == "t")
  }
}
