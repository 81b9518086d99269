import CompositeOperations
import RecordOperations
import SQLiteSupport
import Testing

/// Edits in a remote file that other programs make between rounds.
@Suite struct MirroredFilesTests {
  private let folder: TemporaryFolder
  private let local: SQLiteRecordDatabase
  private let remote: SQLiteRecordDatabase
  private let mirror: RecordMirror

  init() throws {
    folder = try TemporaryFolder()
    local = SQLiteRecordDatabase(folder.file("local.sqlite"))
    remote = SQLiteRecordDatabase(folder.file("remote.sqlite"))
    mirror = RecordMirror(of: ["Book", "Parent"], in: local, with: remote)
  }

  private func execute(_ database: SQLiteRecordDatabase, _ statements: String...) async throws {
    try await database.write { connection in
      for sql in statements { try connection.execute(sql) }
    }
  }

  private func sync() async throws -> String {
    "\(try await mirror.sync.run().get())"
  }

  @Test func `M1: a deletion right after the first records of an empty remote file is fetched`()
    async throws
  {
    for name in ["1", "2"] { try await local.save(record(name, ["title": "Emma"])) }
    #expect(try await sync() == "2 sent, no table Parent")
    try await execute(remote, "DELETE FROM Book WHERE id = '2'")
    #expect(try await sync() == "1 deleted, no table Parent")
    #expect(try await local.all(RecordQuery("Book")).map(\.id.name) == ["1"])
  }

  @Test(arguments: DeletionPolicy.allCases)
  func `M5: a local deletion loses if records that others have saved refer to the record`(
    policy: DeletionPolicy
  ) async throws {
    let mirror = RecordMirror(of: ["Book", "Parent"], in: local, with: remote, deletions: policy)
    for database in [local, remote] {
      try await execute(
        database, "CREATE TABLE Parent (id TEXT PRIMARY KEY NOT NULL)",
        """
        CREATE TABLE Book (id TEXT PRIMARY KEY NOT NULL, title TEXT, \
        parent TEXT REFERENCES Parent ON DELETE CASCADE)
        """)
    }
    try await remote.keepChanges(of: ["Book", "Parent"])
    try await execute(
      remote, "INSERT INTO Parent VALUES ('p')", "INSERT INTO Book VALUES ('7', 'Emma', 'p')")
    _ = try await mirror.sync.run().get()
    try await execute(local, "DELETE FROM Parent")
    #expect(try await local.all(RecordQuery("Book")).isEmpty)
    try await execute(
      remote, "UPDATE Book SET title = 'Persuasion'", "INSERT INTO Book VALUES ('8', 'New', 'p')")
    _ = try await mirror.sync.run().get()
    _ = try await mirror.sync.run().get()
    for database in [local, remote] {
      let books = try await database.all(RecordQuery("Book")).map(\.id.name).sorted()
      #expect(books == (policy == .lose ? ["7", "8"] : ["8"]))
      #expect(try await database.all(RecordQuery("Parent")).count == 1)
    }
    let lost = try await mirror.lostValues()
    #expect(lost.contains { $0.record == RecordID("Parent", "p") && $0.field == nil })
    if policy == .win { #expect(lost.contains { $0.lost == "Persuasion" }) }
  }

  @Test func `M1: a trigger that updates its own row does not run again and again`() async throws {
    for database in [local, remote] {
      try await execute(
        database, "CREATE TABLE Book (id TEXT PRIMARY KEY NOT NULL, title TEXT, edits INTEGER)",
        "INSERT INTO Book VALUES ('1', 'Emma', 0)")
    }
    try await execute(
      local,
      """
      CREATE TRIGGER counting AFTER UPDATE ON Book BEGIN \
      UPDATE Book SET edits = edits + 1 WHERE id = NEW.id; END
      """)
    try await remote.keepChanges(of: ["Book"])
    _ = try await sync()
    try await execute(remote, "UPDATE Book SET title = 'Persuasion'")
    _ = try await sync()
    let id = RecordID("Book", "1")
    #expect(try await local.record(id)?["title"] == "Persuasion")
    #expect(try await local.record(id)?["edits"] == remote.record(id)?["edits"])
    #expect(try await sync() == "no changes, no table Parent")
  }

  @Test func `M1: a new table takes the name of one that was renamed`() async throws {
    try await local.save(record("1", ["title": "Emma"]))
    _ = try await sync()
    try await execute(
      local, "ALTER TABLE Book RENAME TO Old",
      "CREATE TABLE Book (id TEXT PRIMARY KEY NOT NULL, title TEXT)",
      "INSERT INTO Book SELECT id, title FROM Old", "UPDATE Book SET title = 'Persuasion'")
    #expect(try await sync() == "1 sent, no table Parent")
    #expect(try await remote.record(RecordID("Book", "1"))?["title"] == "Persuasion")
  }

  @Test func `M9: a deferred foreign key of the remote file rejects its record only`() async throws
  {
    try await execute(
      remote, "CREATE TABLE Parent (id TEXT PRIMARY KEY NOT NULL)",
      """
      CREATE TABLE Book (id TEXT PRIMARY KEY NOT NULL, title TEXT, \
      parent TEXT REFERENCES Parent DEFERRABLE INITIALLY DEFERRED)
      """)
    try await remote.keepChanges(of: ["Book", "Parent"])
    try await execute(
      local, "CREATE TABLE Parent (id TEXT PRIMARY KEY NOT NULL)",
      "CREATE TABLE Book (id TEXT PRIMARY KEY NOT NULL, title TEXT, parent TEXT REFERENCES Parent)",
      "INSERT INTO Book VALUES ('1', 'Emma', NULL)")
    _ = try await sync()
    // A reference that the remote file does not know, which its own deferred key would not name.
    let reply = try await remote.modify(
      RecordBatch([
        .save(
          record(
            "2",
            ["parent": .reference(RecordReference(RecordID("Parent", "none"), onDelete: .deny))]),
          .allKeys), .save(record("3", ["title": "Emma"]), .allKeys),
      ]))
    #expect(reply[0].error?.name == "referenceViolated" && reply[1].record != nil)
    #expect(try await remote.all(RecordQuery("Book")).map(\.id.name).sorted() == ["1", "3"])
  }
}
