import CompositeOperations
import Foundation
import RecordOperations
import SQLiteSupport
import Testing

/// Columns and tables of the remote database that the mirror has not seen before.
@Suite struct MirrorColumnTests {
  private let folder: TemporaryFolder
  private let local: SQLiteRecordDatabase
  private let remote: SQLiteRecordDatabase

  init() async throws {
    folder = try TemporaryFolder()
    local = SQLiteRecordDatabase(folder.file("local.sqlite"))
    remote = SQLiteRecordDatabase(folder.file("remote.sqlite"))
    try await execute(
      "CREATE TABLE Book (id TEXT PRIMARY KEY NOT NULL, title TEXT)",
      "INSERT INTO Book VALUES ('1', 'Emma'), ('2', 'Persuasion'), ('3', 'Sanditon')")
    try await remote.keepChanges(of: ["Book"])
  }

  private func execute(_ statements: String...) async throws {
    try await remote.write { connection in for sql in statements { try connection.execute(sql) } }
  }

  private func sync(
    _ types: [String] = ["Book"], with database: (any RecordDatabase)? = nil
  ) async throws -> MirrorReport {
    try await RecordMirror(of: types, in: local, with: database ?? remote).sync.run().get()
  }

  private func values(_ key: String) async throws -> [FieldValue] {
    let records = try await local.all(RecordQuery("Book"))
    return records.sorted { $0.id.name < $1.id.name }.map { $0[key] }
  }

  @Test func `M1: a column that is added with a default arrives for all rows`() async throws {
    #expect(try await sync().saved == 3)
    #expect(try await sync().isEmpty)
    try await execute(
      "ALTER TABLE Book ADD COLUMN status TEXT NOT NULL DEFAULT 'active'",
      "UPDATE Book SET title = 'Emma 2' WHERE id = '1'")
    try await local.save(record("2", ["title": "Persuasion 2"]), policy: .changedKeys)
    let report = try await sync()
    #expect(report.saved == 3 && report.sent == 1 && report.rejected == 0, "\(report)")
    #expect(try await values("status") == ["active", "active", "active"])
    #expect(try await remote.record(RecordID("Book", "2"))?["title"] == "Persuasion 2")
    #expect(try await sync().isEmpty)
  }

  @Test func `M1: a column that gets another name arrives for all rows`() async throws {
    _ = try await sync()
    try await execute("ALTER TABLE Book RENAME COLUMN title TO name")
    #expect(try await sync().saved == 3)
    #expect(try await values("name") == ["Emma", "Persuasion", "Sanditon"])
    #expect(try await values("title") == [.null, .null, .null])
    #expect(try await sync().isEmpty)
    // Also a column without a type.
    try await execute("ALTER TABLE Book ADD COLUMN body", "UPDATE Book SET body = 'text'")
    #expect(try await sync().saved == 3)
    try await execute("ALTER TABLE Book RENAME COLUMN body TO content")
    #expect(try await sync().saved == 3)
    #expect(try await values("content") == ["text", "text", "text"])
  }

  @Test func `M1: all columns of an own remote table are created, also without values`()
    async throws
  {
    let own = SQLiteRecordDatabase(folder.file("own.sqlite"))
    let jane = RecordReference(RecordID("Author", "jane"), onDelete: .cascade)
    try await own.save(
      record(
        "1", ["z": 1, "list": [1], "at": .date(Date(timeIntervalSince1970: 0)), "b": .bytes([1])]),
      record("jane", type: "Author", ["name": "Jane"]), record("2", ["author": .reference(jane)]))
    try await own.save(record("1", ["z": .null, "list": .null, "at": .null, "b": .null]))
    _ = try await sync(["Author", "Book"], with: own)
    let columns = try await local.read { connection in
      try connection.fetchAll("SELECT name || ' ' || type FROM pragma_table_info('Book')") {
        $0.text(at: 0) ?? ""
      }
    }
    #expect(
      Set(columns) == [
        "id TEXT", "at TEXT DATE", "b BLOB", "list TEXT LIST", "z INTEGER", "author TEXT",
      ])
    #expect(try await sync(["Author", "Book"], with: own).isEmpty)
  }

  @Test func `M1: a round that fails while it fetches a new column is completed by the next one`()
    async throws
  {
    _ = try await sync()
    try await execute("ALTER TABLE Book ADD COLUMN pages INTEGER DEFAULT 100")
    let faulty = FaultyRecordDatabase(remote) { request, _ in
      if case .query = request { .refusing(RecordError(.storage("the disk"))) } else { nil }
    }
    await #expect(throws: RecordError.self) { _ = try await sync(with: faulty) }
    // A round in which the remote database does not describe its tables deletes nothing.
    #expect(try await sync(with: Undescribed(remote)).deleted == 0)
    try await execute("DELETE FROM Book WHERE id = '3'")
    let report = try await sync()
    #expect(report.deleted == 1, "\(report)")
    #expect(try await values("pages") == [100, 100])
    #expect(try await sync().isEmpty)
  }

  @Test func `M1: records are fetched as a whole only for columns with values`() async throws {
    let queries = Lock(0)
    let counted = FaultyRecordDatabase(remote) { request, _ in
      if case .query = request { queries.withLock { $0 += 1 } }
      return nil
    }
    for name in ["first", "second"] {
      try await local.save(record("new \(name)", type: "Note", ["n": 1]))
      _ = try await sync(["Book", "Note"], with: counted)
    }
    try await execute("ALTER TABLE Book ADD COLUMN subtitle TEXT")
    try await local.save(record("new", type: "Note", ["m": 1]))
    for _ in 0..<2 { _ = try await sync(["Book", "Note"], with: counted) }
    #expect(queries.withLock { $0 } == 0)
    try await execute("ALTER TABLE Book ADD COLUMN pages INTEGER DEFAULT 100")
    for _ in 0..<2 { _ = try await sync(["Book", "Note"], with: counted) }
    #expect(queries.withLock { $0 } == 1)
    // The same column with other values.
    try await execute(
      "ALTER TABLE Book DROP COLUMN pages", "ALTER TABLE Book DROP COLUMN subtitle",
      "ALTER TABLE Book ADD COLUMN pages INTEGER DEFAULT 200")
    _ = try await sync(["Book", "Note"], with: counted)
    #expect(try await values("pages") == [200, 200, 200])
  }

  @Test(arguments: DeletionPolicy.allCases)
  func `M1: a new column is no edit of a record that was deleted locally`(policy: DeletionPolicy)
    async throws
  {
    _ = try await sync()
    try await local.write { try $0.execute("DELETE FROM Book WHERE id = '2'") }
    try await execute("ALTER TABLE Book ADD COLUMN pages INTEGER DEFAULT 100")
    let mirror = RecordMirror(of: ["Book"], in: local, with: remote, deletions: policy)
    let report = try await mirror.sync.run().get()
    #expect(report.sentDeletions == 1 && report.conflicts == 0, "\(report)")
    #expect(try await remote.all(RecordQuery("Book")).count == 2)
  }

  @Test func `M1: a table that the remote database does not track is an error that names it`()
    async throws
  {
    try await execute(
      "CREATE TABLE Note (id TEXT PRIMARY KEY NOT NULL, text TEXT)",
      "INSERT INTO Note VALUES ('1', 'missing')")
    let error = await #expect(throws: RecordError.self) { _ = try await sync(["Book", "Note"]) }
    #expect(error?.description.contains(#"Note"#) == true)
    #expect(error?.description.contains("keepChanges") == true)
    try await remote.keepChanges(of: ["Note"])
    #expect(try await sync(["Book", "Note"]).saved == 4)
  }

  @Test func `M1: a report names the types of which neither database has a table`() async throws {
    let report = try await sync(["Book", "Bok"])
    #expect(report.missingTypes == ["Bok"])
    #expect("\(report)" == "3 saved, no table Bok")
    try await local.save(record("1", type: "Bok", ["n": 1]))
    #expect(try await sync(["Book", "Bok"]).missingTypes.isEmpty)
  }

  @Test func `M1: a mirror of an earlier version fetches the columns that it may have missed`()
    async throws
  {
    _ = try await sync()
    try await execute("ALTER TABLE Book ADD COLUMN status TEXT DEFAULT 'active'")
    // As that version has left the file.
    try await local.write { try $0.execute("DROP TABLE _record_mirror_types") }
    #expect(try await sync().saved == 3)
    #expect(try await values("status") == ["active", "active", "active"])
    #expect(try await sync().isEmpty)
  }
}

/// A database that does not describe its tables.
private final class Undescribed: RecordDatabase {
  private let base: SQLiteRecordDatabase

  init(_ base: SQLiteRecordDatabase) { self.base = base }

  var limits: RecordLimits { base.limits }
  var capabilities: RecordCapabilities { base.capabilities }

  func accountStatus() async throws -> AccountStatus { try await base.accountStatus() }
  func identity() async throws -> String? { try await base.identity() }
  func modify(_ batch: RecordBatch) async throws -> [RecordReply] { try await base.modify(batch) }

  func lookup(_ ids: [RecordID], keys: [String]?) async throws -> [RecordID: DatabaseRecord] {
    try await base.lookup(ids, keys: keys)
  }

  func query(
    _ query: RecordQuery, after cursor: RecordCursor?, atMost count: Int
  ) async throws -> RecordPage {
    try await base.query(query, after: cursor, atMost: count)
  }

  func changes(since token: ChangeToken?, in zone: RecordZone) async throws -> ChangePage {
    try await base.changes(since: token, in: zone)
  }
}
