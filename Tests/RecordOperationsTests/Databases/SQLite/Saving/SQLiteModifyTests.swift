import Foundation
import RecordOperations
import Testing

@Suite struct SQLiteModifyTests {
  private static let id = RecordID("Book", "1")

  /// The fields of the stored record.
  private static let before: [String: FieldValue] = ["a": 1, "b": 1, "c": 1]

  enum Situation: String, CaseIterable {
    /// The record is neither stored nor known.
    case new
    /// It was read and has not changed since.
    case unchanged
    /// It was read, and another writer has set b to 2 since.
    case changed
    /// It was read, and another writer has deleted it since.
    case deleted
    /// It is stored, but was not read.
    case unknown
  }

  // The saved record has a set to 5, and does not contain c.
  static let table: [(SavePolicy, Situation, String, [String: FieldValue]?)] = [
    (.ifUnchanged, .new, "saved", ["a": 5, "b": 1]),
    (.ifUnchanged, .unchanged, "saved", ["a": 5, "b": 1, "c": 1]),
    (.ifUnchanged, .changed, "conflict", ["a": 1, "b": 2, "c": 1]),
    (.ifUnchanged, .deleted, "unknownRecord", nil),
    (.ifUnchanged, .unknown, "conflict", ["a": 1, "b": 1, "c": 1]),
    (.changedKeys, .new, "saved", ["a": 5, "b": 1]),
    (.changedKeys, .unchanged, "saved", ["a": 5, "b": 1, "c": 1]),
    (.changedKeys, .changed, "saved", ["a": 5, "b": 2, "c": 1]),
    (.changedKeys, .deleted, "saved", ["a": 5, "b": nil, "c": nil]),
    (.changedKeys, .unknown, "saved", ["a": 5, "b": 1, "c": 1]),
    (.allKeys, .new, "saved", ["a": 5, "b": 1]),
    (.allKeys, .unchanged, "saved", ["a": 5, "b": 1, "c": 1]),
    (.allKeys, .changed, "saved", ["a": 5, "b": 1, "c": 1]),
    (.allKeys, .deleted, "saved", ["a": 5, "b": 1, "c": nil]),
    (.allKeys, .unknown, "saved", ["a": 5, "b": 1, "c": 1]),
    (.replace, .new, "saved", ["a": 5, "b": 1]),
    (.replace, .unchanged, "saved", ["a": 5, "b": 1, "c": nil]),
    (.replace, .changed, "saved", ["a": 5, "b": 1, "c": nil]),
    (.replace, .deleted, "saved", ["a": 5, "b": 1, "c": nil]),
    (.replace, .unknown, "saved", ["a": 5, "b": 1, "c": nil]),
  ]

  @Test(arguments: table)
  func `a record is saved according to the policy`(
    policy: SavePolicy, situation: Situation, code: String, fields: [String: FieldValue]?
  ) async throws {
    let folder = try TemporaryFolder()
    let database = SQLiteRecordDatabase(folder.file())
    var record = DatabaseRecord(Self.id)
    record["b"] = 1
    if situation != .new {
      var first = DatabaseRecord(Self.id)
      for (key, value) in Self.before { first[key] = value }
      try await database.save(first)
      if situation != .unknown {
        record = try #require(try await database.lookup([Self.id], keys: ["a", "b"])[Self.id])
      }
    }
    let other = SQLiteRecordDatabase(folder.file())
    if situation == .changed {
      var copy = try #require(try await other.record(Self.id))
      copy["b"] = 2
      try await other.save(copy)
    } else if situation == .deleted {
      #expect(try await other.delete(Self.id).code == "deleted")
    }
    record["a"] = 5
    let reply = try await database.modify(RecordBatch([.save(record, policy)]))[0]
    #expect(reply.code == code)
    let now = try await database.record(Self.id)
    #expect(now?.fields == fields)
    switch reply {
    case .saved(let saved):
      #expect(saved.tag == now?.tag && saved.tag != record.tag)
      #expect(saved.modified == now?.modified && saved.modified != nil)
      #expect(saved.keys == record.keys && saved.changedKeys == [])
      for key in saved.keys { #expect(saved[key] == now?[key]) }
    case .failed(let error):
      #expect(error.record == Self.id)
      if case .conflict(let theirs) = error.reason { #expect(theirs == now) }
    case .deleted: Issue.record("unexpected reply: deleted")
    }
  }

  @Test func `a saved record can be saved again without a conflict`() async throws {
    let folder = try TemporaryFolder()
    let database = SQLiteRecordDatabase(folder.file())
    var record = DatabaseRecord("Book")
    for number in 0..<3 {
      record["number"] = .integer(Int64(number))
      record = try await database.save(record)[0]
    }
    #expect(try await database.record(record.id) == record)
    // A save without changes also assigns a new tag.
    #expect(try await database.save(record)[0].tag != record.tag)
  }

  @Test func `each change has its own reply, in the order of the batch`() async throws {
    let folder = try TemporaryFolder()
    let database = SQLiteRecordDatabase(folder.file())
    let there = try await database.save(DatabaseRecord("Book", "there"))[0]
    var wrong = DatabaseRecord("Book", "wrong")
    wrong["title"] = .double(.nan)
    var new = DatabaseRecord("Book", "new")
    new["title"] = "Emma"
    let changes: [RecordChange] = [
      .save(DatabaseRecord("Book", "there"), .ifUnchanged), .save(wrong, .ifUnchanged),
      .save(new, .ifUnchanged), .delete(RecordID("Book", "gone"), ifTagged: nil),
      .delete(RecordID("Shelf", "gone"), ifTagged: nil),
      .delete(there.id, ifTagged: RecordTag("0")), .delete(there.id, ifTagged: there.tag),
      .save(DatabaseRecord(RecordID("Book", "x", in: RecordZone("z"))), .ifUnchanged),
    ]
    let codes = try await database.modify(RecordBatch(changes)).map(\.code)
    #expect(
      codes == [
        "conflict", "invalid", "saved", "unknownRecord", "unknownRecord", "conflict", "deleted",
        "unsupported",
      ])
    #expect(try await database.all(RecordQuery("Book")).map(\.id.name) == ["new"])
  }

  @Test func `an atomic batch with one failure changes nothing`() async throws {
    let folder = try TemporaryFolder()
    let database = SQLiteRecordDatabase(folder.file())
    try await database.save(DatabaseRecord("Book", "there"))
    var other = DatabaseRecord("Shelf", "1")
    other["height"] = 2.5
    let changes: [RecordChange] = [
      .save(other, .ifUnchanged), .save(DatabaseRecord("Book", "there"), .ifUnchanged),
      .delete(RecordID("Book", "there"), ifTagged: nil),
    ]
    let replies = try await database.modify(RecordBatch(changes, isAtomic: true))
    #expect(replies.map(\.code) == ["batchFailed", "conflict", "batchFailed"])
    #expect(try await database.read { try $0.tables() } == ["Book"])
    #expect(try await database.all(RecordQuery("Book")).count == 1)
    // The rolled-back table is created again.
    #expect(try await database.save(other)[0]["height"] == 2.5)
  }

  @Test func `a table whose creation was rolled back does not remain in the schema cache`()
    async throws
  {
    for count in 1...12 {
      let folder = try TemporaryFolder()
      let database = SQLiteRecordDatabase(folder.file())
      try await database.save(DatabaseRecord("Book", "1"))
      let changes: [RecordChange] = [
        .save(DatabaseRecord("Shelf", "1"), .ifUnchanged),
        .save(DatabaseRecord("Book", "1"), .ifUnchanged),
      ]
      _ = try await database.modify(RecordBatch(changes, isAtomic: true))
      // Some counts reach the schema version of the rolled-back table.
      try execute((0..<count).map { "CREATE TABLE T\($0) (a)" }, in: folder.file())
      let saved = try await database.save(DatabaseRecord("Shelf", "1"))[0]
      #expect(saved.tag != nil, "\(count)")
    }
  }

  @Test func `a trigger that rolls back fails the request as a whole`() async throws {
    let folder = try TemporaryFolder()
    let database = SQLiteRecordDatabase(folder.file())
    try await database.save(DatabaseRecord("Book", "0"))
    try execute(
      [
        """
        CREATE TRIGGER no BEFORE INSERT ON Book WHEN NEW.id = 'bad'
        BEGIN SELECT RAISE(ROLLBACK, 'no bad books'); END
        """
      ], in: folder.file())
    let changes = ["1", "bad", "2"].map {
      RecordChange.save(DatabaseRecord("Book", $0), .ifUnchanged)
    }
    let (code, text) = await failure { _ = try await database.modify(RecordBatch(changes)) }
    #expect(code == "invalid" && text.contains("no bad books"))
    #expect(try await database.all(RecordQuery("Book")).map(\.id.name) == ["0"])
    try await database.save(DatabaseRecord("Book", "3"))
  }

  @Test func `values of all kinds are read as they were saved`() async throws {
    let folder = try TemporaryFolder()
    let database = SQLiteRecordDatabase(folder.file())
    try await database.save(DatabaseRecord("Author", "jane"))
    var record = DatabaseRecord("Book", "1\0/\"x\" é")
    record["null"] = nil
    record["integer"] = .integer(.min)
    record["double"] = 0.1
    record["string"] = "a\0b'\"; DROP TABLE Book; --"
    record["bytes"] = .bytes([0, 1, 255])
    record["date"] = .date(Date(timeIntervalSince1970: 1_795_348_984.123))
    record["list"] = .list([
      nil, 1, 2.5, "a\0\n\u{1f}\"\\é", .bytes([1, 2, 3]), .date(Date(timeIntervalSince1970: 0)),
      .reference(RecordReference(RecordID("Author", "x/y"))),
    ])
    for rule in RecordReference.DeleteRule.allCases {
      record["to \(rule)"] = .reference(
        RecordReference(RecordID("Author", "jane"), onDelete: rule))
    }
    record["a \"quoted\" key; --"] = 1
    let saved = try await database.save(record)[0]
    #expect(saved.fields == record.fields)
    let reopened = SQLiteRecordDatabase(folder.file(), SQLiteOptions(access: .readOnly))
    #expect(try await reopened.record(record.id) == saved)
  }

  static let refused: [(String, FieldValue, FieldValue)] = [
    ("INTEGER", 1, 1.5), ("INTEGER", 1, "1"), ("REAL", 1.5, .integer(9_007_199_254_740_993)),
    ("TEXT", "a", 1), ("TEXT", "a", .date(Date(timeIntervalSince1970: 0))),
    ("BLOB", .bytes([]), "a"),
    ("TEXT DATE", .date(Date(timeIntervalSince1970: 0)), "2026-11-22T12:03:04.123Z"),
    ("TEXT DATE", .date(Date(timeIntervalSince1970: 0)), .date(Date(timeIntervalSince1970: 1e12))),
    ("TEXT LIST", [1], 1), ("TEXT LIST", [1], [[1]]),
    ("TEXT REFERENCE", .reference(RecordReference(RecordID("A", "1"))), "A/1"),
    (
      "TEXT REFERENCE", .reference(RecordReference(RecordID("A", "1"))),
      .reference(RecordReference(RecordID("A/B", "1")))
    ),
  ]

  @Test(arguments: refused)
  func `a value of another kind is refused with its field, record type and column type`(
    type: String, first: FieldValue, second: FieldValue
  ) async throws {
    let folder = try TemporaryFolder()
    let database = SQLiteRecordDatabase(folder.file())
    var record = DatabaseRecord("Book", "1")
    record["field"] = first
    record = try await database.save(record)[0]
    record["field"] = second
    let (code, text) = await database.refusal(of: record)
    #expect(code == "invalid")
    for part in ["field", "Book", type] { #expect(text.contains(part), "\(text)") }
    record["field"] = nil
    #expect(try await database.save(record)[0]["field"] == .null)
  }

  @Test func `an integer that a double can represent is saved in a REAL column`() async throws {
    let folder = try TemporaryFolder()
    let database = SQLiteRecordDatabase(folder.file())
    var record = DatabaseRecord("Book", "1")
    record["price"] = 1.5
    record = try await database.save(record)[0]
    record["price"] = 2
    #expect(try await database.save(record)[0]["price"] == .double(2))
    #expect(try await database.record(record.id)?["price"] == .double(2))
  }

  @Test func `the first value other than null determines the type of its column`() async throws {
    let folder = try TemporaryFolder()
    let database = SQLiteRecordDatabase(folder.file())
    var record = DatabaseRecord("Book", "1")
    record["lent"] = nil
    record = try await database.save(record)[0]
    #expect(record.has("lent"))
    #expect(
      try await database.all(RecordQuery("Book", where: Field<String>("lent").isNull)).count == 1)
    let date = FieldValue.date(Date(timeIntervalSince1970: 1))
    record["lent"] = date
    #expect(try await database.save(record)[0]["lent"] == date)
    #expect(try await database.record(record.id)?["lent"] == date)
  }

  static let names: [(type: String, key: String)] = [
    ("sqlite_x", "a"), ("SQLite_stat1", "a"), ("_record_states", "a"), ("_Records", "a"),
    ("", "a"), ("a\0b", "a"), ("Book", ""), ("Book", "a\0b"), ("Book", "id"), ("Book", "ID"),
    ("Book", "Title"), ("book", "a"),
  ]

  @Test(arguments: names)
  func `names that SQLite cannot distinguish or reserves are refused`(
    type: String, key: String
  ) async throws {
    let folder = try TemporaryFolder()
    let database = SQLiteRecordDatabase(folder.file())
    var book = DatabaseRecord("Book", "1")
    book["title"] = "Emma"
    try await database.save(book)
    var record = DatabaseRecord(type, "2")
    record[key] = 1
    #expect(await database.refusal(of: record).code == "invalid")
    #expect(try await database.read { try $0.tables() } == ["Book"])
    #expect(try await database.all(RecordQuery("Book")).map(\.keys) == [["title"]])
  }

  @Test func `a batch above the limits is refused as a whole`() async throws {
    let folder = try TemporaryFolder()
    let database = SQLiteRecordDatabase(
      folder.file(), SQLiteOptions(limits: RecordLimits(items: 2, bytes: 100)))
    let three = (0..<3).map { RecordChange.save(DatabaseRecord("A", "\($0)"), .ifUnchanged) }
    #expect(
      await failure { _ = try await database.modify(RecordBatch(three)) }.code == "limitExceeded")
    var large = DatabaseRecord("A")
    large["text"] = .string(String(repeating: "x", count: 90))
    let one = RecordBatch([.save(large, .ifUnchanged)])
    #expect(await failure { _ = try await database.modify(one) }.code == "limitExceeded")
    let two = RecordBatch([.save(large, .ifUnchanged), three[0]])
    #expect(await failure { _ = try await database.modify(two) }.code == "limitExceeded")
  }
}
