import CompositeOperations
import Foundation
import RecordOperations
import SQLiteSupport
import Testing

@Suite struct RecordSchemaTests {
  private static let fields: KeyValuePairs<String, RecordSchema.Field> = [
    "title": .string, "pages": .integer, "price": .double, "cover": .bytes, "lent": .date,
    "tags": .list, "shelf": .reference(to: "Shelf", onDelete: .nullify),
    "any": .reference(to: "Shelf", onDelete: .keep),
  ]
  private static let book = RecordSchema(
    "Book", fields: fields, indexes: [["title", "pages"]], unique: [["title"]])

  /// The SQL of the tables and indexes of a file.
  private func schema(of folder: TemporaryFolder) throws -> [String] {
    try otherConnection(folder.file()).fetchAll(
      "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND type <> 'trigger' AND tbl_name = 'Book' ORDER BY name"
    ) { $0.text(at: 0) ?? "" }
  }

  @Test func `D17: a declared field has a column, so that queries for it find nothing`()
    async throws
  {
    let folder = try TemporaryFolder()
    let database = SQLiteRecordDatabase(folder.file())
    try await database.adopt([Self.book])
    let query = RecordQuery("Book", where: Field("pages") > 3 && Field("lent") == FieldValue.null)
    #expect(try await database.all(query) == [])
    let misspelled = await failure {
      _ = try await database.all(RecordQuery("Book", where: Field("page") > 3))
    }
    #expect(misspelled.text.contains("Book has no column \"page\""))
    // Values are taken as they are where no schema was adopted.
    let values: [String: FieldValue] = [
      "title": "t", "pages": 1, "price": 2, "cover": .bytes([1]),
      "lent": .date(Date(timeIntervalSince1970: 0)), "tags": ["a", 1], "shelf": .null,
      "any": .reference(RecordReference(RecordID("Other", "1"))),
    ]
    try await database.save(record("1", values))
    #expect(try await database.all(RecordQuery("Book"))[0]["price"] == 2.0)
    #expect(await database.refusal(of: record("2", ["pages": "many"])).code == "invalid")
    // Adopting it again changes nothing.
    let (tables, token) = (
      try schema(of: folder), try await database.allChanges(since: nil).token
    )
    #expect(tables.count == 3)
    try await database.adopt([Self.book])
    #expect(try schema(of: folder) == tables)
    #expect(try await database.allChanges(since: token).changed.isEmpty)
  }

  @Test func `D17: a renamed field keeps its values, which are reported as changes`() async throws {
    let folder = try TemporaryFolder()
    let database = SQLiteRecordDatabase(folder.file())
    try await database.adopt([
      RecordSchema("Book", fields: ["name": .string], unique: [["name"]])
    ])
    for (id, name) in [("1", "a"), ("2", "b"), ("3", .null)] as [(String, FieldValue)] {
      try await database.save(record(id, ["name": name]))
    }
    let token = try await database.allChanges(since: nil).token
    let renamed = RecordSchema(
      "Book", fields: ["title": .string], renamed: ["label": "title", "name": "title"],
      unique: [["title"]])
    try await database.adopt([renamed])
    #expect(try await database.all(RecordQuery("Book")).map { $0["title"] } == ["a", "b", .null])
    #expect(try await database.all(RecordQuery("Book")).allSatisfy { !$0.has("name") })
    #expect(try await database.allChanges(since: token).changed.map(\.id.name) == ["1", "2"])
    #expect(try schema(of: folder).filter { $0.hasPrefix("CREATE UNIQUE") }.count == 1)
    // An earlier version of the program writes again.
    try await database.save(record("3", ["name": "c"]), policy: .changedKeys)
    try await database.save(record("1", ["name": "a"]), policy: .changedKeys)
    try await database.adopt([renamed])
    #expect(try await database.all(RecordQuery("Book")).map { $0["title"] } == ["a", "b", "c"])
    // Of two values, none is lost.
    try await database.save(record("2", ["name": "other"]), policy: .changedKeys)
    let before = try schema(of: folder)
    let refusal = await failure { try await database.adopt([renamed]) }
    #expect(refusal.text.contains("Book/2 has different values in name and title"))
    #expect(try schema(of: folder) == before)
  }

  @Test func `D17: a removed field is dropped with its indexes, and reported`() async throws {
    let folder = try TemporaryFolder()
    let database = SQLiteRecordDatabase(folder.file())
    try await database.adopt([Self.book])
    try await database.save(record("s", type: "Shelf", ["a": 1]))
    let shelf = RecordReference(RecordID("Shelf", "s"), onDelete: .nullify)
    try await database.save(record("1", ["title": "t", "shelf": .reference(shelf)]))
    try await database.save(record("2", ["pages": 1]))
    let token = try await database.allChanges(since: nil).token
    try await database.adopt([
      RecordSchema("Book", fields: ["pages": .integer], removed: ["title", "shelf", "never"])
    ])
    #expect(try await database.allChanges(since: token).changed.map(\.id.name) == ["1"])
    let records = try await database.all(RecordQuery("Book"))
    #expect(records.allSatisfy { !$0.has("title") && !$0.has("shelf") && $0.has("price") })
    #expect(try schema(of: folder).count == 1)
    // A later record may use it again, as another kind.
    try await database.save(record("3", ["title": 7]))
  }

  @Test func `D17: an index that is unique refuses records, and names those that are the same`()
    async throws
  {
    let folder = try TemporaryFolder()
    let database = SQLiteRecordDatabase(folder.file())
    for (id, title) in [("1", "a"), ("2", .null), ("3", .null), ("4", "a")]
      as [(String, FieldValue)]
    {
      try await database.save(record(id, ["title": title, "name": .integer(1)]))
    }
    let schema = RecordSchema(
      "Book", fields: ["title": .string, "name": .integer], unique: [["title", "name"]])
    let refusal = await failure { try await database.adopt([schema]) }
    #expect(refusal.text.contains("Book/1 and Book/4 have the same title, name"))
    _ = try await database.delete(RecordID("Book", "4"))
    try await database.adopt([schema])
    #expect(await database.refusal(of: record("5", ["title": "a", "name": 1])).code != "none")
    try await database.save(record("6", ["title": "a", "name": 2]))
  }

  @Test(
    arguments: [
      (RecordSchema("Book", fields: ["pages": .string]), "the column pages of Book is INTEGER"),
      (RecordSchema("Book", fields: ["title": .date]), "is TEXT; its schema has date"),
      (
        RecordSchema("Book", fields: ["any": .reference(to: "Shelf", onDelete: .cascade)]),
        "its schema has references to Shelf with the rule cascade"
      ),
      (RecordSchema("Book", fields: ["a": .list, "a": .date]), "has the field a twice"),
      (
        RecordSchema("Book", fields: ["a": .list], renamed: ["b": "c"]),
        "renames b to c, which is none of its fields"
      ),
      (RecordSchema("Book", fields: ["a": .list], removed: ["a"]), "removes a, which is one"),
      (
        RecordSchema("Book", fields: ["a": .list], renamed: ["b": "a"], removed: ["b"]),
        "renames and removes b"
      ),
      (RecordSchema("Book", fields: ["a": .list], indexes: [[]]), "an index without fields"),
      (RecordSchema("Book", fields: ["a": .list], unique: [["b"]]), "an index of b, which is none"),
      (
        RecordSchema("Other", fields: ["a": .integer], removed: ["b"]), "Other was not created here"
      ),
      (RecordSchema("Other", fields: ["new": .integer]), #"Other has no column "new""#),
      (RecordSchema("_record_x", fields: [:]), "is reserved"),
    ])
  func `D17: a schema that does not fit changes nothing, and the error says why`(
    schema: RecordSchema, text: String
  ) async throws {
    let folder = try TemporaryFolder()
    let database = SQLiteRecordDatabase(folder.file())
    try execute(["CREATE TABLE Other (a INTEGER, b)"], in: folder.file())
    try await database.adopt([Self.book])
    let before = try self.schema(of: folder)
    let refusal = await failure {
      try await database.adopt([RecordSchema("Book", fields: ["more": .list]), schema])
    }
    #expect(refusal.code == "invalid" && refusal.text.contains(text), "\(refusal)")
    #expect(try self.schema(of: folder) == before)
  }

  @Test func `D17: fields of a mirrored type are not renamed or removed here`() async throws {
    let folder = try TemporaryFolder()
    let database = SQLiteRecordDatabase(folder.file())
    let remote = MemoryRecordDatabase()
    let mirror = RecordMirror(of: ["Book"], in: database, with: remote)
    try await database.save(record("1", ["title": "t"]))
    _ = try await mirror.sync.run().get()
    let refusal = await failure {
      try await database.adopt([RecordSchema("Book", fields: [:], removed: ["title"])])
    }
    #expect(refusal.text.contains("Book is mirrored, so its field title"))
    // New fields and indexes are no change of a record.
    try await database.adopt([
      RecordSchema("Book", fields: ["title": .string, "new": .date], unique: [["title"]])
    ])
    #expect(try await mirror.sync.run().get().isEmpty)
    try await mirror.removeMirror()
    try await database.adopt([RecordSchema("Book", fields: [:], removed: ["title"])])
  }
}
