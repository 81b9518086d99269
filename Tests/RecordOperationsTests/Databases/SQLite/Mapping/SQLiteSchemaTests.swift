import Foundation
import RecordOperations
import Testing

@Suite struct SQLiteSchemaTests {
  static let tables: [(sql: String, names: [String], fields: [String])] = [
    ("(id TEXT PRIMARY KEY, a)", ["x"], ["a"]),
    ("(id INTEGER PRIMARY KEY, a)", ["7"], ["a"]),
    ("(id INT PRIMARY KEY, a)", ["7"], ["a"]),
    ("(id, a)", ["1"], ["a", "id"]),
    ("(id BLOB PRIMARY KEY, a)", ["1"], ["a", "id"]),
    ("(id TEXT, a, PRIMARY KEY (id, a))", ["[\"x\",5]"], ["a", "id"]),
    ("(id TEXT, a, PRIMARY KEY (a, id)) WITHOUT ROWID", ["[5,\"x\"]"], ["a", "id"]),
    ("(id BLOB, a, PRIMARY KEY (id)) WITHOUT ROWID", ["[\"x\"]"], ["a", "id"]),
    ("(id TEXT PRIMARY KEY, a, b AS (a + 1), c AS (a + 2) STORED)", ["x"], ["a", "b", "c"]),
    ("(id TEXT PRIMARY KEY, rowid, oid, _rowid_, a)", ["x"], ["_rowid_", "a", "oid", "rowid"]),
    ("(id TEXT PRIMARY KEY, a ANY) STRICT", ["x"], ["a"]),
  ]

  @Test func `a save adds no columns to another program's table`() async throws {
    let folder = try TemporaryFolder()
    try execute(["CREATE TABLE Book (name TEXT PRIMARY KEY, title)"], in: folder.file())
    let database = SQLiteRecordDatabase(folder.file())
    let refusal = await database.refusal(of: record("1", ["titel": "Emma"]))
    #expect(refusal.code == "invalid")
    #expect(refusal.text.contains("Book has no column \"titel\"; columns: name, title"))
    #expect(try await database.read { try $0.table("Book")?.columns.count } == 2)
  }

  @Test func `keys that differ only in case are refused, including new ones`() async throws {
    let folder = try TemporaryFolder()
    let database = SQLiteRecordDatabase(folder.file())
    try await database.save(record("1", ["b": 1]))
    let refusal = await database.refusal(of: record("2", ["A": 1, "a": 2]))
    #expect(refusal.code == "invalid" && refusal.text.contains("only in case"))
  }

  @Test(arguments: tables)
  func `the rows of any table are records`(
    sql: String, names: [String], fields: [String]
  ) async throws {
    let folder = try TemporaryFolder()
    let id = sql.contains("INT") ? "7" : "'x'"
    try execute(
      ["CREATE TABLE T \(sql)", "INSERT INTO T (id, a) VALUES (\(id), 5)"], in: folder.file())
    let database = SQLiteRecordDatabase(folder.file())
    var record = try #require(try await database.all(RecordQuery("T")).first)
    #expect(record.id.name == names[0] && record.keys == fields && record["a"] == 5)
    #expect(try await database.record(record.id) == record)
    #expect(try await database.record(RecordID("T", "07")) == nil)
    // A column of the key cannot be changed, because it identifies the record.
    let isPart = sql.contains("(id, a)") || sql.contains("(a, id)")
    record["a"] = isPart ? 5 : 6
    let saved = try await database.save(record, policy: .changedKeys)[0]
    #expect(saved["a"] == record["a"])
    #expect(try await database.record(record.id)?.tag == saved.tag)
    #expect(try await database.delete(record.id, ifTagged: saved.tag).code == "deleted")
    #expect(try await database.all(RecordQuery("T")) == [])
    #expect(try await database.allChanges(since: nil).changed == [])
  }

  @Test func `a row is inserted by its record name, whatever the primary key`() async throws {
    let folder = try TemporaryFolder()
    try execute(
      [
        "CREATE TABLE pairs (a INTEGER, b BLOB, c TEXT, PRIMARY KEY (a, b))",
        "CREATE TABLE rows (c TEXT)", "CREATE TABLE numbers (n INTEGER PRIMARY KEY, c TEXT)",
      ], in: folder.file())
    let database = SQLiteRecordDatabase(folder.file())
    for id in [
      RecordID("pairs", "[1,{\"hex\":\"00FF\"}]"), RecordID("rows", "12"),
      RecordID("pairs", "[-1,\"\\\"\\\\'é\"]"), RecordID("pairs", "[0,null]"),
      RecordID("numbers", "-3"),
    ] {
      var record = DatabaseRecord(id)
      record["c"] = "x"
      let saved = try await database.save(record)[0]
      #expect(try await database.all(RecordQuery(id.type)).map(\.id).contains(id))
      #expect(try await database.record(id)?.tag == saved.tag)
    }
    for id in [RecordID("pairs", "1"), RecordID("rows", "x"), RecordID("numbers", "+3")] {
      #expect(await database.refusal(of: DatabaseRecord(id)).code == "invalid")
      #expect(try await database.delete(id).code == "unknownRecord")
    }
    var other = DatabaseRecord("pairs", "[2,{\"hex\":\"\"}]")
    other["a"] = 3
    #expect(await database.refusal(of: other).code == "invalid")
  }

  @Test func `a view can be queried page by page, but not changed`() async throws {
    let folder = try TemporaryFolder()
    try execute(
      [
        "CREATE TABLE Book (id TEXT PRIMARY KEY, pages INTEGER)",
        "INSERT INTO Book VALUES ('a', 3), ('b', 1), ('c', 2)",
        "CREATE VIEW Thick AS SELECT id AS title, pages, pages * 2 AS sides FROM Book WHERE pages > 1",
      ], in: folder.file())
    let database = SQLiteRecordDatabase(folder.file())
    let query = RecordQuery(
      "Thick", where: Field<Int>("sides") > 1, sortedBy: [.descending("pages")])
    let found = try await database.all(query, page: 1)
    #expect(found.map { $0["title"] } == ["a", "c"])
    #expect(await database.refusal(of: DatabaseRecord("Thick", "1")).code == "unsupported")
  }

  @Test func `a generated column can be read, but not set`() async throws {
    let folder = try TemporaryFolder()
    try execute(
      [
        "CREATE TABLE Book (id TEXT PRIMARY KEY, a, b AS (a * 2))",
        "INSERT INTO Book VALUES ('x', 2)",
      ],
      in: folder.file())
    let database = SQLiteRecordDatabase(folder.file())
    var record = try #require(try await database.record(RecordID("Book", "x")))
    #expect(record["b"] == 4)
    record["b"] = 5
    #expect(await database.refusal(of: record, policy: .changedKeys).code == "invalid")
    var new = DatabaseRecord("Book", "x")
    new["a"] = 3
    try await database.save(new, policy: .replace)
    #expect(try await database.record(new.id)?["b"] == 6)
  }

  @Test func `values that do not match their column type are read unchanged`() async throws {
    let folder = try TemporaryFolder()
    try execute(
      [
        """
        CREATE TABLE "a ""b""; --" (id TEXT PRIMARY KEY, "t" TEXT, "d" TEXT DATE, "l" TEXT LIST, \
        "r" TEXT REFERENCE, "i" INTEGER, "select * from" REAL)
        """,
        """
        INSERT INTO "a ""b""; --" VALUES ('1', CAST(x'61FF' AS TEXT), '2026-02-30T00:00:00.000Z', \
        '[1,[2]]', 'nothing', 'text', x'00')
        """,
        "INSERT INTO \"a \"\"b\"\"; --\" (id, t, l) VALUES ('2', CAST(x'610062' AS TEXT), '{')",
        "INSERT INTO \"a \"\"b\"\"; --\" (id, t, i) VALUES ('3', zeroblob(5000000), 1e300)",
      ], in: folder.file())
    let database = SQLiteRecordDatabase(folder.file())
    let type = "a \"b\"; --"
    let found = try await database.all(RecordQuery(type))
    #expect(
      found[0].fields == [
        "t": .bytes([0x61, 0xFF]), "d": "2026-02-30T00:00:00.000Z", "l": "[1,[2]]", "r": "nothing",
        "i": "text", "select * from": .bytes([0]),
      ])
    #expect(found[1]["t"] == "a\0b" && found[1]["l"] == "{")
    #expect(
      found[2]["t"] == .bytes([UInt8](repeating: 0, count: 5_000_000)) && found[2]["i"] == 1e300)
    let date = Field<Date>("d") > Date(timeIntervalSince1970: 0)
    #expect(try await database.all(RecordQuery(type, where: date)).isEmpty)
    let includes = Field<[Int]>("l").includes(1) || Field<String>("d").hasPrefix("2026-02-30")
    #expect(try await database.all(RecordQuery(type, where: includes)).map(\.id.name) == ["1"])
    // A page can also end at a value that is not a valid text.
    let sorted = RecordQuery(type, sortedBy: [.descending("t")])
    #expect(try await database.all(sorted, page: 1).map(\.id.name) == ["3", "1", "2"])
  }

  @Test func `a table or column of another program is visible to the next request`() async throws {
    let folder = try TemporaryFolder()
    let database = SQLiteRecordDatabase(folder.file())
    try await database.save(DatabaseRecord("Book", "1"))
    #expect(try await database.all(RecordQuery("Book")).map(\.keys) == [[]])
    try execute(
      ["ALTER TABLE Book ADD COLUMN title TEXT", "CREATE TABLE Shelf (a)"], in: folder.file())
    #expect(try await database.all(RecordQuery("Book")).map(\.keys) == [["title"]])
    #expect(try await database.read { try $0.tables() } == ["Book", "Shelf"])
    try execute(
      ["DROP TABLE Book", "CREATE TABLE Book (title TEXT, id INTEGER PRIMARY KEY)"],
      in: folder.file())
    #expect(try await database.all(RecordQuery("Book")) == [])
    var record = DatabaseRecord("Book", "5")
    record["title"] = "Emma"
    let token = try await database.changes(since: nil, in: .default).token
    try await database.save(record)
    // The changes of the dropped table are unknown.
    #expect(
      await failure { _ = try await database.allChanges(since: token) }.code == "tokenExpired")
    #expect(try await database.allChanges(since: nil).changed.map(\.id.name) == ["5"])
  }

  // Computed at each access: the address sanitizer does not find the payload of an enumeration in a
  // global variable.
  static var invalidQueries: [(RecordQuery, part: String)] {
    [
      (RecordQuery("None"), "no such table: None (tables: Book)"),
      (RecordQuery("book"), "Book"),
      (RecordQuery("Book", where: Field<Int>("x") == 1), "columns: id, title"),
      (RecordQuery("Book", sortedBy: [.ascending("x")]), "columns: id, title"),
      (RecordQuery("Book", keys: ["id"]), "name of the record"),
      (
        RecordQuery("Book", where: Field("title").isOne(of: (0..<300_000).map { "\($0)" })),
        "the query compares with 300000 values; at most"
      ),
      (RecordQuery("Book", keys: ["x"]), "columns: title"),
      (RecordQuery("Book", where: .comparison("title", .equal, [1])), "includes"),
      (RecordQuery("Book", where: .isOne("title", of: [[1]])), "includes"),
      (RecordQuery("Book", where: .isOne("title", of: [.double(.nan)])), "NaN"),
      (RecordQuery("Book", sortedBy: [.ascending("tags")]), "list"),
    ]
  }

  @Test func `queries can compare and sort by the name column`() async throws {
    let folder = try TemporaryFolder()
    try execute(
      [
        "CREATE TABLE T (id INTEGER PRIMARY KEY, a)",
        "INSERT INTO T VALUES (1, 'x'), (2, 'y'), (10, 'z')",
      ],
      in: folder.file())
    let query = RecordQuery(
      "T", where: Field<Int>("id") > 1, sortedBy: [.descending("id")])
    let found = try await SQLiteRecordDatabase(folder.file()).all(query, page: 1)
    #expect(found.map(\.id.name) == ["10", "2"])
  }

  @Test(arguments: invalidQueries)
  func `an invalid query is refused with the available names or the reason`(
    query: RecordQuery, part: String
  ) async throws {
    let folder = try TemporaryFolder()
    try execute(
      ["CREATE TABLE Book (id TEXT PRIMARY KEY, title TEXT, tags TEXT LIST)"], in: folder.file())
    let database = SQLiteRecordDatabase(folder.file(), SQLiteOptions(access: .readOnly))
    let (code, text) = await failure { _ = try await database.all(query) }
    #expect(code == "invalid" && text.contains(part), "\(text)")
  }

  @Test func `a query for a type without saved records returns none`() async throws {
    let folder = try TemporaryFolder()
    let database = SQLiteRecordDatabase(folder.file())
    #expect(try await database.accountStatus() == .available)
    #expect(try folder.names == [])
    let nowhere = SQLiteRecordDatabase(folder.file("none/records.sqlite"))
    #expect(try await nowhere.accountStatus() == .restricted)
    #expect(try await database.all(RecordQuery("Book")) == [])
    #expect(try await database.record(RecordID("Book", "1")) == nil)
    #expect(try await database.allChanges(since: nil).changed == [])
  }

  @Test func `a predicate with thousands of parts is not too deep for SQLite`() async throws {
    let folder = try TemporaryFolder()
    let database = SQLiteRecordDatabase(folder.file())
    var record = DatabaseRecord("Book", "1")
    record["n"] = 4_999
    try await database.save(record)
    let parts = (0..<5_000).map { RecordPredicate.comparison("n", .equal, .integer($0)) }
    #expect(try await database.all(RecordQuery("Book", where: .any(parts))).count == 1)
    let numbers = Field<Int>("n").isOne(of: Array(0..<30_000))
    #expect(try await database.all(RecordQuery("Book", where: numbers)).count == 1)
  }

  static let constraints: [(String, DatabaseRecord, part: String)] = [
    ("a TEXT NOT NULL", DatabaseRecord("T", "1"), "T.a must not be null"),
    ("a TEXT, UNIQUE (a)", DatabaseRecord("T", "1"), "another record has the same T.a"),
    ("a TEXT CONSTRAINT short CHECK (a < 'b')", DatabaseRecord("T", "1"), "short"),
  ]

  @Test(arguments: constraints)
  func `the error for a violated constraint names the constraint`(
    columns: String, record: DatabaseRecord, part: String
  ) async throws {
    let folder = try TemporaryFolder()
    try execute(
      [
        "CREATE TABLE T (id TEXT PRIMARY KEY, \(columns))",
        "INSERT OR IGNORE INTO T VALUES ('0', 'x')",
      ],
      in: folder.file())
    let database = SQLiteRecordDatabase(folder.file())
    var record = record
    record["a"] = columns.contains("NOT NULL") ? nil : "x"
    let (code, text) = await database.refusal(of: record)
    #expect(code == "invalid" && text.contains(part), "\(text)")
  }
}
