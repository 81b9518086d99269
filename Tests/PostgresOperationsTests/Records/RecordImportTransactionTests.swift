import CompositeOperations
import CompositeOperationsTestKit
import Foundation
import PostgresOperations
import PostgresTestSupport
import RecordOperations
import Testing

/// The transactions of imports: all rows or none, whatever ends the import.
@Suite(
  .serialized, .enabled(if: PrivateServer.missingServer == nil), .timeLimit(.minutes(10)))
struct RecordImportTransactionTests {
  /// Its open transactions would delay the changes of other tests.
  private static let server = PrivateServer()
  private static let table = "create table t (a int primary key); insert into t values (0)"

  @Test func `D11: one bad row above the limit rolls back the import into a served table`()
    async throws
  {
    let fixture = try await ImportFixture(Self.table, on: Self.server)
    let text = "a\n1\nx\n2\n0\n3\nz\n"
    #expect(
      await importProblems { try await fixture.load(text, skips: 2) }.map { $0.prefix(7) }
        == ["refused", "line 3:", "line 5:", "line 7:"])
    #expect(try await fixture.rows("select a from t") == ["0"])
    #expect(try await fixture.load(text, skips: 3).recordCount == 3)
  }

  @Test func `D11: a failed import of several transactions leaves whole ones in a served table`()
    async throws
  {
    let fixture = try await ImportFixture(Self.table, on: Self.server)
    let text = "a\n" + (1...1_000).map { $0 == 777 ? "bad\n" : "\($0)\n" }.joined()
    let error = await #expect(throws: RecordImportError.self) {
      try await fixture.load(text, rowsPerTransaction: 100)
    }
    #expect(error?.recordCount == 700 && error?.problems.map(\.line) == [778])
    #expect(error?.description.hasSuffix("; 700 records were imported before") == true)
    #expect(try await fixture.rows("select count(*) from t") == ["701"])
    let left = "a\n" + (701...1_003).map { "\($0)\n" }.joined()
    #expect(try await fixture.load(left, rowsPerTransaction: 100).recordCount == 303)
  }

  @Test func `D11: a cancelled import leaves a served table unchanged`() async throws {
    let fixture = try await ImportFixture(Self.table, on: Self.server)
    let database = fixture.schema.database(connections: 1)
    let writer = try fixture.pipe()
    try writer.write(contentsOf: Data("a\n1\n2\n".utf8))
    let (reports, report) = AsyncStream.makeStream(of: Void.self)
    let run = fixture.operation(in: database)
      .observed(by: ProgressSignal { report.yield() }).start()
    for await _ in reports { break }
    // The rows are inserted, but other programs do not see them.
    #expect(try await fixture.rows("select a from t") == ["0"])
    run.cancel()
    #expect(await run.outcome.isCancelled)
    _ = await run.lateOutcome
    #expect(try await fixture.rows("select a from t") == ["0"])
    // The next request has another connection.
    #expect(try await database.names(RecordQuery("t")) == ["0"])
    try writer.close()
  }

  @Test func `D11: an import that waits for a lock ends when it is cancelled`() async throws {
    let fixture = try await ImportFixture(Self.table, on: Self.server)
    let other = try fixture.schema.connection()
    try other.execute("BEGIN")
    try other.execute("INSERT INTO t VALUES (1)")
    try fixture.write(Array("a\n1\n".utf8))
    let run = fixture.operation().start()
    let waiting = "select count(*) from pg_locks where not granted"
    while try await fixture.rows(waiting) == ["0"] { await Task.yield() }
    run.cancel()
    #expect(await run.outcome.isCancelled)
    _ = await run.lateOutcome
    try other.execute("COMMIT")
    #expect(try await fixture.rows("select a from t order by a") == ["0", "1"])
  }

  @Test func `D11: an import cancelled between transactions reports its rows in a served table`()
    async throws
  {
    let fixture = try await ImportFixture(Self.table, on: Self.server)
    let writer = try fixture.pipe()
    try writer.write(contentsOf: Data("a\n1\n2\n3\n4\n\"x\"y\n5\n".utf8))
    let (reports, report) = AsyncStream.makeStream(of: Void.self)
    let run = fixture.operation(skips: 1, rowsPerTransaction: 2)
      .observed(by: ProgressSignal { report.yield() }).start()
    // The last row begins a third transaction, which waits for another row.
    var count = 0
    for await _ in reports {
      count += 1
      if count == 3 { break }
    }
    run.cancel()
    #expect(await run.outcome.isCancelled)
    let error = try #require(await run.lateOutcome?.error as? RecordImportError)
    #expect(error.cause is CancellationError && error.recordCount == 4)
    #expect("\(error)" == "\(fixture.file): cancelled; 4 records were imported before")
    try writer.close()
    #expect(try await fixture.rows("select count(*) from t") == ["5"])
  }

  @Test func `D11: an import is made as a whole or not at all, whichever reply is lost`()
    async throws
  {
    let fixture = try await ImportFixture("create table t (a int, b text)", on: Self.server)
    let proxy = try CuttingProxy(in: Self.server.folder)
    // Two insertions, the second of which has a bad row.
    let text = "a,b\n" + (1...2_500).map { "\($0 == 2_400 ? "1e10" : "\($0)"),x\n" }.joined()
    try fixture.write(Array(text.utf8))
    var reasons: [String] = []
    for count in 0... {
      let database = fixture.schema.database(
        at: fixture.schema.address + "&port=5433", connections: 1)
      proxy.cut(after: count)
      let outcome = await fixture.operation(in: database, skips: 1).run()
      await database.close()
      let rows = try await fixture.rows("select count(*) from t")
      switch (outcome.error as? RecordError)?.reason {
      case .unavailable?:
        #expect(rows == ["0"], "\(count)")
        reasons.append("unavailable")
      case .replyLost?:
        #expect(rows == ["2499"], "\(count)")
        reasons.append("replyLost")
        try await fixture.schema.query("truncate t")
      default:
        #expect(outcome.result?.recordCount == 2_499, "\(outcome)")
        #expect(
          reasons.last == "replyLost" && reasons.dropLast().allSatisfy { $0 == "unavailable" })
        #expect(reasons.count >= 6, "\(reasons)")
        return
      }
    }
  }

  @Test func `objects with different keys are sent together`() async throws {
    let fixture = try await ImportFixture("create table t (a int, b int)", on: Self.server)
    let proxy = try CuttingProxy(in: Self.server.folder)
    let database = fixture.schema.database(
      at: fixture.schema.address + "&port=5433", connections: 1)
    let lines = (1...1_000).map { $0 % 2 == 0 ? "{\"a\":\($0)}\n" : "{\"b\":\($0),\"a\":1}\n" }
    try fixture.write(Array(lines.joined().utf8))
    let before = proxy.replies
    let imported = try await fixture.operation(in: database, as: .jsonLines).run().get()
    #expect(imported.recordCount == 1_000)
    // The results of the statements arrive in several parts.
    #expect(proxy.replies - before < 100, "\(proxy.replies - before)")
    await database.close()
    #expect(try await fixture.rows("select count(*), count(b) from t") == ["1000|500"])
  }

  @Test func `a transaction uses the table as it is`() async throws {
    let fixture = try await ImportFixture(
      "create table t (a smallint, b int default 7)", on: Self.server)
    let writer = try fixture.pipe()
    try writer.write(contentsOf: Data("a\n1\n2\n".utf8))
    let (reports, report) = AsyncStream.makeStream(of: Void.self)
    let run = fixture.operation(rowsPerTransaction: 2)
      .observed(by: ProgressSignal { report.yield() }).start()
    for await _ in reports { break }
    // Waits until the transaction has ended.
    try await fixture.schema.query("alter table t alter a type bigint; alter table t drop b")
    try writer.write(contentsOf: Data("5000000000\n".utf8))
    try writer.close()
    #expect(await run.outcome.result?.recordCount == 3)
    #expect(try await fixture.rows("select * from t order by a") == ["1", "2", "5000000000"])
  }

  @Test func `a table does not change while a transaction inserts rows`() async throws {
    let fixture = try await ImportFixture(Self.table, on: Self.server)
    let writer = try fixture.pipe()
    try writer.write(contentsOf: Data("a\n1\n".utf8))
    let (reports, report) = AsyncStream.makeStream(of: Void.self)
    let run = fixture.operation().observed(by: ProgressSignal { report.yield() }).start()
    for await _ in reports { break }
    let change = "set lock_timeout = '1ms'; alter table t rename a to b"
    await #expect(throws: (any Error).self) { try await fixture.schema.query(change) }
    try writer.write(contentsOf: Data("2\n".utf8))
    try writer.close()
    #expect(await run.outcome.result?.recordCount == 2)
  }

  @Test func `100,000 rows are imported, and their bytes are reported`() async throws {
    let fixture = try await ImportFixture(
      "create table t (a int primary key, b text, c float8)", on: Self.server)
    let text = "a,b,c\n" + (1...100_000).map { "\($0),name \($0),\($0).5\n" }.joined()
    try fixture.write(Array(text.utf8))
    let observer = RecordingObserver()
    let run = await fixture.operation().observed(by: observer).run()
    #expect(run.result?.recordCount == 100_000)
    let size = text.utf8.count
    let counts = observer.events.compactMap { event -> Int? in
      if case .progressed(let done, size, "bytes") = event.kind { done } else { nil }
    }
    #expect(counts == counts.sorted() && counts.count >= 2 && counts.last == size)
    #expect(
      try await fixture.rows("select count(*), sum(a), sum(c), max(b) from t")
        == ["100000|5000050000|5000100000|name 99999"])
    // All rows exist, so nothing is counted or changed.
    let again = await fixture.operation(existing: .updated).run()
    #expect(again.result?.recordCount == 0)
  }

  @Test func `a file that cannot be read is an error before a connection is opened`() async throws {
    let database = PostgresRecordDatabase("postgresql://user@/none?host=/no/such/folder")
    let load = ImportServedRows("t", into: database, from: "/no/file", as: .csv)
    #expect((await load.run().error as? RecordFileError)?.path == "/no/file")
    let fixture = try await ImportFixture(Self.table, on: Self.server)
    try fixture.write(Array("a\n1\n".utf8))
    let error = await fixture.operation(in: database).run().error as? RecordError
    guard case .unavailable? = error?.reason else {
      Issue.record("\(error as Any)")
      return
    }
  }
}
