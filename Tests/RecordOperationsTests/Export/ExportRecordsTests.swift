import CompositeOperations
import CompositeOperationsTestKit
import Foundation
import RecordOperations
import SQLiteSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct ExportRecordsTests {
  private let folder: TemporaryFolder
  private let database: SQLiteRecordDatabase
  private var file: String { folder.file("out") }

  init() throws {
    folder = try TemporaryFolder()
    database = SQLiteRecordDatabase(folder.file())
  }

  private func export(
    _ type: String, where predicate: RecordPredicate? = nil, sortedBy order: [RecordOrder] = [],
    columns: [String]? = nil, limit: Int? = nil, as formatter: some RecordFormatter = .csv
  ) async throws -> String {
    let operation = ExportRecords(
      type, in: database, where: predicate, sortedBy: order, columns: columns, limit: limit,
      to: file, as: formatter)
    let exported = try await operation.run().get()
    let bytes = try Data(contentsOf: URL(fileURLWithPath: file))
    #expect(exported.byteCount == bytes.count)
    #expect(exported.path == file)
    return String(decoding: bytes, as: UTF8.self)
  }

  private func createLibrary() throws {
    try execute(
      [
        "CREATE TABLE Country (code TEXT PRIMARY KEY, name TEXT)",
        "CREATE TABLE Author (id INTEGER PRIMARY KEY, name TEXT, country TEXT REFERENCES Country)",
        """
        CREATE TABLE Book (isbn TEXT PRIMARY KEY, title TEXT, pages INTEGER, price REAL,
          author INTEGER REFERENCES Author (id), translator INTEGER REFERENCES Author, cover BLOB)
        """,
        "INSERT INTO Country VALUES ('gb', 'Great Britain'), ('no', 'Norge')",
        "INSERT INTO Author VALUES (7, 'Jane', 'gb'), (8, 'Sigrid', 'no'), (9, 'Nobody', NULL)",
        """
        INSERT INTO Book VALUES ('b', 'Persuasion', 249, 7.5, 7, 8, x'00FF'),
          ('a', 'Emma, "the"' || char(10) || 'book', 474, 3.0, 7, NULL, NULL),
          ('c', '', NULL, NULL, 9, 7, x'')
        """,
      ], in: database.path)
  }

  @Test func `by default, all columns of a table are exported in their order`() async throws {
    try createLibrary()
    #expect(
      try await export("Book") == """
        isbn,title,pages,price,author,translator,cover
        b,Persuasion,249,7.5,7,8,AP8=
        a,"Emma, ""the""
        book",474,3.0,7,,
        c,"",,,9,7,""

        """)
  }

  @Test func `D10: column paths follow one or more references`() async throws {
    try createLibrary()
    let columns = [
      "isbn", "author.name", "author.country", "author.country.name", "translator.country.name",
    ]
    #expect(
      try await export("Book", sortedBy: [.ascending("pages")], columns: columns) == """
        isbn,author.name,author.country,author.country.name,translator.country.name
        c,Nobody,,,Great Britain
        b,Jane,gb,Great Britain,Norge
        a,Jane,gb,Great Britain,

        """)
  }

  @Test func `a column name that contains a dot is not taken for a path`() async throws {
    try execute(
      [
        "CREATE TABLE P (id INTEGER PRIMARY KEY, \"b.c\" TEXT)", "INSERT INTO P VALUES (1, 'far')",
        "CREATE TABLE T (\"a.b\" TEXT, \"a\" INTEGER REFERENCES P)",
        "INSERT INTO T VALUES ('near', 1)",
      ], in: database.path)
    #expect(try await export("T", columns: ["a.b", "a.b.c"]) == "a.b,a.b.c\nnear,far\n")
  }

  @Test func `a column path follows references with the rule keep to records of several types`()
    async throws
  {
    try await database.save(
      record("jane/1", type: "Author", ["name": "Jane"]),
      record("x", type: "Press", ["name": "Faber", "city": "London"]),
      record("1", ["by": .reference(RecordReference(RecordID("Author", "jane/1")))]),
      record("2", ["by": .reference(RecordReference(RecordID("Press", "x")))]),
      record("3", ["by": .reference(RecordReference(RecordID("Author", "gone")))]),
      record("4", ["by": .reference(RecordReference(RecordID("Nothing", "x")))]), record("5"))
    #expect(
      try await export("Book", columns: ["id", "by", "by.name", "by.city"]) == """
        id,by,by.name,by.city
        1,Author/jane/1,Jane,
        2,Press/x,Faber,London
        3,Author/gone,,
        4,Nothing/x,,
        5,,,

        """)
  }

  @Test func `D10: the predicate, sort order and limit determine the exported records`()
    async throws
  {
    try createLibrary()
    let found = try await export(
      "Book", where: Field("pages") > 100 || Field<Int>("pages").isNull,
      sortedBy: [.descending("pages")], columns: ["isbn"], limit: 2, as: .jsonLines)
    #expect(found == "{\"isbn\":\"a\"}\n{\"isbn\":\"b\"}\n")
  }

  @Test
  func `values are written by the formatter, with its transformations`()
    async throws
  {
    var book = record("1", ["title": "Emma", "price": 3.0, "tags": ["a", 1]])
    book["lent"] = .date(Date(timeIntervalSince1970: 1.5))
    book["cover"] = .bytes([1])
    try await database.save(book)
    let columns = ["id", "title", "price", "tags", "lent", "cover"]
    #expect(
      try await export("Book", columns: columns, as: .json) == """
        [
        {"id":"1","title":"Emma","price":3.0,"tags":["a",1],"lent":"1970-01-01T00:00:01.500Z","cover":"AQ=="}
        ]

        """)
    // Formatting by values and by cells has the same result.
    let plain = try await export("Book", columns: columns)
    let transformed = CSVFormatter().transforming { value, _ in value }
    #expect(try await export("Book", columns: columns, as: transformed) == plain)
    let doubled = CSVFormatter(hasHeader: false).transforming(.double) { value, column in
      .string("\(column) \(value)")
    }
    let text = try await export("Book", columns: ["id", "price"], as: doubled)
    #expect(text.hasPrefix("1,\"price ") || text.hasPrefix("1,price "))
  }

  @Test func `a value that the format cannot hold is refused, and the old file remains`()
    async throws
  {
    try execute(
      ["CREATE TABLE T (a)", "INSERT INTO T VALUES (1), (9e999)"], in: database.path)
    try "old".write(toFile: file, atomically: true, encoding: .utf8)
    let outcome = await ExportRecords("T", in: database, to: file, as: .json).run()
    #expect((outcome.error as? FieldValueError)?.key == "a")
    #expect(try String(contentsOfFile: file, encoding: .utf8) == "old")
    #expect(try folder.names.filter { $0.contains("out") } == ["out"])
  }

  /// Cells whose text is not UTF-8, for each kind of column and across a reference.
  static let illFormed = [
    (declaration: "TEXT", column: "a"), ("", "a"), ("INTEGER", "a"), ("TEXT DATE", "a"),
    ("TEXT LIST", "a"), ("TEXT REFERENCE", "a"), ("INTEGER", "r.a"),
  ]

  @Test(arguments: illFormed, [CSVFormatter() as any RecordFormatter, .json, .jsonLines])
  func `D10: a text that is not valid UTF-8 is refused with its row and column`(
    cell: (declaration: String, column: String), formatter: any RecordFormatter
  ) async throws {
    try execute(
      [
        "CREATE TABLE T (k INTEGER PRIMARY KEY, a \(cell.declaration), r REFERENCES T)",
        "INSERT INTO T (r) VALUES (NULL), (3), (NULL)",
        "UPDATE T SET a = CAST(x'FF41' AS TEXT) WHERE k = 3",
      ], in: database.path)
    try "old".write(toFile: file, atomically: true, encoding: .utf8)
    let columns = ["k", cell.column]
    let outcome = await ExportRecords(
      "T", in: database, sortedBy: [.ascending("k")], columns: columns, to: file, as: formatter
    ).run()
    let error = try #require(outcome.error as? FieldValueError)
    #expect(error.key == cell.column && error.row == (cell.column == "a" ? 3 : 2))
    #expect(error.found == .bytes([0xFF, 0x41]))
    #expect("\(error)".contains("the field \(cell.column) of row"), "\(error)")
    #expect(try String(contentsOfFile: file, encoding: .utf8) == "old")
  }

  @Test func `a text that is not UTF-8 can be transformed, and one with a NUL is unchanged`()
    async throws
  {
    try execute(
      [
        "CREATE TABLE T (a TEXT)",
        "INSERT INTO T VALUES (CAST(x'FF41' AS TEXT)), (CAST(x'410042' AS TEXT))",
      ], in: database.path)
    let repaired = CSVFormatter().transforming(.bytes) { value, _ in
      guard case .bytes(let bytes) = value else { return value }
      return .string(String(decoding: bytes, as: UTF8.self))
    }
    #expect(try await export("T", as: repaired) == "a\n\u{FFFD}A\nA\0B\n")
    let idle = CSVFormatter().transforming(.integer) { value, _ in value }
    let error = await ExportRecords("T", in: database, to: file, as: idle).run().error
    #expect((error as? FieldValueError)?.row == 1)
  }

  @Test func `D10: all values of a column of bytes are imported again as the same bytes`()
    async throws
  {
    try execute(
      [
        "CREATE TABLE T (k INTEGER PRIMARY KEY, a BLOB)",
        """
        INSERT INTO T VALUES (1, x'00FF'), (2, 'true'), (3, 4242), (4, 1.5), (5, x''), (6, ''), (7, NULL),
          (8, CAST(x'FF41' AS TEXT)), (9, CAST(x'410042' AS TEXT))
        """,
        "CREATE TABLE U (k INTEGER PRIMARY KEY, a BLOB)",
      ], in: database.path)
    let none = CSVFormatter().transforming { value, _ in value }
    for (formatter, format) in [
      (CSVFormatter() as any RecordFormatter, ImportFormat.csv), (none, .csv), (.json, .json),
    ] {
      let count = try await ExportRecords("T", in: database, to: file, as: formatter).run().get()
        .recordCount
      _ = try await ImportRecords("U", into: database, from: file, as: format).run().get()
      let same = try await database.read { connection in
        try connection.fetchAll("SELECT 1 FROM T JOIN U USING (k) WHERE CAST(T.a AS BLOB) IS U.a") {
          _ in
          1
        }.count
      }
      #expect(count == 9 && same == 9)
      try execute(["DELETE FROM U"], in: database.path)
    }
  }

  @Test func `a file name that contains a NUL is refused instead of truncated`() async throws {
    try createLibrary()
    try "old".write(toFile: file, atomically: true, encoding: .utf8)
    let name = file + "\0.csv"
    let exported = await ExportRecords("Book", in: database, to: name, as: .csv).run().error
    let imported = await ImportRecords("Book", into: database, from: name, as: .csv).run().error
    for error in [exported, imported] {
      #expect((error as? RecordFileError)?.path == name)
      #expect("\(try #require(error))".contains("NUL"))
    }
    #expect(try String(contentsOfFile: file, encoding: .utf8) == "old")
    let other = SQLiteRecordDatabase(database.path + "\0.sqlite")
    #expect("\(try #require(await QueryRecords("Book", in: other).run().error))".contains("NUL"))
  }

  @Test(arguments: [
    (["nme"], "columns: isbn, title"), (["title.name"], "title of Book is not a reference"),
    (["author.nme"], "Author has no column \"nme\" (in the column author.nme)"),
    (["title", "title"], "named twice"), ([], "none is named"),
    ((0...2_000).map { "c\($0)" }, "2001 columns are named, but SQLite returns at most 2000"),
  ])
  func `an invalid list of columns is refused with the reason`(
    columns: [String], text: String
  ) async throws {
    try createLibrary()
    let error = await ExportRecords("Book", in: database, columns: columns, to: file, as: .csv)
      .run().error
    #expect("\(try #require(error))".contains(text), "\(String(describing: error))")
    #expect(!FileManager.default.fileExists(atPath: file))
  }

  @Test func `the default file name is the record type with the extension of the format`() {
    func path(_ formatter: some RecordFormatter) -> String {
      ExportRecords("a/b", in: database, as: formatter).path
    }
    #expect(path(.csv) == "a_b.csv")
    #expect(path(CSVFormatter().transforming { value, _ in value }) == "a_b.csv")
    #expect(path(.json) == "a_b.json" && path(.jsonLines) == "a_b.jsonl")
  }

  @Test func `an export to the database file, or to one of its companion files, is refused`()
    async throws
  {
    try createLibrary()
    let link = folder.file("link")
    try FileManager.default.createSymbolicLink(
      atPath: link, withDestinationPath: folder.file())
    // SQLite would use the last ones as its own files, although they do not exist now.
    let beside = ["-wal", "-shm", "-journal"].map { folder.file() + $0 }
    for path in [folder.file(), link] + beside {
      let error = await ExportRecords("Book", in: database, to: path, as: .csv).run().error
      #expect((error as? RecordFileError)?.path == path)
    }
    #expect(try await database.all(RecordQuery("Book")).count == 3)
  }

  @Test(arguments: ["/nowhere/at/all/out.csv", "/dev/full"])
  func `a write error contains the path of the file`(path: String) async throws {
    try createLibrary()
    let error = await ExportRecords("Book", in: database, to: path, as: .csv).run().error
    #expect((error as? RecordFileError)?.path == path)
    #expect("\(try #require(error))".contains("the file \(path) cannot be written"))
  }

  /// A formatter that runs an action when it reaches the record with a given number.
  private struct CallbackFormatter: RecordFormatter {
    let count: Int
    let action: @Sendable () throws -> Void
    private let seen = Counter()

    init(after count: Int, _ action: @escaping @Sendable () throws -> Void) {
      (self.count, self.action) = (count, action)
    }

    func append(_ values: [FieldValue], for columns: [String], to bytes: inout [UInt8]) throws {
      if seen.next() == count { try action() }
      bytes += try text(of: values[0]).utf8
    }
  }

  @Test func `D10: an export is a consistent snapshot despite concurrent writes`()
    async throws
  {
    try execute(
      ["CREATE TABLE T (a INTEGER)", "INSERT INTO T VALUES (1), (2), (3)"], in: database.path)
    // Switches to WAL mode, in which others can write during a read.
    _ = try await database.write { _ in }
    let path = database.path
    let formatter = CallbackFormatter(after: 1) {
      try execute(["UPDATE T SET a = a * 10", "INSERT INTO T VALUES (4)"], in: path)
    }
    #expect(try await export("T", as: formatter) == "1\n2\n3\n")
    #expect(try await export("T", as: PlainFormatter()) == "10\n20\n30\n4\n")
  }

  private struct PlainFormatter: RecordFormatter {
    func append(_ values: [FieldValue], for columns: [String], to bytes: inout [UInt8]) throws {
      bytes += try text(of: values[0]).utf8
    }
  }

  @Test func `D10: a cancelled export leaves the old file and no temporary file`()
    async throws
  {
    try execute(
      [
        "CREATE TABLE T (a INTEGER)",
        "INSERT INTO T WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 100000) SELECT i FROM n",
      ], in: database.path)
    try "old".write(toFile: file, atomically: true, encoding: .utf8)
    let (arrivals, arrival) = AsyncStream.makeStream(of: Void.self)
    let mayContinue = DispatchSemaphore(value: 0)
    let formatter = CallbackFormatter(after: 10) {
      arrival.yield()
      mayContinue.wait()
    }
    let run = ExportRecords("T", in: database, to: file, as: formatter).start()
    for await _ in arrivals { break }
    run.cancel()
    mayContinue.signal()
    #expect(await run.outcome.isCancelled)
    #expect(try String(contentsOfFile: file, encoding: .utf8) == "old")
    #expect(try folder.names.filter { $0.contains("out") } == ["out"])
  }

  @Test func `an exported file gets the permissions of the file that it replaces`() async throws {
    try createLibrary()
    try "old".write(toFile: file, atomically: true, encoding: .utf8)
    try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: file)
    _ = try await export("Book")
    let permissions = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions]
    #expect(permissions as? Int == 0o640)
  }

  @Test func `an export reports the number of written records and the total`() async throws {
    try createLibrary()
    let observer = RecordingObserver()
    _ = await ExportRecords("Book", in: database, limit: 2, to: file, as: .csv)
      .observed(by: observer).run()
    let last = observer.events.compactMap { event -> [Int?]? in
      if case .progressed(let done, let total, "records") = event.kind {
        [done, total]
      } else {
        nil
      }
    }.last
    #expect(last == [2, 2])
  }

  @Test func `a view can be exported, and a read-only database remains unchanged`() async throws {
    try createLibrary()
    try execute(
      ["CREATE VIEW Long AS SELECT title, pages FROM Book WHERE pages > 300"], in: database.path)
    let before = try Data(contentsOf: URL(fileURLWithPath: database.path))
    let reader = SQLiteRecordDatabase(database.path, SQLiteOptions(access: .readOnly))
    let exported = try await ExportRecords(
      "Long", in: reader, columns: ["pages"], to: file, as: .csv
    )
    .run().get()
    #expect(exported.recordCount == 1)
    #expect(try String(contentsOfFile: file, encoding: .utf8) == "pages\n474\n")
    #expect(try Data(contentsOf: URL(fileURLWithPath: database.path)) == before)
  }
}

/// A counter for formatters, which have no mutable state of their own.
private final class Counter: Sendable {
  private let count = Lock(0)

  func next() -> Int {
    count.withLock {
      $0 += 1
      return $0
    }
  }
}
