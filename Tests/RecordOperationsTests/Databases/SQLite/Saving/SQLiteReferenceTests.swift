import Foundation
import RecordOperations
import Testing

@Suite struct SQLiteReferenceTests {
  private func book(_ rule: RecordReference.DeleteRule, to author: String) -> DatabaseRecord {
    var book = DatabaseRecord("Book", "emma")
    book["author"] = .reference(RecordReference(RecordID("Author", author), onDelete: rule))
    return book
  }

  static let rules: [(RecordReference.DeleteRule, reply: String, author: FieldValue?)] = [
    (.keep, "deleted", .reference(RecordReference(RecordID("Author", "jane")))),
    (.nullify, "deleted", .null), (.cascade, "deleted", nil),
    (
      .deny, "referenceViolated",
      .reference(RecordReference(RecordID("Author", "jane"), onDelete: .deny))
    ),
  ]

  @Test(arguments: rules)
  func `the delete rule determines what happens to a record that refers to a deleted one`(
    rule: RecordReference.DeleteRule, reply: String, author: FieldValue?
  ) async throws {
    let folder = try TemporaryFolder()
    let database = SQLiteRecordDatabase(folder.file())
    let saved = try await database.save(DatabaseRecord("Author", "jane"), book(rule, to: "jane"))
    let token = try await database.allChanges(since: nil).token
    let deletion = try await database.delete(RecordID("Author", "jane"))
    #expect(deletion.code == reply)
    if case .failed(let error) = deletion, case .referenceViolated(let id) = error.reason {
      #expect(id == RecordID("Book", "emma"))
    }
    let now = try await database.record(saved[1].id)
    #expect(now?["author"] == author)
    // Changes that SQLite makes through foreign keys are recorded too.
    let changes = try await database.allChanges(since: token)
    #expect(changes.changed.map(\.id) == (rule == .nullify ? [saved[1].id] : []))
    #expect(changes.deleted.contains(saved[1].id) == (rule == .cascade))
  }

  @Test(arguments: RecordReference.DeleteRule.allCases)
  func `only a reference with the rule keep can refer to a missing record`(
    rule: RecordReference.DeleteRule
  ) async throws {
    let folder = try TemporaryFolder()
    let database = SQLiteRecordDatabase(folder.file())
    let reply = try await database.modify(
      RecordBatch([.save(book(rule, to: "nobody"), .ifUnchanged)]))[0]
    #expect(reply.code == (rule == .keep ? "saved" : "referenceViolated"))
    if case .failed(let error) = reply, case .referenceViolated(let id) = error.reason {
      #expect(id == RecordID("Author", "nobody"))
    }
  }

  @Test func `foreign keys of any file are read as references`() async throws {
    let folder = try TemporaryFolder()
    try execute(
      [
        "CREATE TABLE Author (id INTEGER PRIMARY KEY, name TEXT UNIQUE)",
        """
        CREATE TABLE Book (isbn TEXT PRIMARY KEY, by INTEGER REFERENCES author, \
        editor INTEGER REFERENCES Author(id) ON DELETE SET NULL, named TEXT REFERENCES Author(name))
        """,
        "INSERT INTO Author VALUES (7, 'Jane')",
        "INSERT INTO Book VALUES ('1', 7, 7, 'Jane')",
      ], in: folder.file())
    let database = SQLiteRecordDatabase(folder.file(), SQLiteOptions(access: .existing))
    var book = try #require(try await database.record(RecordID("Book", "1")))
    let author = RecordID("Author", "7")
    #expect(
      book.fields == [
        "by": .reference(RecordReference(author, onDelete: .deny)),
        "editor": .reference(RecordReference(author, onDelete: .nullify)),
        // The referenced column is not the primary key.
        "named": "Jane",
      ])
    book["by"] = .reference(RecordReference(author, onDelete: .cascade))
    #expect(
      await database.refusal(of: book, policy: .allKeys).code == "invalid")
    book["by"] = .reference(RecordReference(RecordID("Author", "8"), onDelete: .deny))
    let (code, text) = await database.refusal(of: book, policy: .allKeys)
    #expect(code == "referenceViolated" && text.contains("Author/8"))
    #expect(try await database.delete(author).code == "referenceViolated")
  }
}
