import CompositeOperations
import CompositeOperationsTestKit
import RecordOperations
import Testing

@Suite(.timeLimit(.minutes(10))) struct QueryRecordsTests {
  private func filled(
    _ count: Int, limits: RecordLimits = RecordLimits(), capabilities: RecordCapabilities = .all
  ) async throws -> MemoryRecordDatabase {
    let database = MemoryRecordDatabase(limits: limits, capabilities: capabilities)
    for index in 0..<count {
      try await database.save(
        record("\(index)", ["pages": .integer(Int64(index)), "title": "title \(index % 10)"]))
    }
    return database
  }

  private func pages(_ records: [DatabaseRecord]) throws -> [Int] {
    try records.map { try $0.value("pages") }
  }

  private let order = [RecordOrder.ascending("pages")]

  /// A predecessor of this package lost all records after the first page.
  @Test(arguments: [0, 1, 2, 3, 4, 7, 12], [1, 2, 3, 4, 100])
  func `D5: all pages are returned`(count: Int, page: Int) async throws {
    let database = try await filled(count, limits: RecordLimits(page: page))
    let query = QueryRecords("Book", in: database, sortedBy: order)
    #expect(try pages(try await query.run().get()) == Array(0..<count))
    var sizes: [Int] = []
    for try await page in query.pages { sizes.append(page.count) }
    #expect(sizes.reduce(0, +) == count)
    #expect(sizes.allSatisfy { $0 <= page })
    var found: [Int] = []
    for try await record in query.records { found.append(try record.value("pages")) }
    #expect(found == Array(0..<count))
  }

  @Test(arguments: [0, 1, 2, 3, 4, 5, 6, 7, 8, 100])
  func `D5: a limit applies to the returned records and to the requests`(limit: Int) async throws {
    let base = try await filled(7, limits: RecordLimits(page: 3))
    let database = FaultyRecordDatabase(base) { _, _ in nil }
    let query = QueryRecords("Book", in: database, sortedBy: order, limit: limit)
    let found = try pages(try await query.run().get())
    #expect(found == Array(0..<min(7, limit)))
    #expect(database.requestCount == (min(7, limit) + 2) / 3)
  }

  @Test func `records match the predicate and have the requested order`() async throws {
    let database = try await filled(40)
    let query = QueryRecords(
      "Book", in: database, where: Field("pages") >= 10 && Field("title").hasPrefix("title 3"),
      sortedBy: [.descending("pages")], keys: ["pages"])
    let found = try await query.run().get()
    #expect(try pages(found) == [33, 23, 13])
    #expect(found[0].keys == ["pages"])
    #expect(try await QueryRecords("None", in: database).run().get().isEmpty)
  }

  @Test(
    arguments: [
      (!(Field("pages") == 1), [], RecordCapabilities.negation),
      (Field("pages") == 1 || Field("pages") == 2, [], .alternatives),
      (Field("title").contains("x"), [], .textSearch),
      (Field<[String]>("tags").includes("x"), [], .listSearch),
      (Field("pages") == 1, [.ascending("pages")], .sorting),
      (Field("a") == 1 && !(Field("b") == 2 && Field("c") == 3), [], .negation),
    ] as [(RecordPredicate, [RecordOrder], RecordCapabilities)])
  func `D5: a query that the database does not support is not sent`(
    predicate: RecordPredicate, order: [RecordOrder], missing: RecordCapabilities
  ) async throws {
    let base = try await filled(3, capabilities: RecordCapabilities.all.subtracting(missing))
    let database = FaultyRecordDatabase(base) { _, _ in nil }
    let query = QueryRecords("Book", in: database, where: predicate, sortedBy: order)
    let error = await query.run().error as? RecordQueryError
    #expect((error?.cause as? RecordError)?.name == "unsupported", "\(error as Any)")
    await #expect(throws: RecordError.self) { for try await _ in query.records {} }
    #expect(database.requestCount == 0)
    // A database with only this capability can run the query.
    let able = try await filled(3, capabilities: missing)
    #expect(
      await QueryRecords("Book", in: able, where: predicate, sortedBy: order).run().result != nil)
  }

  @Test func `a predicate with a value that no field can hold is refused`() async throws {
    let database = try await filled(1)
    for predicate in [
      Field("pages") == UInt64.max, Field("pages") > Double.nan, Field("pages") == [1, 2],
    ] {
      let error = await QueryRecords("Book", in: database, where: predicate).run().error
      let cause = (error as? RecordQueryError)?.cause as? RecordError
      #expect(cause?.name == "invalid" && "\(cause as Any)".contains("pages"), "\(error as Any)")
    }
  }

  @Test func `D5: a failed page is retried, and an error contains the records before it`()
    async throws
  {
    let base = try await filled(5, limits: RecordLimits(page: 2))
    let database = FaultyRecordDatabase(base) { _, number in
      switch number {
      case 2: .losingReply
      case 3: .refusing(RecordError(.unavailable("busy")))
      case 5...: .refusing(RecordError(.notPermitted("no")))
      default: nil
      }
    }
    let query = QueryRecords(
      "Book", in: database, sortedBy: order, retries: RetryPolicy(attempts: 3))
    let error = await query.run().error as? RecordQueryError
    #expect(try pages(error?.records ?? []) == [0, 1, 2, 3])
    #expect((error?.cause as? RecordError)?.name == "notPermitted")
    #expect("\(error as Any)".contains("after 4 records: not permitted: no"))
    #expect(database.requestCount == 5)
  }

  @Test func `D9: a cancelled query reports the records that it has received`() async throws {
    let base = try await filled(5, limits: RecordLimits(page: 2))
    let gate = Gate()
    let database = FaultyRecordDatabase(base) { _, number in
      if number == 2 { try? await gate.pass() }
      return nil
    }
    let run = QueryRecords("Book", in: database, sortedBy: order).start()
    await gate.waitForArrivals(1)
    run.cancel()
    gate.open()
    #expect(await run.outcome.isCancelled)
    let late = await run.lateOutcome?.error as? RecordQueryError
    #expect(late?.records.count == 2)
  }

  /// A database whose pages never end.
  private struct RepeatingDatabase: RecordDatabase {
    let limits = RecordLimits()
    let capabilities = RecordCapabilities.all
    func accountStatus() async throws -> AccountStatus { .available }
    func modify(_ batch: RecordBatch) async throws -> [RecordReply] { [] }
    func lookup(_ ids: [RecordID], keys: [String]?) async throws -> [RecordID: DatabaseRecord] {
      [:]
    }
    func query(
      _ query: RecordQuery, after cursor: RecordCursor?, atMost count: Int
    ) async throws -> RecordPage {
      RecordPage([DatabaseRecord("Book", "1")], cursor: RecordCursor([1]))
    }
    func changes(since token: ChangeToken?, in zone: RecordZone) async throws -> ChangePage {
      ChangePage(changed: [], deleted: [], token: ChangeToken("1"), hasMore: true)
    }
  }

  @Test func `D5: a database that repeats a cursor does not cause an endless loop`() async throws {
    let error = await QueryRecords("Book", in: RepeatingDatabase()).run().error as? RecordQueryError
    #expect((error?.cause as? RecordError)?.name == "invalid")
    let changes = FetchChanges(since: ChangeToken("0"), in: RepeatingDatabase())
    #expect((await changes.run().error as? RecordError)?.name == "invalid")
    // A reply that does not match its request is an error too.
    let saved = await SaveRecords([DatabaseRecord("Book")], in: RepeatingDatabase()).run().error
    #expect((saved as? RecordBatchError)?.failures.map(\.name) == ["invalid"])
  }

  @Test func `pages are requested in the given environment`() async throws {
    let database = try await filled(5, limits: RecordLimits(page: 2))
    let recorder = RecordingObserver()
    let pages = QueryRecords("Book", in: database).pages
      .requesting(in: OperationEnvironment(observers: [recorder]))
    for try await _ in pages {}
    let names = recorder.events.compactMap { event in
      if case .started = event.kind {
        event.path.names.count == 1 ? event.path.names[0] : nil
      } else {
        nil
      }
    }
    #expect(names == ["page 1", "page 2", "page 3"])
  }

  @Test func `found records are decoded as values of a type`() async throws {
    struct Book: Codable, Identifiable, RecordConvertible {
      let id: Int
      var pages: Int
      var title: String
    }
    let database = try await filled(3)
    let query = QueryRecords("Book", in: database, sortedBy: order).decoding(Book.self)
    #expect(try await query.run().get().map(\.title) == ["title 0", "title 1", "title 2"])
    try await database.save(record("x", ["pages": 9]))
    #expect(await query.run().error is FieldValueError)
  }
}
