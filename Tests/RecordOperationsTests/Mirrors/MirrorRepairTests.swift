import CompositeOperations
import Foundation
import RecordOperations
import SQLiteSupport
import Testing

/// Another remote database, and the ways out of a state that rounds alone do not change.
@Suite(.timeLimit(.minutes(10))) struct MirrorRepairTests {
  /// Records of the first database, an unsent edit, an unsent record and an unsent deletion.
  private func pairWithEdits(
    capabilities: RecordCapabilities = .all
  ) async throws -> MirrorPair {
    let pair = try MirrorPair(capabilities: capabilities)
    for name in ["1", "2", "3"] { try await pair.base.save(record(name, ["title": "Emma"])) }
    try await pair.sync()
    try await pair.local.save(
      record("1", ["title": "Persuasion"]), record("4", ["title": "Sanditon"]))
    _ = try await pair.local.modify(RecordBatch([.delete(id("2"), ifTagged: nil)]))
    return pair
  }

  @Test(arguments: [true, false])
  func `M13: another remote database stops the mirror, which changes neither`(
    reportsChanges: Bool
  ) async throws {
    let capabilities = reportsChanges ? .all : RecordCapabilities.all.subtracting(.changes)
    let pair = try await pairWithEdits(capabilities: capabilities)
    let other = MemoryRecordDatabase(capabilities: capabilities)
    try await other.save(record("9", ["title": "Lady Susan"]))
    let mirror = RecordMirror(of: ["Author", "Book"], in: pair.local, with: other)
    for _ in 0..<2 {
      let error = await mirror.sync.run().error as? RecordError
      guard case .otherDatabase(let reason)? = error?.reason else {
        Issue.record("\(error as Any)")
        return
      }
      #expect(reason.contains("Choose otherDatabase: .merge"), "\(reason)")
    }
    #expect(
      try await pair.local.all(RecordQuery("Book")).map(\.id.name).sorted() == ["1", "3", "4"])
    #expect(try await other.all(RecordQuery("Book")).map(\.id.name) == ["9"])
    // The mirror of the first database continues, with all edits.
    #expect(try await pair.sync().sent == 2)
    #expect(try await pair.names == [["1", "3", "4"], ["1", "3", "4"]])
  }

  @Test func `M13: an empty file in place of the remote one stops the mirror`() async throws {
    let folder = try TemporaryFolder()
    let local = SQLiteRecordDatabase(folder.file("local.sqlite"))
    let first = SQLiteRecordDatabase(folder.file("1.sqlite"))
    try await first.save(record("1", ["title": "Emma"]))
    _ = try await RecordMirror(of: ["Book"], in: local, with: first).sync.run().get()
    let empty = RecordMirror(
      of: ["Book"], in: local, with: SQLiteRecordDatabase(folder.file("2.sqlite")))
    let error = await empty.sync.run().error as? RecordError
    #expect(error?.description.contains("another one (without an ID)") == true, "\(error as Any)")
    #expect(try await local.record(id("1")) != nil)
  }

  @Test(arguments: [true, false])
  func `M13: records of another database replace the local ones, and unsent edits are kept`(
    reportsChanges: Bool
  ) async throws {
    let capabilities = reportsChanges ? .all : RecordCapabilities.all.subtracting(.changes)
    let pair = try await pairWithEdits(capabilities: capabilities)
    let other = MemoryRecordDatabase(capabilities: capabilities)
    try await other.save(record("1", ["title": "Lady Susan"]), record("9", ["title": "Love"]))
    let mirror = RecordMirror(
      of: ["Author", "Book"], in: pair.local, with: other, otherDatabase: .replaceLocal)
    let report = try await mirror.sync.run().get()
    #expect(report.sent == 0 && report.sentDeletions == 0 && report.saved == 2)
    #expect(try await pair.local.all(RecordQuery("Book")).map(\.id.name).sorted() == ["1", "9"])
    #expect(try await pair.local.record(id("1"))?["title"] == "Lady Susan")
    #expect(try await other.all(RecordQuery("Book")).count == 2)
    let lost = try await mirror.lostValues().map { "\($0.record.name) \($0.field ?? "-")" }
    #expect(Set(lost) == ["1 title", "4 title", "2 -"])
    #expect(try await mirror.sync.run().get().isEmpty)
    // Later edits are sent to the new database.
    try await pair.local.save(record("9", ["title": "Freindship"]))
    #expect(try await mirror.sync.run().get().sent == 1)
  }

  @Test
  func `M13: records that refer to each other are replaced, unless another record refers to them`()
    async throws
  {
    let pair = try MirrorPair()
    let jane = RecordReference(RecordID("Author", "jane"), onDelete: .deny)
    try await pair.base.save(record("jane", type: "Author", ["name": "Jane"]))
    try await pair.base.save(record("1", ["author": .reference(jane)]))
    try await pair.sync()
    let other = MemoryRecordDatabase()
    try await other.save(record("9", ["title": "Love"]))
    let books = RecordMirror(
      of: ["Author", "Book"], in: pair.local, with: other, otherDatabase: .replaceLocal)
    #expect(try await books.sync.run().get().deleted == 2)
    // A record of a type that is not mirrored, whatever the rule of its reference is.
    for rule in [RecordReference.DeleteRule.deny, .cascade, .nullify] {
      let second = try MirrorPair(types: ["Author"])
      try await second.base.save(record("jane", type: "Author", ["name": "Jane"]))
      try await second.sync()
      try await second.local.save(record("1", ["author": reference("jane", rule)]))
      let mirror = RecordMirror(
        of: ["Author"], in: second.local, with: other, otherDatabase: .replaceLocal)
      let error = await mirror.sync.run().error as? RecordError
      #expect(error?.description.contains("Book, which is not mirrored, refer to Author") == true)
      #expect(try await second.local.record(RecordID("Author", "jane")) != nil)
      #expect(try await second.local.record(id("1"))?["author"] == reference("jane", rule))
    }
  }

  @Test
  func `M13: the first round of a mirror sends the records of the file, whatever the policy`()
    async throws
  {
    for policy in OtherDatabasePolicy.allCases {
      let pair = try MirrorPair()
      try await pair.local.save(record("1", ["title": "Emma"]))
      try await pair.base.save(record("2", ["title": "Sanditon"]))
      let mirror = RecordMirror(
        of: ["Book"], in: pair.local, with: pair.base, otherDatabase: policy)
      let report = try await mirror.sync.run().get()
      #expect(report.sent == 1 && report.saved == 1, "\(policy)")
      #expect(try await pair.names == [["1", "2"], ["1", "2"]])
    }
  }

  @Test func `M13: no table of another database is created`() async throws {
    let folder = try TemporaryFolder()
    let local = SQLiteRecordDatabase(folder.file("local.sqlite"))
    let first = SQLiteRecordDatabase(folder.file("1.sqlite"))
    let second = SQLiteRecordDatabase(folder.file("2.sqlite"))
    try await first.save(record("1", ["title": "Emma"]))
    _ = try await RecordMirror(of: ["Book", "Note"], in: local, with: first).sync.run().get()
    try await second.save(record("1", ["pages": 1]), record("n", type: "Note", ["text": "secret"]))
    let wrong = RecordMirror(of: ["Book", "Note"], in: local, with: second)
    #expect(await wrong.sync.run().error is RecordError)
    let columns = try await local.read { connection in
      try connection.fetchAll(
        "SELECT m.name || '.' || c.name FROM sqlite_master AS m, pragma_table_info(m.name) AS c "
          + "WHERE m.name IN ('Book', 'Note')"
      ) { $0.text(at: 0) ?? "" }
    }
    #expect(Set(columns) == ["Book.id", "Book.title"])
  }

  @Test func `M14: a new record to which another one refers is discarded after that one`()
    async throws
  {
    let pair = try MirrorPair()
    try await pair.base.save(record("jane", type: "Author", ["name": "Jane"]))
    try await pair.base.save(record("1", ["author": reference("jane", .cascade)]))
    try await pair.sync()
    let new = RecordID("Author", "new")
    try await pair.local.save(record("new", type: "Author", ["name": "New"]))
    try await pair.local.save(record("1", ["author": reference("new", .cascade)]))
    await #expect(throws: RecordError.self) {
      try await pair.mirror.discardLocalEdits(of: [new])
    }
    #expect(try await pair.local.record(id("1")) != nil)
    #expect(try await pair.mirror.discardLocalEdits(of: [new, id("1")]) == 2)
    #expect(try await pair.sync().sentDeletions == 0)
    #expect(
      try await pair.values("1", "author") == [
        reference("jane", .cascade), reference("jane", .cascade),
      ])
  }

  @Test func `M14: a record that is sent again has all fields, also those without a value`()
    async throws
  {
    let pair = try MirrorPair(conflicts: .localWins)
    try await pair.base.save(record("1", ["title": "Emma", "copies": 5]))
    try await pair.sync()
    try await pair.local.save(record("1", ["copies": .null]))
    try await pair.sync()
    // As a backup has it: a state that the mirror does not know.
    try await pair.base.save(record("1", ["copies": 5]))
    try await pair.mirror.resend([id("1")])
    try await pair.sync()
    #expect(try await pair.values("1", "copies") == [.null, .null])
    #expect(try await pair.mirror.lostValues().map(\.lost) == [5])
    #expect(try await pair.sync().isEmpty)
  }

  @Test func `M14: discarded edits take the last common state`() async throws {
    let pair = try await pairWithEdits()
    try await pair.base.save(record("3", ["copies": 1]))
    #expect(
      try await pair.mirror.discardLocalEdits(of: ["1", "2", "3", "4", "5"].map { id($0) }) == 3)
    #expect(try await pair.local.record(id("1"))?["title"] == "Emma")
    #expect(try await pair.local.record(id("2"))?["title"] == "Emma")
    #expect(try await pair.local.record(id("4")) == nil)
    let report = try await pair.sync()
    #expect(report.sent == 0 && report.sentDeletions == 0 && report.saved == 1)
    #expect(try await pair.names == [["1", "2", "3"], ["1", "2", "3"]])
    #expect(try await pair.mirror.lostValues().isEmpty)
    // An edit after that is one.
    try await pair.local.save(record("1", ["title": "Lady Susan"]))
    #expect(try await pair.sync().sent == 1)
  }

  @Test func `M14: a discarded edit that the remote database rejects is no longer reported`()
    async throws
  {
    let pair = try MirrorPair { request, _ in
      guard case .modify = request else { return nil }
      return .failing { change in
        guard case .save(let record, _) = change, record["title"] == "bad" else { return nil }
        return RecordError(.invalid("no bad title"))
      }
    }
    try await pair.base.save(record("1", ["title": "Emma"]))
    try await pair.sync()
    try await pair.local.save(record("1", ["title": "bad"]))
    #expect(try await pair.sync().rejected == 1)
    #expect(try await pair.mirror.discardLocalEdits(of: [id("1")]) == 1)
    #expect(try await pair.mirror.discardLocalEdits(of: [id("1")]) == 0)
    #expect(try await pair.mirror.rejections().isEmpty)
    #expect(try await pair.sync().isEmpty)
    #expect(try await pair.values("1", "title") == ["Emma", "Emma"])
  }

  @Test func `M14: records with exchanged unique values are discarded together`() async throws {
    let pair = try MirrorPair()
    try await pair.execute("CREATE TABLE Book (id TEXT PRIMARY KEY NOT NULL, place INTEGER UNIQUE)")
    try await pair.base.save(record("1", ["place": 1]), record("2", ["place": 2]))
    try await pair.sync()
    try await pair.execute(
      "UPDATE Book SET place = 3 WHERE id = '1'", "UPDATE Book SET place = 1 WHERE id = '2'")
    #expect(try await pair.mirror.discardLocalEdits(of: [id("1"), id("2")]) == 2)
    #expect(try await pair.local.record(id("1"))?["place"] == 1)
    #expect(try await pair.sync().isEmpty)
  }

  @Test func `M14: a record is sent again to a database that was restored from a backup`()
    async throws
  {
    let pair = try await pairWithEdits()
    try await pair.sync()
    // As a backup has it.
    try await pair.base.save(record("1", ["title": "Emma", "copies": .null]))
    try await pair.mirror.resend([id("1"), id("7")])
    let report = try await pair.sync()
    // The other database has changed it, too, so the policy decides.
    #expect(report.conflicts == 1)
    try await pair.mirror.resend([id("1"), id("3")])
    #expect(try await pair.sync().sent == 2)
    #expect(try await pair.sync().isEmpty)
    #expect(try await pair.names == [["1", "3", "4"], ["1", "3", "4"]])
  }

  @Test func `M14: all records are fetched again, and unsent edits stay`() async throws {
    let pair = try await pairWithEdits()
    try await pair.mirror.fetchAllAgain()
    let report = try await pair.sync()
    #expect(report.sent == 2 && report.sentDeletions == 1)
    #expect(try await pair.names == [["1", "3", "4"], ["1", "3", "4"]])
  }

  @Test func `M14: a removed mirror leaves nothing in the file, and a new one merges`() async throws
  {
    let pair = try await pairWithEdits()
    let other = RecordMirror(of: ["Author"], in: pair.local, with: pair.base, named: "second")
    _ = try await other.sync.run().get()
    try await pair.mirror.removeMirror()
    #expect(try await tables(pair).count == 4)
    try await other.removeMirror()
    #expect(try await tables(pair).isEmpty)
    #expect(try await other.lostValues().isEmpty)
    try await other.removeMirror()
    #expect(try await pair.mirror.discardLocalEdits(of: [id("1")]) == 0)
    #expect(try await pair.local.record(id("1"))?["title"] == "Persuasion")
    _ = try await pair.sync()
    #expect(try await pair.names == [["1", "2", "3", "4"], ["1", "2", "3", "4"]])
  }

  private func tables(_ pair: MirrorPair) async throws -> [String] {
    try await pair.local.read { connection in
      try connection.fetchAll(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE '\\_record\\_mirror%' ESCAPE '\\'"
      ) { $0.text(at: 0) ?? "" }
    }
  }
}
