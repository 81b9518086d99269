import CompositeOperations
import PostgresOperations
import RecordOperations
import TestSupport
import Testing

@Suite(
  .serialized, .enabled(if: PrivateServer.missingServer == nil), .timeLimit(.minutes(10)))
struct RecordSnapshotTests {
  @Test func `D10: the rows of a snapshot are those of its beginning, whatever others commit`()
    async throws
  {
    let schema = try await RecordSchema()
    let database = schema.database(limits: RecordLimits(page: 2))
    for number in 1...5 { try await database.save(record("Book", "\(number)", ["a": 1])) }
    let address = schema.address
    let change = """
      SET search_path = "\(schema.name)"; UPDATE "Book" SET a = 2;
      DELETE FROM "Book" WHERE id = '4'; INSERT INTO "Book" (id, a) VALUES ('6', 2)
      """
    let found = try await database.withSnapshot(of: RecordQuery("Book"), limit: nil) { rows in
      var found = try rows.next()
      let other = try PostgresConnection(to: address, timeout: .seconds(20))
      for sql in change.split(separator: ";") { try other.execute(String(sql)) }
      while true {
        let page = try rows.next()
        if page.isEmpty { return found }
        found += page
      }
    }
    #expect(found.map(\.id.name) == ["1", "2", "3", "4", "5"])
    #expect(found.allSatisfy { $0["a"] == 1 })
    #expect(try await database.names(RecordQuery("Book")) == ["1", "2", "3", "5", "6"])
  }

  @Test func `a snapshot has at most the rows of its limit, also those without names`() async throws
  {
    let schema = try await RecordSchema()
    try await schema.create(
      """
      create table t (id int primary key);
      create view v as select id as number from t;
      insert into t select generate_series(1, 7)
      """)
    let database = schema.database(limits: RecordLimits(page: 2))
    for (type, limit, count) in [
      ("t", nil, 7), ("t", 3, 3), ("t", 0, 0), ("v", nil, 7), ("v", 3, 3),
    ] as [(String, Int?, Int)] {
      let found = try await database.withSnapshot(of: RecordQuery(type), limit: limit) { rows in
        var count = 0
        while true {
          let page = try rows.next()
          if page.isEmpty { return count }
          count += page.count
        }
      }
      #expect(found == count, "\(type) \(limit as Any)")
    }
  }

  @Test func `a snapshot uses the tables as they are`() async throws {
    let schema = try await RecordSchema()
    let database = schema.database()
    try await database.save(record("Book", "1", ["a": 1, "b": 2]))
    #expect(try await database.names(RecordQuery("Book")) == ["1"])
    try await schema.query("alter table \"Book\" drop column a; alter table \"Book\" add c int")
    let found = try await database.withSnapshot(of: RecordQuery("Book"), limit: nil) {
      try $0.next()
    }
    #expect(found.map(\.keys) == [["b", "c"]])
    let columns = try await database.columns(of: "Book")
    #expect(columns.map(\.name) == ["id", "b", "c"])
  }

  @Test func `a cancelled snapshot runs its body to the end, and stops its statement at once`()
    async throws
  {
    let schema = try await RecordSchema()
    let database = schema.database(limits: RecordLimits(page: 1))
    try await database.save(record("Book", "1"), record("Book", "2"))
    let other = try schema.connection()
    try other.execute("BEGIN")
    try other.execute("LOCK TABLE \"Book\"")
    let hasEnded = Lock(false)
    let task = Task {
      try await database.withSnapshot(of: RecordQuery("Book"), limit: nil) { rows in
        defer { hasEnded.withLock { $0 = true } }
        return try rows.next()
      }
    }
    let waiting = "select count(*) from pg_locks where not granted"
    while try await schema.query(waiting) == "0" { await Task.yield() }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    let bodyHasEnded = hasEnded.withLock(\.self)
    #expect(bodyHasEnded)
    try other.execute("ROLLBACK")
    // The next request has another connection.
    #expect(try await database.names(RecordQuery("Book")) == ["1", "2"])
  }

  @Test func `a body without requests notices the cancellation by its check`() async throws {
    let schema = try await RecordSchema()
    let database = schema.database()
    try await database.save(record("Book", "1"))
    let (started, signal) = AsyncStream.makeStream(of: Void.self)
    let task = Task {
      try await database.withSnapshot(of: RecordQuery("Book"), limit: nil) { rows in
        _ = try rows.next()
        signal.finish()
        while true { try rows.check() }
      }
    }
    for await _ in started {}
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
  }
}
