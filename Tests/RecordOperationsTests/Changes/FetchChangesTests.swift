import CompositeOperations
import RecordOperations
import Testing

@Suite struct FetchChangesTests {
  private func filled(_ count: Int, page: Int) async throws -> MemoryRecordDatabase {
    let database = MemoryRecordDatabase(limits: RecordLimits(page: page))
    for index in 0..<count { try await database.save(record("\(index)", ["a": 0])) }
    return database
  }

  @Test(arguments: [1, 2, 3, 100])
  func `D6: all pages are fetched, with the latest state of each record`(page: Int) async throws {
    let database = try await filled(5, page: page)
    let all = try await FetchChanges(in: database).run().get()
    #expect(all.startsOver)
    #expect(all.changed.map(\.id.name) == ["0", "1", "2", "3", "4"])
    try await database.save(record("1", ["a": 1]))
    try await database.save(record("5", ["a": 1]))
    _ = try await DeleteRecords([id("0"), id("5")], in: database).run().get()
    try await database.save(record("1", ["a": 2]))
    let since = try await FetchChanges(since: all.token, in: database).run().get()
    #expect(!since.startsOver)
    #expect(since.changed.map(\.id.name) == ["1"] && since.changed[0]["a"] == 2)
    #expect(Set(since.deleted) == [id("0"), id("5")])
    let none = try await FetchChanges(since: since.token, in: database).run().get()
    #expect(none.changed.isEmpty && none.deleted.isEmpty && none.token == since.token)
  }

  @Test func `a record that is deleted and saved again between two pages is returned as changed`()
    async throws
  {
    let base = try await filled(3, page: 1)
    let start = try await FetchChanges(in: base).run().get().token
    for name in ["0", "1", "2"] { try await base.save(record(name, ["a": 1])) }
    let database = FaultyRecordDatabase(base) { _, number in
      if number == 2 {
        _ = try? await DeleteRecords([RecordID("Book", "0")], in: base).run().get()
      }
      if number == 4 { _ = try? await base.save(record("0", ["a": 9])) }
      return nil
    }
    let changes = try await FetchChanges(since: start, in: database).run().get()
    #expect(changes.changed.map(\.id.name) == ["1", "2", "0"])
    #expect(changes.changed.last?["a"] == 9)
    #expect(changes.deleted.isEmpty)
  }

  @Test func `D6: after an expired token, all records are fetched again`() async throws {
    let database = try await filled(4, page: 2)
    let token = try await FetchChanges(in: database).run().get().token
    _ = try await DeleteRecords([id("0")], in: database).run().get()
    database.forgetDeletions()
    let changes = try await FetchChanges(since: token, in: database).run().get()
    #expect(changes.startsOver)
    #expect(changes.changed.map(\.id.name) == ["1", "2", "3"])
    // The token can also expire between two pages.
    let middle = FaultyRecordDatabase(try await filled(4, page: 2)) { _, number in
      number == 2 ? .refusing(RecordError(.tokenExpired)) : nil
    }
    let again = try await FetchChanges(in: middle).run().get()
    #expect(again.startsOver && again.changed.count == 4)
    // A second expiry without a page in between is an error.
    let never = FaultyRecordDatabase(database) { _, _ in .refusing(RecordError(.tokenExpired)) }
    let error = await FetchChanges(since: token, in: never).run().error as? RecordError
    #expect(error?.name == "tokenExpired" && never.requestCount == 2)
    // Tokens that expire after every first page do not cause an endless loop.
    let quick = FaultyRecordDatabase(try await filled(4, page: 2)) { request, _ in
      if case .changes(.some) = request { .refusing(RecordError(.tokenExpired)) } else { nil }
    }
    let lost = await FetchChanges(in: quick).run().error as? RecordError
    #expect(lost?.name == "tokenExpired" && quick.requestCount == 10)
  }

  /// A database that is asked for changes, and answers each request with the next of some pages.
  private func database(
    answering pages: [(token: String, hasMore: Bool, isEmpty: Bool)]
  ) -> PagedChanges {
    PagedChanges(
      pages.enumerated().map { number, page in
        ChangePage(
          changed: page.isEmpty ? [] : [DatabaseRecord("Book", "\(number)")], deleted: [],
          token: ChangeToken(page.token), hasMore: page.hasMore)
      })
  }

  @Test func `D6: a position that is repeated, with more to follow, is an error`() async throws {
    let same = database(answering: [("a", true, false), ("a", true, false)])
    let circle = database(
      answering: [("a", true, false), ("b", true, false), ("a", true, false)])
    let empty = database(answering: [("a", true, false), ("a", true, true)])
    for database in [same, circle, empty] {
      let error = await FetchChanges(in: database).run().error as? RecordError
      #expect(error?.description.contains("(a)") == true, "\(error as Any)")
      #expect(database.rest.isEmpty)
    }
    // The last page may end where it began.
    let last = database(answering: [("a", true, false), ("a", false, true)])
    #expect(try await FetchChanges(in: last).run().get().changed.count == 1)
    let none = database(answering: [("a", false, true)])
    let unchanged = try await FetchChanges(since: ChangeToken("a"), in: none).run().get()
    #expect(unchanged.token == ChangeToken("a"))
  }

  private final class LocalCopy: Sendable {
    let state = Lock<(records: [RecordID: DatabaseRecord], token: ChangeToken?)>(([:], nil))

    func apply(_ page: FetchedChanges) {
      state.withLock { state in
        if page.startsOver { state.records = [:] }
        for record in page.changed { state.records[record.id] = record }
        for id in page.deleted { state.records[id] = nil }
        state.token = page.token
      }
    }

    var token: ChangeToken? { state.withLock { $0.token } }
    var names: [String] { state.withLock { $0.records.keys.map(\.name).sorted() } }
  }

  @Test func `D6: pages are applied one by one, and an interrupted fetch loses nothing`()
    async throws
  {
    let database = try await filled(5, page: 2)
    let copy = LocalCopy()
    let broken = FaultyRecordDatabase(database) { _, number in
      number == 3 ? .refusing(RecordError(.notPermitted("no"))) : nil
    }
    let first = FetchChanges(in: broken).applying { copy.apply($0) }
    #expect((await first.run().error as? RecordError)?.name == "notPermitted")
    #expect(copy.names == ["0", "1", "2", "3"])
    // Fetches the rest from the token of the last applied page.
    let rest = FaultyRecordDatabase(database) { _, _ in nil }
    let token = try await FetchChanges(since: copy.token, in: rest).applying { copy.apply($0) }
      .run().get()
    #expect(copy.names == ["0", "1", "2", "3", "4"])
    #expect(copy.token == token)
    #expect(rest.requestCount == 1)
    // An expired token replaces the copy.
    _ = try await DeleteRecords([id("0"), id("1")], in: database).run().get()
    database.forgetDeletions()
    _ = try await FetchChanges(since: token, in: database).applying { copy.apply($0) }.run().get()
    #expect(copy.names == ["2", "3", "4"])
  }

  @Test func `an error thrown while a page is applied ends the run`() async throws {
    struct Full: Error {}
    let database = FaultyRecordDatabase(try await filled(5, page: 2)) { _, _ in nil }
    let apply = FetchChanges(in: database).applying { _ in throw Full() }
    #expect(await apply.run().error is Full)
    #expect(database.requestCount == 1)
  }

  @Test func `failed requests are retried`() async throws {
    let database = FaultyRecordDatabase(try await filled(5, page: 2)) { _, number in
      number % 2 == 1 ? .losingReply : nil
    }
    let retries = RetryPolicy(attempts: 2)
    let changes = try await FetchChanges(in: database, retries: retries).run().get()
    #expect(changes.changed.count == 5)
    #expect(database.requestCount == 6)
  }

  @Test func `a database that does not record changes receives no request`() async throws {
    let base = MemoryRecordDatabase(capabilities: [.atomicBatches])
    let database = FaultyRecordDatabase(base) { _, _ in nil }
    let error = await FetchChanges(in: database).run().error as? RecordError
    #expect(error?.name == "unsupported" && database.requestCount == 0)
  }
}

/// A database whose changes are given pages.
private final class PagedChanges: RecordDatabase {
  private let base = MemoryRecordDatabase()
  private let pages: Lock<[ChangePage]>

  init(_ pages: [ChangePage]) { self.pages = Lock(pages) }

  var rest: [ChangePage] { pages.withLock(\.self) }
  var limits: RecordLimits { base.limits }
  var capabilities: RecordCapabilities { base.capabilities }

  func accountStatus() async throws -> AccountStatus { .available }
  func identity() async throws -> String? { nil }

  func modify(_ batch: RecordBatch) async throws -> [RecordReply] { try await base.modify(batch) }

  func lookup(
    _ ids: [RecordID], keys: [String]?
  ) async throws -> [RecordID: DatabaseRecord] {
    try await base.lookup(ids, keys: keys)
  }

  func query(
    _ query: RecordQuery, after cursor: RecordCursor?, atMost count: Int
  ) async throws -> RecordPage {
    try await base.query(query, after: cursor, atMost: count)
  }

  func changes(since token: ChangeToken?, in zone: RecordZone) async throws -> ChangePage {
    pages.withLock { $0.removeFirst() }
  }
}
