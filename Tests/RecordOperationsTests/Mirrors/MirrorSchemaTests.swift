import CompositeOperations
import Foundation
import RecordOperations
import SQLiteSupport
import Testing

/// Mirrors of tables that other programs have created or changed.
@Suite struct MirrorSchemaTests {
  /// The steps with which SQLite's documentation changes a table.
  private let rebuild = [
    "CREATE TABLE New (id TEXT PRIMARY KEY NOT NULL, title TEXT, pages INTEGER)",
    "INSERT INTO New SELECT id, title, pages FROM Book", "DROP TABLE Book",
    "ALTER TABLE New RENAME TO Book",
  ]

  @Test func `M2: an unsent deletion and an unsent edit survive that a program rebuilds the table`()
    async throws
  {
    let pair = try MirrorPair()
    for name in ["1", "2", "3"] {
      try await pair.base.save(record(name, ["title": "Emma", "pages": 1]))
    }
    try await pair.sync()
    try await pair.execute(
      "DELETE FROM Book WHERE id = '1'", "UPDATE Book SET pages = 2 WHERE id = '2'")
    for sql in rebuild { try await pair.execute(sql) }
    // An unchanged row is not sent.
    #expect(try await pair.sync().description == "1 sent, 1 deletions sent")
    #expect(try await pair.names == [["2", "3"], ["2", "3"]])
    #expect(try await pair.values("2", "pages") == [2, 2])
    #expect(try await pair.sync().isEmpty)
  }

  @Test func `M1: a replaced table is restored, also if another operation tracks the new one`()
    async throws
  {
    let pair = try MirrorPair()
    for name in ["1", "2"] { try await pair.base.save(record(name, ["title": "Emma"])) }
    try await pair.sync()
    try await pair.execute(
      "DROP TABLE Book", "CREATE TABLE Book (id TEXT PRIMARY KEY NOT NULL, title TEXT)")
    try await pair.local.save(record("3", ["title": "Sanditon"]))
    try await pair.sync()
    #expect(try await pair.names == [["1", "2", "3"], ["1", "2", "3"]])
  }

  @Test func `M2: another database that reports no changes deletes nothing`() async throws {
    let pair = try MirrorPair(capabilities: .all.subtracting(.changes))
    try await pair.local.save(record("1", ["title": "Emma"]))
    try await pair.sync()
    let other = MemoryRecordDatabase(capabilities: .all.subtracting(.changes))
    let mirror = RecordMirror(
      of: ["Author", "Book"], in: pair.local, with: other, otherDatabase: .merge)
    #expect(try await mirror.sync.run().get().sent == 1)
    #expect(try await pair.names == [["1"], ["1"]])
  }

  @Test func `M9: a deferred foreign key rejects its record only`() async throws {
    let pair = try MirrorPair()
    try await pair.execute(
      "CREATE TABLE Author (id TEXT PRIMARY KEY NOT NULL, name TEXT)",
      """
      CREATE TABLE Book (id TEXT PRIMARY KEY NOT NULL, title TEXT, \
      author TEXT REFERENCES Author DEFERRABLE INITIALLY DEFERRED)
      """)
    let missing = RecordReference(RecordID("Author", "jane"))
    try await pair.base.save(
      record("1", ["author": .reference(missing)]), record("2", ["title": "Emma"]))
    #expect(try await pair.sync().description == "1 saved, 1 rejected")
    try await pair.base.save(record("jane", type: "Author", ["name": "Jane"]))
    #expect(try await pair.sync().description == "2 saved")
    // The same for a deletion that a row of a type without a mirror prevents.
    try await pair.execute(
      "CREATE TABLE Loan (id TEXT PRIMARY KEY, book TEXT REFERENCES Book DEFERRABLE INITIALLY DEFERRED)",
      "INSERT INTO Loan VALUES ('a', '2')")
    _ = try await pair.base.modify(RecordBatch([.delete(id("2"), ifTagged: nil)]))
    #expect(try await pair.sync().description == "1 rejected")
    #expect(try await pair.sync().description == "no changes")
    try await pair.execute("DELETE FROM Loan")
    #expect(try await pair.sync().description == "1 deleted")
  }

  @Test func `M1: computed columns belong to each file`() async throws {
    let pair = try MirrorPair()
    try await pair.execute(
      """
      CREATE TABLE Book (id TEXT PRIMARY KEY NOT NULL, price INTEGER, copies INTEGER, \
      total INTEGER AS (price * copies))
      """)
    try await pair.base.save(record("1", ["price": 2, "copies": 3, "total": 6]))
    #expect(try await pair.sync().description == "1 saved")
    try await pair.execute("UPDATE Book SET price = 4", "INSERT INTO Book VALUES ('2', 1, 1)")
    #expect(try await pair.sync().sent == 2)
    #expect(try await pair.values("1", "price") == [4, 4])
    #expect(try await pair.local.record(id("1"))?["total"] == 12)
    #expect(try await pair.sync().isEmpty)
  }

  @Test func `M3: a column that a program drops is not an edit of the records`() async throws {
    let pair = try MirrorPair()
    try await pair.execute(
      "CREATE TABLE Book (id TEXT PRIMARY KEY NOT NULL, title TEXT, pages INTEGER)")
    try await pair.base.save(record("1", ["title": "Emma", "pages": 1]))
    try await pair.sync()
    try await pair.execute(
      "ALTER TABLE Book DROP COLUMN pages", "UPDATE Book SET title = 'Sanditon'")
    #expect(try await pair.sync().sent == 1)
    #expect(try await pair.base.record(id("1"))?["pages"] == 1)
    #expect(try await pair.base.record(id("1"))?["title"] == "Sanditon")
    let before = pair.remote.requestCount
    #expect(try await pair.sync().isEmpty)
    #expect(pair.remote.requestCount - before == 1)
  }

  @Test func `M1: a default of the local table is an edit, and not a value of the remote record`()
    async throws
  {
    let pair = try MirrorPair(conflicts: .localWins)
    try await pair.execute(
      """
      CREATE TABLE Book (id TEXT PRIMARY KEY NOT NULL, title TEXT, status TEXT DEFAULT 'new', \
      copies INTEGER NOT NULL DEFAULT 1)
      """)
    try await pair.base.save(record("1", ["title": "Emma"]), record("2", ["title": "Sanditon"]))
    try await pair.sync()
    #expect(try await pair.values("1", "status") == [.null, .null])
    #expect(try await pair.values("1", "copies") == [1, 1])
    try await pair.base.save(record("1", ["status": "sold"]))
    #expect(try await pair.sync().conflicts == 0)
    #expect(try await pair.values("1", "status") == ["sold", "sold"])
  }

  @Test func `M1: an edit of a trigger is sent`() async throws {
    let pair = try MirrorPair()
    try await pair.execute(
      "CREATE TABLE Book (id TEXT PRIMARY KEY NOT NULL, title TEXT, length INTEGER)",
      """
      CREATE TRIGGER measure AFTER INSERT ON Book BEGIN \
      UPDATE Book SET length = length(NEW.title) WHERE id = NEW.id; END
      """)
    try await pair.base.save(record("1", ["title": "Emma"]), record("2", ["title": "Sanditon"]))
    try await pair.sync()
    #expect(try await pair.values("2", "length") == [8, 8])
    #expect(try await pair.sync().isEmpty)
  }

  @Test func `M3: values are compared as the local columns store them`() async throws {
    let pair = try MirrorPair()
    try await pair.execute(
      "CREATE TABLE Book (id TEXT PRIMARY KEY NOT NULL, title TEXT, lent TEXT)")
    try await pair.base.save(record("1", ["title": "Emma", "lent": .date(.now)]))
    try await pair.sync()
    try await pair.execute("UPDATE Book SET title = 'Sanditon'")
    #expect(try await pair.sync().description == "1 sent")
    #expect(try await pair.base.record(id("1"))?["lent"].kind == .date)
    try await pair.base.save(record("1", ["lent": .date(.now.addingTimeInterval(60))]))
    #expect(try await pair.sync().description == "1 saved")
    #expect(try await pair.lost == [])
  }

  @Test func `M2: rows without a primary key cannot be mirrored`() async throws {
    let pair = try MirrorPair(types: ["Log"])
    try await pair.execute("CREATE TABLE Log (line TEXT)", "INSERT INTO Log VALUES ('a')")
    let error = await pair.mirror.sync.run().error as? RecordError
    #expect(error?.name == "unsupported" && "\(error as Any)".contains("Log has no primary key"))
  }

  @Test func `M3: a null that the mirror itself has sent is not a change of another writer`()
    async throws
  {
    let isLosing = Lock(false)
    let pair = try MirrorPair(retries: RetryPolicy(attempts: 1)) { request, _ in
      guard case .modify = request, isLosing.withLock(\.self) else { return nil }
      return .losingReply
    }
    try await pair.base.save(record("1", ["title": "Emma"]), record("2", ["title": "Emma"]))
    try await pair.local.save(record("3"))
    try await pair.sync()
    isLosing.withLock { $0 = true }
    try await pair.execute("UPDATE Book SET title = NULL")
    try await pair.local.save(record("4"))
    _ = await pair.mirror.sync.run()
    try await pair.execute(
      "UPDATE Book SET title = 'Persuasion' WHERE id = '1'",
      "DELETE FROM Book WHERE id IN ('2', '4')")
    isLosing.withLock { $0 = false }
    #expect(try await pair.sync().conflicts == 0)
    #expect(try await pair.values("1", "title") == ["Persuasion", "Persuasion"])
    #expect(try await pair.names == [["1", "3"], ["1", "3"]])
  }

  @Test func `M8: a request that fails as a whole is not the rejection of its records`()
    async throws
  {
    let isStrict = Lock(true)
    let pair = try MirrorPair { request, _ in
      guard case .modify = request, isStrict.withLock(\.self) else { return nil }
      return .refusing(RecordError(.notPermitted("no")))
    }
    for name in ["1", "2"] { try await pair.local.save(record(name, ["title": "Emma"])) }
    #expect((await pair.mirror.sync.run().error as? RecordError)?.name == "notPermitted")
    #expect(try await pair.mirror.rejections() == [:])
    isStrict.withLock { $0 = false }
    #expect(try await pair.sync().sent == 2)
  }

  @Test func `M5: records that refer to each other are deleted together`() async throws {
    let pair = try MirrorPair(deletions: .win)
    func reference(_ type: String, _ name: String) -> FieldValue {
      .reference(RecordReference(RecordID(type, name), onDelete: .nullify))
    }
    try await pair.base.save(record("a", type: "Author", ["name": "Jane"]))
    try await pair.base.save(record("1", ["author": reference("Author", "a")]))
    try await pair.base.save(record("a", type: "Author", ["favorite": reference("Book", "1")]))
    try await pair.sync()
    try await pair.execute("UPDATE Author SET name = 'Leo'", "UPDATE Book SET author = author")
    _ = try await pair.base.modify(
      RecordBatch([
        .delete(id("1"), ifTagged: nil), .delete(RecordID("Author", "a"), ifTagged: nil),
      ]))
    try await pair.sync()
    #expect(try await pair.names == [[], []])
    #expect(try await pair.local.record(RecordID("Author", "a")) == nil)
    #expect(try await pair.lost.contains(#"Author/a name "Leo" null local"#))
  }

  @Test func `M5: a unique value moves from a deleted record to a new one`() async throws {
    let pair = try MirrorPair()
    try await pair.execute("CREATE TABLE Book (id TEXT PRIMARY KEY NOT NULL, title TEXT UNIQUE)")
    try await pair.base.save(record("1", ["title": "Emma"]))
    try await pair.sync()
    _ = try await pair.base.modify(RecordBatch([.delete(id("1"), ifTagged: nil)]))
    try await pair.base.save(record("2", ["title": "Emma"]))
    #expect(try await pair.sync().description == "1 saved, 1 deleted")
    #expect(try await pair.names == [["2"], ["2"]])
  }

  @Test func `M6: a chain of references is stored in one pass`() async throws {
    let pair = try MirrorPair(types: ["Link"])
    try await pair.execute(
      "CREATE TABLE Link (id TEXT PRIMARY KEY NOT NULL, next TEXT REFERENCES Link)")
    for number in 0..<400 {
      var link = record(String(1_000 - number), type: "Link")
      if number > 0 {
        let next = RecordID("Link", String(1_001 - number))
        link["next"] = .reference(RecordReference(next, onDelete: .deny))
      }
      try await pair.base.save(link)
    }
    #expect(try await pair.sync().saved == 400)
    _ = try await pair.base.modify(
      RecordBatch((0..<400).map { .delete(RecordID("Link", String(601 + $0)), ifTagged: nil) }))
    #expect(try await pair.sync().deleted == 400)
  }

  @Test func `M7: a link to the file is the same file`() async throws {
    let pair = try MirrorPair()
    try await pair.local.save(record("1", ["title": "Emma"]))
    try await pair.sync()
    let link = pair.folder.file("link.sqlite")
    try FileManager.default.createSymbolicLink(
      atPath: link, withDestinationPath: pair.local.path)
    let other = RecordMirror(of: ["Book"], in: SQLiteRecordDatabase(link), with: pair.base)
    _ = try await other.sync.run().get()
    #expect(try !pair.folder.names.contains("link.sqlite-mirror"))
  }
}
