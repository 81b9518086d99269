import CompositeOperations
import Foundation
import RecordOperations
import Testing

@Suite struct SQLiteChangesTests {
  private func make(_ folder: TemporaryFolder, page: Int = 1_000) -> SQLiteRecordDatabase {
    SQLiteRecordDatabase(folder.file(), SQLiteOptions(limits: RecordLimits(page: page)))
  }

  @Test func `changes are returned in order, page by page`() async throws {
    let folder = try TemporaryFolder()
    let database = make(folder, page: 3)
    let records = (0..<8).map { DatabaseRecord("Book", "\($0)") }
    for record in records { try await database.save(record) }
    let first = try await database.changes(since: nil, in: .default)
    #expect(first.changed.map(\.id.name) == ["0", "1", "2"] && first.hasMore)
    let all = try await database.allChanges(since: nil)
    #expect(all.changed.map(\.id) == records.map(\.id) && all.deleted == [])
    #expect(all.changed == (try await database.all(RecordQuery("Book"))))
    try await database.save(records[2], policy: .allKeys)
    _ = try await database.delete(records[5].id)
    try await database.save(records[0], policy: .allKeys)
    let next = try await database.allChanges(since: all.token)
    #expect(next.changed.map(\.id.name) == ["2", "0"] && next.deleted == [records[5].id])
    let none = try await database.allChanges(since: next.token)
    #expect(none.changed.isEmpty && none.deleted.isEmpty && none.token == next.token)
    // A fetch without a token does not report deletions.
    #expect(try await database.allChanges(since: nil).deleted == [])
  }

  @Test func `a name that changes only in case identifies another record`() async throws {
    let folder = try TemporaryFolder()
    try execute(
      [
        "CREATE TABLE Book (name TEXT PRIMARY KEY COLLATE NOCASE, a INTEGER)",
        "INSERT INTO Book VALUES ('a', 1)",
      ], in: folder.file())
    let database = make(folder)
    try await database.keepChanges(of: ["Book"])
    let token = try await database.allChanges(since: nil).token
    try execute(["UPDATE Book SET name = 'A'"], in: folder.file())
    let changes = try await database.allChanges(since: token)
    #expect(changes.changed.map(\.id.name) == ["A"] && changes.deleted.map(\.name) == ["a"])
  }

  @Test func `triggers of other programs are kept, whatever their names`() async throws {
    let folder = try TemporaryFolder()
    try execute(
      [
        "CREATE TABLE Book (name TEXT PRIMARY KEY, a)", "CREATE TABLE Log (a)",
        """
        CREATE TRIGGER _record_mine AFTER INSERT ON Book BEGIN INSERT INTO Log VALUES (NEW.a); END
        """,
      ], in: folder.file())
    let database = make(folder)
    try await database.keepChanges(of: ["Book"])
    try await database.save(record("1", ["a": 7]))
    #expect(try await database.all(RecordQuery("Log")).map { $0["a"] } == [7])
  }

  @Test func `UTF-16 texts can be found, but not compared by order`() async throws {
    let folder = try TemporaryFolder()
    try execute(
      [
        "PRAGMA encoding = 'UTF-16le'", "CREATE TABLE Book (name TEXT PRIMARY KEY, a, n INTEGER)",
        "INSERT INTO Book VALUES ('1', 'š', 1), ('2', 'a', 2)",
      ], in: folder.file())
    let database = make(folder)
    func names(_ query: RecordQuery) async throws -> [String] {
      try await database.all(query, page: 1).map(\.id.name)
    }
    #expect(try await names(RecordQuery("Book")) == ["1", "2"])
    #expect(try await names(RecordQuery("Book", where: Field("a") == "š")) == ["1"])
    #expect(try await names(RecordQuery("Book", where: Field("a").contains("a"))) == ["2"])
    #expect(try await names(RecordQuery("Book", sortedBy: [.descending("n")])) == ["2", "1"])
    #expect(try await names(RecordQuery("Book", where: Field("n") > 1)) == ["2"])
    for query in [
      RecordQuery("Book", where: Field("a").hasPrefix("a")),
      RecordQuery("Book", where: Field("a") < "b"),
      RecordQuery("Book", sortedBy: [.ascending("a")]),
    ] {
      let (code, text) = await failure { _ = try await names(query) }
      #expect(code == "unsupported" && text.contains("UTF-16"))
    }
  }

  /// The records have no tags, so the values that were read are compared.
  @Test(arguments: [false, true])
  func `a record of another program's table is saved unless it has changed since the read`(
    inContext: Bool
  ) async throws {
    let folder = try TemporaryFolder()
    try execute(
      [
        "CREATE TABLE Book (name TEXT PRIMARY KEY, pages INTEGER, lent, twice AS (pages * 2))",
        "INSERT INTO Book VALUES ('1', 100, 0), ('2', 200, NULL), ('3', 900, 0)",
      ], in: folder.file())
    let database = make(folder)
    let query = RecordQuery("Book", where: Field("pages") < 300)
    let lendAll: AnyOperation<[DatabaseRecord]> =
      if inContext {
        AnyOperation(
          ContextOperation(in: RecordContainer(database)) { context in
            for var book in try await context.records(query) {
              book["lent"] = 1
              context.set(book)
            }
            return .save
          }.map(\.saved))
      } else {
        AnyOperation(
          QueryRecords(query, in: database).then { books in
            SaveRecords(
              books.map { book in
                var book = book
                book["lent"] = 1
                return book
              }, in: database)
          })
      }
    let saved = try await lendAll.run().get()
    #expect(saved.map { $0["lent"] } == [1, 1] && saved.allSatisfy { $0.tag != nil })
    #expect(try await database.all(RecordQuery("Book")).map { $0["lent"] } == [1, 1, 0])
    // A record that was created here, not read, conflicts with the stored one.
    let refusal = await database.refusal(of: record("3", ["lent": 1]))
    #expect(refusal.code == "conflict")
  }

  /// The tag allows the next save to detect conflicts.
  @Test(arguments: [false, true])
  func `a conflict in another program's table contains the record with its first tag`(
    isAtomic: Bool
  ) async throws {
    let folder = try TemporaryFolder()
    try execute(
      [
        "CREATE TABLE Book (name TEXT PRIMARY KEY, a)",
        "INSERT INTO Book VALUES ('1', 1), ('2', 1)",
      ],
      in: folder.file())
    let database = make(folder)
    var book = try #require(try await database.record(RecordID("Book", "1")))
    #expect(book.tag == nil)
    book["a"] = 2
    try execute(["UPDATE Book SET a = 1.5 WHERE name = '1'"], in: folder.file())
    let error = try #require(
      await SaveRecords([book], in: database, atomic: isAtomic).run().error as? RecordBatchError)
    guard case .conflict(var now)? = error.failures.first?.reason else {
      Issue.record("\(error)")
      return
    }
    #expect(now.tag != nil && now["a"] == 1.5)
    #expect(try await database.record(now.id) == now)
    // Changes by others are detected now.
    try execute(["UPDATE Book SET a = 3 WHERE name = '1'"], in: folder.file())
    now["a"] = 2
    let again = await SaveRecords([now], in: database, atomic: isAtomic).run().error
    #expect((again as? RecordBatchError)?.failures.map(\.name) == ["conflict"])
    // A context that merges can save.
    let container = RecordContainer(database)
    let work = ContextOperation(in: container, merging: .objectWins) { context in
      for var book in try await context.records(RecordQuery("Book")) {
        book["a"] = 4
        context.set(book)
      }
      return .save
    }
    #expect(try await work.run().get().saved.map { $0["a"] } == [4, 4])
  }

  static let statements: [(sql: String, changed: [String], deleted: [String])] = [
    ("DELETE FROM Book", [], ["1", "2", "3"]),
    ("DELETE FROM Book WHERE id = '2'", [], ["2"]),
    ("UPDATE Book SET number = 9 WHERE id <> '2'", ["1", "3"], []),
    ("UPDATE Book SET id = 'new' WHERE id = '2'", ["new"], ["2"]),
    ("UPDATE Book SET id = id + 1", ["2", "3", "4"], ["1"]),
    ("INSERT INTO Book (id) VALUES ('4')", ["4"], []),
    ("INSERT OR REPLACE INTO Book (id) VALUES ('2')", ["2"], []),
    ("INSERT OR IGNORE INTO Book (id) VALUES ('2'), ('5')", ["5"], []),
    ("INSERT INTO Book (id) VALUES ('2') ON CONFLICT DO UPDATE SET number = 3", ["2"], []),
    ("UPDATE OR REPLACE Book SET id = '3' WHERE id = '2'", ["3"], ["2"]),
  ]

  @Test(arguments: statements)
  func `changes by SQL of other programs are recorded`(
    sql: String, changed: [String], deleted: [String]
  ) async throws {
    let folder = try TemporaryFolder()
    let database = make(folder)
    // In descending order, so that `id + 1` is free for each row.
    for name in ["3", "2", "1"] {
      var record = DatabaseRecord("Book", name)
      record["number"] = 1
      try await database.save(record)
    }
    let token = try await database.allChanges(since: nil).token
    try execute([sql], in: folder.file())
    let changes = try await database.allChanges(since: token)
    #expect(changes.changed.map(\.id.name).sorted() == changed)
    #expect(changes.deleted.map(\.name).sorted() == deleted)
    let records = try await database.all(RecordQuery("Book"))
    #expect(records.allSatisfy { $0.tag != nil && $0.modified != nil })
    #expect(Set(records.map(\.tag)).count == records.count)
  }

  @Test func `a change by SQL also changes the tag`() async throws {
    let folder = try TemporaryFolder()
    let database = make(folder)
    var record = DatabaseRecord("Book", "1")
    record["number"] = 1
    record = try await database.save(record)[0]
    try execute(["UPDATE Book SET number = 2"], in: folder.file())
    record["number"] = 3
    #expect(await database.refusal(of: record).code == "conflict")
  }

  @Test func `changes of another program's file are recorded from the first save on`()
    async throws
  {
    let folder = try TemporaryFolder()
    try execute(
      [
        "CREATE TABLE Book (id INTEGER PRIMARY KEY, title TEXT)",
        "CREATE TABLE Shelf (id TEXT PRIMARY KEY)", "INSERT INTO Shelf VALUES ('s'), (NULL)",
        "INSERT INTO Book VALUES (1, 'Emma'), (-2, 'Persuasion')",
      ], in: folder.file())
    let database = make(folder)
    var book = try #require(try await database.record(RecordID("Book", "-2")))
    #expect(book.tag == nil && book["title"] == "Persuasion")
    let (code, text) = await failure { _ = try await database.changes(since: nil, in: .default) }
    #expect(code == "unsupported" && text.contains("keepChanges"))
    #expect(try await database.read { try $0.hasTrackingTables() } == false)
    book["title"] = "Sanditon"
    let saved = try await database.save(book, policy: .changedKeys)[0]
    #expect(saved.tag != nil)
    let first = try await database.allChanges(since: nil)
    #expect(first.changed.map(\.id.name) == ["1", "-2"])
    try await database.keepChanges(of: ["Shelf"])
    let second = try await database.allChanges(since: first.token)
    // A row whose key is null has no record name.
    #expect(second.changed.map(\.id) == [RecordID("Shelf", "s")])
    #expect(await failure { try await database.keepChanges(of: ["None"]) }.code == "invalid")
  }

  @Test func `another program's file reports changes once future tables are tracked`()
    async throws
  {
    let folder = try TemporaryFolder()
    try execute(["CREATE TABLE Shelf (id TEXT PRIMARY KEY)"], in: folder.file())
    let database = make(folder)
    try await database.keepChanges(of: [])
    let start = try await database.allChanges(since: nil)
    #expect(start.changed.isEmpty)
    try execute(["INSERT INTO Shelf VALUES ('s')"], in: folder.file())
    _ = try await database.save(DatabaseRecord("Book", "1"))
    let changes = try await database.allChanges(since: start.token)
    #expect(changes.changed.map(\.id) == [RecordID("Book", "1")])
  }

  @Test func `a token is expired in another database, and in an older copy of its own`()
    async throws
  {
    let (folder, other) = (try TemporaryFolder(), try TemporaryFolder())
    let (database, otherDatabase) = (make(folder), make(other))
    let empty = try await database.allChanges(since: nil).token
    try await database.save(DatabaseRecord("Book", "1"))
    try await otherDatabase.save(DatabaseRecord("Book", "1"))
    await otherDatabase.close()
    let foreign = try await otherDatabase.allChanges(since: nil).token
    #expect(
      await failure { _ = try await database.allChanges(since: foreign) }.code == "tokenExpired")
    #expect(
      await failure { _ = try await database.allChanges(since: ChangeToken("x")) }.code
        == "tokenExpired"
    )
    // A token from before the first save remains valid.
    #expect(try await database.allChanges(since: empty).changed.count == 1)
    await database.close()
    let copy = folder.file("copy")
    try FileManager.default.copyItem(atPath: folder.file(), toPath: copy)
    try await database.save(DatabaseRecord("Book", "2"))
    let later = try await database.allChanges(since: nil).token
    let old = SQLiteRecordDatabase(copy)
    #expect(await failure { _ = try await old.allChanges(since: later) }.code == "tokenExpired")
  }

  @Test func `a token from before the forgotten deletions is expired`() async throws {
    let folder = try TemporaryFolder()
    let database = make(folder, page: 2)
    for name in 0..<6 { try await database.save(DatabaseRecord("Book", "\(name)")) }
    let before = try await database.changes(since: nil, in: .default)
    _ = try await database.delete(RecordID("Book", "3"))
    let after = try await database.allChanges(since: before.token).token
    #expect(try await database.forgetDeletions(before: .distantPast) == 0)
    #expect(try await database.forgetDeletions(before: .distantFuture) == 1)
    #expect(
      await failure { _ = try await database.allChanges(since: before.token) }.code
        == "tokenExpired")
    #expect(try await database.allChanges(since: after).deleted == [])
    // A new fetch does not expire, although its first pages precede the forgotten deletion.
    #expect(try await database.allChanges(since: nil).changed.count == 5)
  }
}
