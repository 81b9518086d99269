import CompositeOperations
import CompositeOperationsTestKit
import Foundation
import RecordOperations
import SQLiteSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct ImportRecordsTests {
  private let folder: TemporaryFolder
  private let database: SQLiteRecordDatabase
  private var file: String { folder.file("in") }

  init() throws {
    folder = try TemporaryFolder()
    database = SQLiteRecordDatabase(folder.file())
  }

  private func load(
    _ text: String, into type: String = "T", as format: ImportFormat = .csv,
    existing: ExistingRowPolicy = .refused, badRows: BadRowPolicy = .refused,
    references: [String: String] = [:], addsColumns: Bool = false, rowsPerTransaction: Int? = nil
  ) async throws -> ImportedFile {
    try Data(text.utf8).write(to: URL(fileURLWithPath: file))
    return try await ImportRecords(
      type, into: database, from: file, as: format, existing: existing, badRows: badRows,
      references: references, addsColumns: addsColumns, rowsPerTransaction: rowsPerTransaction
    ).run().get()
  }

  /// The rows of a table as SQL literals.
  private func rows(_ type: String = "T", _ columns: String...) async throws -> [String] {
    let expression = columns.map { "quote(\($0))" }.joined(separator: " || ',' || ")
    return try await database.read { connection in
      try connection.fetchAll("SELECT \(expression) FROM \"\(type)\" ORDER BY rowid") {
        $0.text(at: 0) ?? ""
      }
    }
  }

  private func problems(_ body: () async throws -> ImportedFile) async -> [String] {
    do {
      return try await body().problems.map { "\($0)" }
    } catch let error as RecordImportError {
      return ["refused"] + error.problems.map { "\($0)" }
    } catch { return ["\(error)"] }
  }

  @Test func `CSV cells are converted to the types of the columns that the header names`()
    async throws
  {
    try execute(
      ["CREATE TABLE T (id INTEGER PRIMARY KEY, name TEXT, price REAL, n NUMERIC, x, y BLOB)"],
      in: database.path)
    let imported = try await load(
      """
      price,name,id,x,n,y\r
      7.5,"a ""quoted"",
      text",1,12,12,AAE=\r
      -.25,007,+2,,abc,
      1e3,"",3.0,"",12.0,
      """)
    #expect(imported.recordCount == 3 && imported.problems.isEmpty)
    #expect(
      try await rows("T", "id", "name", "price", "n", "x", "y") == [
        "1,'a \"quoted\",\ntext',7.5,12,'12',X'0001'", "2,'007',-0.25,'abc',NULL,NULL",
        "3,'',1000.0,12,'',NULL",
      ])
  }

  @Test func `D11: bad rows are skipped and reported with their lines`() async throws {
    try execute(
      [
        "CREATE TABLE P (id INTEGER PRIMARY KEY)", "INSERT INTO P VALUES (1)",
        """
        CREATE TABLE T (id INTEGER PRIMARY KEY, a INTEGER, b TEXT NOT NULL CHECK (b <> 'no'),
          p INTEGER REFERENCES P)
        """, "INSERT INTO T VALUES (5, 5, 'five', 1)",
      ], in: database.path)
    let text = """
      id,a,b,p
      1,x,"two
      lines",1
      2,2,ok,1
      3,2,ok
      4,2,,1
      5,2,ok,1
      6,2,no,1
      7,2,ok,9
      8,9223372036854775808,ok,1
      9,1.5,ok,1
      10,2,ok,1,
      11,"2"x,ok,1
      12,2,ok,
      """
    let imported = try await load(text, badRows: .skipped(atMost: 11))
    #expect(imported.recordCount == 2)
    #expect(
      imported.problems.map { "\($0)" } == [
        "lines 2 to 3 (2 bad rows): the column a has \"x\", but takes 64-bit integers (INTEGER)",
        "line 5: it has 3 cells; expected 4, one for each column",
        "line 6: T.b must not be null",
        "line 7: another record has the same T.id, and existing rows are neither updated nor kept",
        "line 8: CHECK constraint failed: b <> 'no'",
        "line 9: foreign key violation: a referenced row does not exist (p)",
        "line 10: the column a has \"9223372036854775808\", but takes 64-bit integers (INTEGER)",
        "line 11: the column a has \"1.5\", but takes 64-bit integers (INTEGER)",
        "line 12: it has 5 cells; expected 4, one for each column",
        imported.problems.last.map { "\($0)" } ?? "none",
      ])
    #expect(imported.problems.last?.line == 13)
    #expect(try await rows("T", "id") == ["2", "5", "12"])
  }

  @Test(arguments: [
    ("50,\"name 50", "50,name 50", 2_000), ("50,\"name 50\"x", "50,name 50", 51),
    // Closed by the quote of another row.
    ("50,\"name 50", "90,\"name 90\"", 91),
    // Closed at the end of a cell: the row has too many cells.
    ("50,\"name 50", "90,name 90,\",", 91),
  ])
  func `D11: each line that a stray quote swallows counts as a bad row`(
    row: String, other: String, last: Int
  ) async throws {
    var lines = ["id,name"] + (0..<2_000).map { "\($0),name \($0)" }
    lines[51] = row
    if last == 91 { lines[91] = other }
    // The header is line 1.
    let bad = (last == 2_000 ? 2_001 : last + 1) - 51
    let text = lines.joined(separator: "\n")
    try execute(["CREATE TABLE T (id INTEGER PRIMARY KEY, name TEXT)"], in: database.path)
    let imported = try await load(text, badRows: .skipped(atMost: bad))
    #expect(imported.recordCount == 2_000 - bad)
    #expect(imported.problems.map(\.line) == [52])
    #expect(imported.problems.map(\.lastLine) == [51 + bad])
    try execute(["DELETE FROM T"], in: database.path)
    let error = await #expect(throws: RecordImportError.self) {
      try await load(text, badRows: .skipped(atMost: bad - 1))
    }
    #expect(error?.problems.map(\.rowCount) == [bad])
    #expect(try await rows("T", "id") == [])
  }

  @Test func `D11: a number or a date that its column cannot hold is a bad row`() async throws {
    try execute(["CREATE TABLE T (r REAL, n NUMERIC)"], in: database.path)
    let long = String(repeating: "9", count: 310)
    let cells = ["1e400", "-1e400", "1e-400", long, "0.\(String(repeating: "0", count: 400))1"]
    let good = ["0e-400", "4.9e-324", "1.7976931348623157e308", "inf"]
    for column in ["r", "n"] {
      let text = "\(column)\n" + (cells + good).joined(separator: "\n")
      let imported = try await load(text, badRows: .skipped(atMost: cells.count))
      #expect(imported.problems.map(\.line) == [2, 3, 4, 5, 6], "\(column)")
      #expect(imported.recordCount == good.count)
    }
    #expect(
      try await load("n\none 1e400", badRows: .skipped(atMost: 0)).recordCount == 1, "a text")
    try await database.save(record("1", type: "Visit", ["time": .date(.now)]))
    let dates = [
      "+10000-01-01", "10000-01-01T00:00:00Z", "0000-12-31", "-0001-01-01T00:00:00.000Z",
    ]
    let visits = try await load(
      "time\n" + (dates + ["9999-12-31", "0001-01-01"]).joined(separator: "\n"), into: "Visit",
      badRows: .skipped(atMost: dates.count))
    #expect(visits.problems.map(\.line) == [2, 3, 4, 5])
    #expect(visits.recordCount == 2)
  }

  @Test func `D11: one bad row above the limit rolls back the import`() async throws {
    try execute(["CREATE TABLE T (a INTEGER)", "INSERT INTO T VALUES (0)"], in: database.path)
    let text = "a\n1\nx\n2\ny\n3\nz\n"
    #expect(
      await problems { try await load(text, badRows: .skipped(atMost: 2)) }.map { $0.prefix(7) }
        == ["refused", "line 3:", "line 5:", "line 7:"])
    #expect(await problems { try await load(text) }.map { $0.prefix(7) } == ["refused", "line 3:"])
    #expect(try await rows("T", "a") == ["0"])
    #expect(try await load(text, badRows: .skipped(atMost: 3)).recordCount == 3)
    // No limit allows that the rest of a file is lost.
    let lost = await problems {
      try await load(#"[{"a":4}],[{"a":5}]"#, as: .json, badRows: .skipped(atMost: .max))
    }
    #expect(lost.first == "refused" && lost.last?.contains("the rest of the file") == true)
  }

  @Test func `D11: a failed import in several transactions leaves whole transactions`() async throws
  {
    try execute(["CREATE TABLE T (a INTEGER)"], in: database.path)
    let text = "a\n" + (1...1_000).map { $0 == 777 ? "bad\n" : "\($0)\n" }.joined()
    do {
      _ = try await load(text, rowsPerTransaction: 100)
      Issue.record("the import succeeded")
    } catch let error as RecordImportError {
      #expect(error.recordCount == 700 && error.problems.map(\.line) == [778])
      #expect("\(error)".contains("700 records were imported before"))
    }
    #expect(try await rows("T", "a").count == 700)
  }

  @Test func `D11: a failing row in a statement for many rows is found by single-row statements`()
    async throws
  {
    // FAIL keeps the rows that the statement has already inserted, and ROLLBACK undoes the
    // transaction.
    try execute(
      ["CREATE TABLE T (a INTEGER UNIQUE ON CONFLICT FAIL, b TEXT, c INTEGER PRIMARY KEY)"],
      in: database.path)
    let numbers = (0..<5_000).map { $0 % 700 == 699 ? $0 - 1 : $0 }
    let text = "a,b\n" + numbers.map { "\($0),x\n" }.joined()
    let imported = try await load(text, badRows: .skipped(atMost: .max))
    #expect(imported.recordCount == Set(numbers).count)
    #expect(
      imported.problems.map(\.line) == numbers.indices.filter { numbers[$0] != $0 }.map { $0 + 2 })
    let all = Set(numbers).sorted().map { "\($0)" }
    #expect(try await rows("T", "a") == all)
    try execute(["CREATE TABLE U (a INTEGER UNIQUE ON CONFLICT ROLLBACK)"], in: database.path)
    let kept = try await load("a\n1\n1\n", into: "U", badRows: .skipped(atMost: .max))
    #expect(kept.problems.map(\.line) == [3])
    #expect(try await rows("U", "a") == ["1"])
  }

  @Test(arguments: ["REPLACE", "IGNORE"], [1, 400])
  func `D11: an import overrides ON CONFLICT REPLACE and IGNORE of its table`(
    rule: String, count: Int
  ) async throws {
    try execute(
      [
        "CREATE TABLE T (a TEXT PRIMARY KEY ON CONFLICT \(rule), b)",
        "INSERT INTO T VALUES ('1', 'old')",
      ], in: database.path)
    let text = "a,b\n" + (1...count).map { "\($0),new\n" }.joined()
    let imported = try await load(text, badRows: .skipped(atMost: 1))
    #expect(imported.problems.map(\.line) == [2] && imported.recordCount == count - 1)
    #expect(try await rows("T", "b").first == "'old'")
  }

  @Test(arguments: [1, 400])
  func `D11: a row that a trigger drops is reported`(count: Int) async throws {
    try execute(
      [
        "CREATE TABLE T (a INTEGER)",
        "CREATE TRIGGER d BEFORE INSERT ON T WHEN NEW.a = 1 BEGIN SELECT RAISE(IGNORE); END",
      ], in: database.path)
    let text = "a\n" + (1...count).map { "\($0)\n" }.joined()
    let imported = try await load(text, badRows: .skipped(atMost: 1))
    #expect(imported.problems.map(\.line) == [2] && imported.recordCount == count - 1)
    #expect("\(imported.problems)".contains("trigger"))
  }

  /// The result does not depend on the number of rows, or on where a statement ends.
  @Test(arguments: [2, 3, 300])
  func `D11: a row can refer to earlier rows of the file, but not to later ones`(count: Int)
    async throws
  {
    try execute(
      ["CREATE TABLE T (a INTEGER PRIMARY KEY, b INTEGER REFERENCES T(a))"], in: database.path)
    let last = (3...300).prefix(count - 2).map { "\($0),1\n" }.joined()
    let imported = try await load("a,b\n2,1\n1,\n" + last, badRows: .skipped(atMost: 1))
    #expect(imported.problems.map(\.line) == [2] && imported.recordCount == count - 1)
  }

  @Test func `D11: a problem is reported with the transaction of its row`() async throws {
    try execute(["CREATE TABLE T (a INTEGER PRIMARY KEY)"], in: database.path)
    let text = "a\n" + (1...300).map { $0 == 250 ? "\"x\"y\n" : "\($0)\n" }.joined()
    let error = await #expect(throws: RecordImportError.self) {
      try await load(text, rowsPerTransaction: 100)
    }
    #expect(error?.recordCount == 200 && error?.problems.map(\.line) == [251])
  }

  @Test func `columns of a new table are in the order of the file`() async throws {
    _ = try await load("title,id,pages\nEmma,1,474\n", into: "Book")
    _ = try await load("Persuasion,2,249\n", into: "Book", as: .csv(hasHeader: false))
    _ = try await load("{\"z\":1,\"a\":\"x\"}", into: "Other", as: .jsonLines)
    #expect(
      try await rows("Book", "title", "id", "pages") == [
        "'Emma','1','474'", "'Persuasion','2','249'",
      ])
    let columns = try await database.read { try $0.table("Book")?.columns.map(\.name) }
    #expect(columns == ["title", "id", "pages"])
    #expect(
      try await database.read { try $0.table("Other")?.columns.map(\.name) } == ["id", "z", "a"])
  }

  @Test func `an object whose keys differ only in case is a bad row`() async throws {
    let lines = "{\"a\":1}\n{\"a\":2,\"A\":3}\n{\"b\":4}\n"
    let imported = try await load(
      lines, as: .jsonLines, badRows: .skipped(atMost: 1), addsColumns: true)
    #expect(imported.problems.map(\.line) == [2] && imported.recordCount == 2)
  }

  @Test(arguments: [
    (ExistingRowPolicy.updated, ["'a',1,'x'", "'b',20,'old'", "'c',30,'new'"], 2),
    (.kept, ["'a',1,'x'", "'b',2,'old'", "'c',30,'new'"], 2),
  ])
  func `a row with an existing key is updated or kept`(
    existing: ExistingRowPolicy, expected: [String], count: Int
  ) async throws {
    try execute(
      [
        "CREATE TABLE T (k TEXT PRIMARY KEY, n INTEGER, other TEXT DEFAULT 'new')",
        "INSERT INTO T VALUES ('a', 0, 'x'), ('b', 2, 'old')", "UPDATE T SET n = 1 WHERE k = 'a'",
      ], in: database.path)
    let text = existing == .updated ? "k,n\na,1\nb,20\nc,30\n" : "k,n\nb,20\nb,21\nc,30\n"
    let imported = try await load(text, existing: existing)
    #expect(imported.recordCount == (existing == .updated ? count : 1))
    #expect(try await rows("T", "k", "n", "other") == expected)
    // A row with equal values is not changed, and keeps its tag.
    _ = try await database.keepChanges(of: ["T"])
    let tags = try await database.all(RecordQuery("T")).map(\.tag)
    #expect(try await load("k,n\na,1\n", existing: existing).recordCount == 0)
    #expect(try await database.all(RecordQuery("T")).map(\.tag) == tags)
    // A file without the key is refused as a whole.
    await #expect(throws: RecordError.self) { try await load("n\n1\n", existing: existing) }
  }

  @Test func `a missing table is created, and its changes are recorded`() async throws {
    let imported = try await load("id,title\n1,Emma\n2,\n", into: "Book")
    #expect(imported.recordCount == 2)
    let books = try await QueryRecords("Book", in: database, sortedBy: [.ascending("title")])
      .run().get()
    #expect(books.map { $0["title"] } == [.null, "Emma"])
    #expect(books.allSatisfy { $0.tag != nil })
    #expect(try await FetchChanges(in: database).run().get().changed.count == 2)
    // Rows without names get generated ones, and a created table gets further columns.
    let typed = await problems { try await load("title,pags\nPersuasion,249\n", into: "Book") }
    #expect(typed == ["Book has no column \"pags\"; columns: id, title"])
    _ = try await load("title,pages\nPersuasion,249\n", into: "Book", addsColumns: true)
    let other = try #require(
      try await database.all(RecordQuery("Book", where: Field("title") == "Persuasion")).first)
    #expect(other["pages"] == "249" && other.id.name.count == 32)
  }

  @Test func `JSON values are imported with their kinds`() async throws {
    let text = """
      [{"id": "1", "n": 1, "x": 1.5, "t": "a", "l": [1, "b"]},
       {"id": "2", "t": "c"},
       {"id": "3", "n": 2.0, "late": true, "x": 3}, {"id": "4", "n": "5"},
       {"id": "5", "n": "a"}, {"id": "6", "t": 1}]
      """
    let imported = try await load(text, as: .json, badRows: .skipped(atMost: 2))
    #expect(imported.recordCount == 4)
    #expect(imported.problems.map(\.line) == [4, 4])
    let records = try await QueryRecords("T", in: database).run().get().sorted {
      $0.id.name < $1.id.name
    }
    #expect(records.map { $0["n"] } == [1, .null, 2, 5])
    #expect(records.map { $0["x"] } == [1.5, .null, 3.0, .null])
    #expect(records[0]["l"] == [1, "b"] && records[2]["late"] == 1)
    // In another program's table, an unknown key makes a bad row.
    try execute(["CREATE TABLE U (a)"], in: database.path)
    let lines = "{\"a\":1}\n{\"b\":2}\n{\"a\":\"x\"}\n"
    let others = try await load(lines, into: "U", as: .jsonLines, badRows: .skipped(atMost: 1))
    #expect(others.problems.map { "\($0)" } == ["line 2: U has no column \"b\"; columns: a"])
    #expect(try await rows("U", "a") == ["1", "'x'"])
  }

  @Test func `dates, lists, bytes and references are imported as they were exported`() async throws
  {
    let author = record("jane", type: "Author", ["name": "Jane"])
    var book = record("1", ["tags": ["a", 1, .null], "cover": .bytes([0, 255])])
    book["lent"] = .date(Date(timeIntervalSince1970: 1.5))
    book["by"] = .reference(RecordReference(author.id))
    book["of"] = .reference(RecordReference(author.id, onDelete: .cascade))
    try await database.save(author, book)
    let out = folder.file("out")
    for (formatter, format) in [
      (CSVFormatter() as any RecordFormatter, ImportFormat.csv), (JSONFormatter(), .json),
      (JSONLinesFormatter(), .jsonLines),
    ] {
      _ = try await ExportRecords("Book", in: database, to: out, as: formatter).run().get()
      _ = try await database.delete(book.id)
      let text = try String(contentsOfFile: out, encoding: .utf8)
      _ = try await load(text, into: "Book", as: format)
      let now = try #require(try await database.record(book.id))
      #expect(now.fields == book.fields)
    }
    // A file of another program, which contains only the names.
    let rows = "id,by\n2,team/jane\n"
    _ = try await load(rows, into: "Book", references: ["by": "Author"])
    let two = try #require(try await database.record(RecordID("Book", "2")))
    #expect(two["by"] == .reference(RecordReference(RecordID("Author", "team/jane"))))
    await #expect(throws: RecordImportError.self) {
      try await load("id,by\n3,jane\n", into: "Book")
    }
  }

  @Test(arguments: [
    ("2026-11-22T12:03:04.123Z", 1), ("2026-11-22T12:03:04Z", 1), ("2026-11-22", 1),
    ("2026-02-30", 0), ("2026-11-22T12:03Z", 0), ("2026-11-22T12:03:04.1239Z", 0),
    ("22.11.2026", 0), ("1763812984", 0),
  ])
  func `dates are read in the common forms of ISO 8601 only`(text: String, count: Int) async throws
  {
    var book = record("1", type: "T")
    book["at"] = .date(Date(timeIntervalSince1970: 0))
    try await database.save(book)
    let imported = try await load("id,at\n2,\(text)\n", badRows: .skipped(atMost: 1))
    #expect(imported.recordCount == count && imported.problems.count == 1 - count)
  }

  @Test(arguments: ["INTEGER", "REAL", "BLOB", "TEXT"])
  func `nulls of a single column are imported as null, or as an empty text or bytes`(type: String)
    async throws
  {
    let value = ["INTEGER": "7", "REAL": "0.5", "BLOB": "x'00'", "TEXT": "'a'"][type] ?? ""
    try execute(
      ["CREATE TABLE T (a \(type))", "INSERT INTO T VALUES (\(value)), (NULL), (\(value))"],
      in: database.path)
    let before = try await rows("T", "a")
    _ = try await ExportRecords("T", in: database, to: folder.file("out"), as: .csv).run().get()
    try execute(["DELETE FROM T"], in: database.path)
    let text = try String(contentsOfFile: folder.file("out"), encoding: .utf8)
    #expect(try await load(text).recordCount == 3)
    let empty = ["BLOB": "X''", "TEXT": "''"][type]
    #expect(try await rows("T", "a") == before.map { $0 == "NULL" ? empty ?? "NULL" : $0 })
  }

  @Test func `a column that begins with nulls gets the type of its first value and loses no data`()
    async throws
  {
    let lines = "{\"id\":\"1\",\"n\":null}\n{\"id\":\"2\",\"n\":5}\n{\"id\":\"3\",\"n\":\"x\"}\n"
    let imported = try await load(lines, as: .jsonLines, badRows: .skipped(atMost: 1))
    #expect(imported.recordCount == 2 && imported.problems.map(\.line) == [3])
    try await database.save(record("4", type: "T", ["n": 7]))
    #expect(try await rows("T", "id", "n") == ["'1',NULL", "'2',5", "'4',7"])
    // Also in an existing table and from CSV, without losing values of other programs.
    try await database.save(record("1", type: "U", ["a": .null, "b": .null]))
    _ = try await load("id,a\n2,x\n", into: "U")
    try execute(["UPDATE U SET b = 'other' WHERE id = '2'"], in: database.path)
    try await database.save(record("3", type: "U", ["a": "y", "b": "own"]))
    #expect(
      try await rows("U", "id", "a", "b") == ["'1',NULL,NULL", "'2','x','other'", "'3','y','own'"])
  }

  @Test func `references of a new table refer to the type that the import specifies`() async throws
  {
    _ = try await load("id,by\n1,jane\n", into: "Book", references: ["by": "Author"])
    let by = try await database.record(RecordID("Book", "1"))?["by"]
    #expect(by == .reference(RecordReference(RecordID("Author", "jane"))))
    for key in ["b", "title"] {
      let found = await problems {
        try await load("id,title\n1,x\n", into: "Other", references: [key: "Author"])
      }
      #expect(found.isEmpty == (key == "title"))
      if key != "title" { #expect(found.first?.contains("the file has no column \"b\"") == true) }
    }
  }

  @Test(arguments: [
    ("", "has no header: it is empty"), ("a,a\n1,2\n", "\"a\" twice"),
    ("b\n1\n", "no column \"b\""),
    ("\"a\nb", "has no header"), ("a,\u{0}\n", "no column"),
    ("a,,b\n", "in has no usable header: column 2 has no name in its first line"),
    ("a,b,\n", "column 3 has no name in its first line. Name it there, or remove the column"),
    (",,\n", "column 1 has no name"),
  ])
  func `an invalid header is reported`(text: String, problem: String) async throws {
    try execute(["CREATE TABLE T (a)"], in: database.path)
    let found = await problems { try await load(text) }
    #expect(found.first?.contains(problem) == true, "\(found)")
  }

  @Test func `a header name that is not UTF-8 is reported with its column and the remedy`()
    async throws
  {
    try Data("a,n".utf8 + [0xE4] + "me\n".utf8).write(to: URL(fileURLWithPath: file))
    let error = await ImportRecords("T", into: database, from: file, as: .csv).run().error
    let text = "\(try #require(error as? RecordFileError))"
    #expect(text.contains("column 2") && text.contains("iconv"), "\(text)")
  }

  @Test func `a column without a name is imported if the table has one`() async throws {
    try execute(["CREATE TABLE T (a, \"\")"], in: database.path)
    #expect(try await load("a,\n1,2\n").recordCount == 1)
    #expect(try await rows("T", "a", "\"\"") == ["'1','2'"])
  }

  @Test func `rows of more than a thousand columns are updated`() async throws {
    let names = (0..<1_500).map { "c\($0)" }
    let header = (["id"] + names).joined(separator: ",") + "\n"
    let row = { (last: String) in
      (["1"] + names.dropLast().map { _ in "x" } + [last]).joined(separator: ",") + "\n"
    }
    #expect(try await load(header + row("old"), existing: .updated).recordCount == 1)
    #expect(try await load(header + row("old"), existing: .updated).recordCount == 0)
    #expect(try await load(header + row(""), existing: .updated).recordCount == 1)
    #expect(try await load(header + row(""), existing: .updated).recordCount == 0)
    #expect(try await load(header + row("new"), existing: .updated).recordCount == 1)
    #expect(try await rows("T", "c1499", "c0") == ["'new','x'"])
  }

  static let invalidSchemas: [(sql: [String], problem: String)] = [
    (
      [
        "CREATE TABLE T (a)", "CREATE TABLE L (a)",
        "CREATE TRIGGER t AFTER INSERT ON T BEGIN INSERT INTO L VALUES (1); END", "DROP TABLE L",
      ],
      "a view, trigger or foreign key of"
    ),
    (
      ["CREATE TABLE U (a)", "CREATE TABLE T (a REFERENCES U(a))"],
      "neither the primary key nor unique"
    ),
    (
      ["CREATE TABLE T (a)", "CREATE TRIGGER t AFTER INSERT ON T BEGIN SELECT own(1); END"],
      "uses the function own"
    ),
  ]

  @Test(arguments: invalidSchemas)
  func `a statement that SQLite cannot run fails with an explanation`(
    sql: [String], problem: String
  )
    async throws
  {
    try execute(sql, in: database.path)
    let found = await problems { try await load("a\n1\n") }
    #expect(found.first?.contains(problem) == true, "\(found)")
    #expect(found.first?.contains("SQLite 1") == false, "\(found)")
  }

  @Test func `without a header, cells follow the order of the table, and a header is not a row`()
    async throws
  {
    try execute(["CREATE TABLE T (a, b GENERATED ALWAYS AS (a), c)"], in: database.path)
    #expect(try await load("1,2\n", as: .csv(hasHeader: false)).recordCount == 1)
    #expect(try await load("c,a\n").recordCount == 0)
    #expect(try await rows("T", "a", "b", "c") == ["'1','1','2'"])
    let found = await problems { try await load("b\n1\n") }
    #expect(found.first?.contains("computed") == true)
    let missing = await problems { try await load("1\n", into: "U", as: .csv(hasHeader: false)) }
    #expect(missing.first?.contains("no header that names its columns") == true)
  }

  @Test func `a missing table is reported with the existing tables`() async throws {
    try execute(["CREATE TABLE T (a)", "CREATE VIEW V AS SELECT a FROM T"], in: database.path)
    try Data("a\n1\n".utf8).write(to: URL(fileURLWithPath: file))
    let existing = SQLiteRecordDatabase(database.path, SQLiteOptions(access: .existing))
    for (type, text) in [("X", "(tables: T, V)"), ("V", "view")] {
      let error = await ImportRecords(type, into: existing, from: file, as: .csv).run().error
      #expect("\(try #require(error))".contains(text))
    }
    let missing = await ImportRecords("T", into: existing, from: "/no/file", as: .csv).run().error
    #expect((missing as? RecordFileError)?.path == "/no/file")
    let itself = await ImportRecords("T", into: existing, from: folder.path, as: .csv).run().error
    #expect("\(try #require(itself))".contains("it is a folder"))
  }

  @Test func `cells are always data, never SQL`() async throws {
    try execute(["CREATE TABLE T (a TEXT, \"b; --\" TEXT)"], in: database.path)
    let attacks = [
      "'); DROP TABLE T; --", "\"); DROP TABLE T; --", "?1", "$a", "@a", ":a", "x' OR '1'='1",
      "/*", "--", "\\'; DELETE FROM T", "%s%n", "\u{feff}", "NULL", "x'00'",
    ]
    let text =
      "a,b; --\n"
      + attacks.map {
        "\"\($0.replacing("\"", with: "\"\""))\",\"\($0.replacing("\"", with: "\"\""))\"\n"
      }.joined()
    #expect(try await load(text).recordCount == attacks.count)
    let found = try await database.all(RecordQuery("T"))
    #expect(found.compactMap { $0["a"] } == attacks.map { .string($0) })
    #expect(found.compactMap { $0["b; --"] } == attacks.map { .string($0) })
    #expect(try await database.read { try $0.tables() } == ["T"])
  }

  @Test func `triggers of the table run for each row, and their changes are not counted`()
    async throws
  {
    try execute(
      [
        "CREATE TABLE T (a INTEGER)", "CREATE TABLE Log (a INTEGER)",
        "CREATE TRIGGER t AFTER INSERT ON T BEGIN INSERT INTO Log VALUES (new.a), (new.a); END",
      ], in: database.path)
    let text = "a\n" + (0..<3_000).map { "\($0)\n" }.joined()
    #expect(try await load(text).recordCount == 3_000)
    #expect(try await rows("Log", "a").count == 6_000)
  }

  @Test func `D11: a cancelled import leaves the table unchanged`() async throws {
    try execute(
      [
        "CREATE TABLE T (a INTEGER)", "INSERT INTO T VALUES (1)",
      ], in: database.path)
    let pipe = folder.file("pipe")
    #expect(unsafe mkfifo(pipe, 0o600) == 0)
    // Opened for reading and writing, the pipe does not block.
    let writer = try #require(FileHandle(forUpdatingAtPath: pipe))
    try writer.write(contentsOf: Data("a\n2\n3\n".utf8))
    let (reports, report) = AsyncStream.makeStream(of: Void.self)
    let run = ImportRecords("T", into: database, from: pipe, as: .csv)
      .observed(by: ProgressSignal { report.yield() }).start()
    for await _ in reports { break }
    run.cancel()
    #expect(await run.outcome.isCancelled)
    try writer.close()
    #expect(try await rows("T", "a") == ["1"])
  }

  @Test func `D11: an import cancelled between transactions reports how many rows it inserted`()
    async throws
  {
    let pipe = folder.file("pipe")
    #expect(unsafe mkfifo(pipe, 0o600) == 0)
    let writer = try #require(FileHandle(forUpdatingAtPath: pipe))
    try writer.write(contentsOf: Data("a\n1\n2\n3\n4\n\"x\"y\n5\n".utf8))
    let (reports, report) = AsyncStream.makeStream(of: Void.self)
    let run = ImportRecords(
      "T", into: database, from: pipe, as: .csv, badRows: .skipped(atMost: 1), rowsPerTransaction: 2
    ).observed(by: ProgressSignal { report.yield() }).start()
    // The last row begins a third transaction, which waits for another row.
    var count = 0
    for await _ in reports {
      count += 1
      if count == 3 { break }
    }
    run.cancel()
    #expect(await run.outcome.isCancelled)
    try writer.close()
    let error = try #require(await run.lateOutcome?.error as? RecordImportError)
    #expect(error.cause is CancellationError && error.recordCount == 4)
    #expect("\(error)" == "\(pipe): cancelled; 4 records were imported before")
    #expect(try await database.all(RecordQuery("T")).count == 4)
  }

  @Test func `D11: an import that fails between transactions reports how many rows it inserted`()
    async throws
  {
    try execute(
      [
        "CREATE TABLE T (a INTEGER REFERENCES U (b) DEFERRABLE INITIALLY DEFERRED)",
        "CREATE TABLE U (b INTEGER PRIMARY KEY)", "INSERT INTO U VALUES (1), (2), (3)",
      ], in: database.path)
    let error = await #expect(throws: RecordImportError.self) {
      try await load("a\n1\n2\n3\n4\n", rowsPerTransaction: 2)
    }
    #expect(error?.recordCount == 2 && error?.cause is RecordError)
    #expect(error?.description.hasSuffix("; 2 records were imported before") == true)
    #expect(try await rows("T", "a") == ["1", "2"])
  }

  /// SQLite checks them at the end of the transaction, and does not name them.
  @Test func `the error for a violated deferred foreign key names the key`()
    async throws
  {
    try execute(
      [
        """
        CREATE TABLE T (a INTEGER PRIMARY KEY, up INTEGER REFERENCES T DEFERRABLE INITIALLY DEFERRED,
          b INTEGER REFERENCES "U v" (b) DEFERRABLE INITIALLY DEFERRED)
        """, "CREATE TABLE \"U v\" (b INTEGER PRIMARY KEY)",
      ], in: database.path)
    #expect(try await load("a,up\n1,2\n2,1\n").recordCount == 2)
    let error = await #expect(throws: RecordError.self) {
      try await load("a,up,b\n3,9,7\n4,3,\n5,8,\n")
    }
    #expect(
      error?.description == """
        foreign key violation at the end of the transaction: rows of T refer to rows that do \
        not exist: 1 in b to U v, 2 in up to T
        """)
    #expect(try await rows("T", "a", "up") == ["1,2", "2,1"])
  }

  @Test func `an import that waits for its first row does not block other writers`() async throws {
    try execute(["CREATE TABLE T (a)"], in: database.path)
    let pipe = folder.file("pipe")
    #expect(unsafe mkfifo(pipe, 0o600) == 0)
    let run = ImportRecords("T", into: database, from: pipe, as: .csv).start()
    // The import opens the pipe first, and then occupies the writer of this database.
    let writer = try #require(FileHandle(forWritingAtPath: pipe))
    let other = SQLiteRecordDatabase(database.path, SQLiteOptions(busyTimeout: .milliseconds(1)))
    try await other.write { try $0.execute("INSERT INTO T VALUES (1)") }
    try writer.write(contentsOf: Data("a\n2\n".utf8))
    try writer.close()
    #expect(await run.outcome.result?.recordCount == 1)
    #expect(try await rows("T", "a") == ["1", "'2'"])
  }

  @Test func `a file with another delimiter is refused instead of creating a single column`()
    async throws
  {
    for (text, name) in [("id;title\n1;Emma\n", "semicolon"), ("id\ttitle\n", "tab")] {
      let error = await #expect(throws: RecordFileError.self) { try await load(text) }
      #expect("\(try #require(error))".contains("Set the delimiter to \(name)"))
    }
    #expect(try await database.read { try $0.tables() } == [])
    #expect(try await load("\"a;b\"\nx;y\n").recordCount == 1)
    #expect(try await load("\"a,b\"\nx\n", into: "U").recordCount == 1)
    #expect(try await rows("U", "\"a,b\"") == ["'x'"])
  }

  @Test func `an empty cell that is imported as text is null in a numeric column`() async throws {
    try execute(["CREATE TABLE T (a DECIMAL, b TEXT, c, d INTEGER)"], in: database.path)
    let load = try await load(
      ",,,\n\"\",\"\",\"\",\"\"\n", as: .csv(hasHeader: false, emptyCells: .text))
    #expect(load.recordCount == 2)
    #expect(try await rows("T", "a", "b", "c", "d") == ["NULL,'','',NULL", "'','','',NULL"])
  }

  @Test(arguments: ["REAL", "DECIMAL(10, 2)"])
  func `infinity is imported as a number`(type: String) async throws {
    try execute(["CREATE TABLE T (a \(type))"], in: database.path)
    #expect(try await load("a\ninf\n-inf\n1.5\n").recordCount == 3)
    #expect(
      try await database.all(RecordQuery("T")).map { $0["a"] } == [
        .double(.infinity), .double(-.infinity), 1.5,
      ])
  }

  @Test func `a problem specifies which of several objects on a line is bad`() async throws {
    try execute(["CREATE TABLE T (a INTEGER)"], in: database.path)
    let text = "[{\"a\":1},{\"a\":\"x\"},2,{\"a\":3,} x, {\"b\":4},\n{\"a\":\"y\"}]"
    let found = await problems { try await load(text, as: .json, badRows: .skipped(atMost: 9)) }
    let beginnings = [
      "line 1: expected an object", "line 1: expected a comma",
      "line 1: object 2 of the line: the column a",
      "line 1: object 4 of the line: ", "line 1: object 5 of the line: T has no",
      "line 2: the column a",
    ]
    #expect(found.count == beginnings.count)
    #expect(zip(found, beginnings).allSatisfy { $0.hasPrefix($1) }, "\(found)")
  }

  @Test func `a JSON number can be the name of a record`() async throws {
    let text = "[{\"id\":7,\"n\":1},{\"id\":\"a\",\"n\":2}]"
    #expect(try await load(text, into: "Book", as: .json).recordCount == 2)
    #expect(try await database.record(RecordID("Book", "7"))?["n"] == 1)
    let again = try await load(
      "{\"id\":7,\"n\":3}", into: "Book", as: .jsonLines, existing: .updated)
    #expect(again.recordCount == 1)
    #expect(try await rows("Book", "id", "n") == ["'7',3", "'a',2"])
    // In another program's table, the declared type applies.
    try execute(["CREATE TABLE T (id TEXT PRIMARY KEY)"], in: database.path)
    #expect(await problems { try await load("{\"id\":7}", as: .jsonLines) }.first == "refused")
  }

  @Test func `the problem for an existing key mentions the policies for existing rows`()
    async throws
  {
    try execute(["CREATE TABLE T (a INTEGER PRIMARY KEY, b UNIQUE)"], in: database.path)
    let other = await problems {
      try await load("a,b\n5,5\n6,5\n", badRows: .skipped(atMost: 1))
    }
    #expect(other == ["line 3: another record has the same T.b"])
    let found = await problems { try await load("a\n1\n1\n", badRows: .skipped(atMost: 1)) }
    #expect(
      found == [
        "line 3: another record has the same T.a, and existing rows are neither updated nor kept"
      ])
  }

  @Test func `a column gets the type of its first value, wherever that is in the file`()
    async throws
  {
    var lines = (1...300).map { "{\"id\":\"\($0)\",\"a\":null,\"b\":null,\"c\":1}\n" }
    lines[149] = "{\"id\":\"150\",\"a\":2.5,\"b\":null,\"c\":1}\n"
    lines[249] = "{\"id\":\"250\",\"a\":null,\"b\":\"007\",\"c\":1}\n"
    lines[250] = "{\"id\":\"251\",\"a\":3,\"b\":\"1\",\"c\":1}\n"
    #expect(try await load(lines.joined(), as: .jsonLines).recordCount == 300)
    let found = try await database.all(
      RecordQuery("T", where: Field<Double>("a") != nil || Field<String>("b") != nil))
    #expect(
      found.map { [$0["a"], $0["b"]] } == [[2.5, .null], [.null, "007"], [3.0, "1"]])
  }

  @Test func `a concurrent save waits until the import has ended`() async throws {
    let database = SQLiteRecordDatabase(
      folder.file(), SQLiteOptions(busyTimeout: .milliseconds(1)))
    let pipe = folder.file("pipe")
    #expect(unsafe mkfifo(pipe, 0o600) == 0)
    let writer = try #require(FileHandle(forUpdatingAtPath: pipe))
    try writer.write(contentsOf: Data("id,a\n1,x\n".utf8))
    let (reports, report) = AsyncStream.makeStream(of: Void.self)
    let run = ImportRecords("T", into: database, from: pipe, as: .csv)
      .observed(by: ProgressSignal { report.yield() }).start()
    for await _ in reports { break }
    let save = SaveRecords([record("2", type: "T", ["a": "y"])], in: database, retries: .none)
      .start()
    // The rows are not visible yet, and reading is possible.
    #expect(try await database.all(RecordQuery("T")).isEmpty)
    try writer.close()
    #expect(await run.outcome.result?.recordCount == 1)
    #expect(await save.outcome.result?.count == 1)
    #expect(try await database.all(RecordQuery("T")).count == 2)
  }

  @Test func `an import from a missing file creates no database`() async throws {
    let error = await ImportRecords("T", into: database, from: file, as: .csv).run().error
    #expect((error as? RecordFileError)?.path == file)
    #expect(try folder.names == [])
  }

  @Test func `an import reports how many bytes of the file it has read`() async throws {
    try execute(["CREATE TABLE T (a INTEGER)"], in: database.path)
    let text = "a\n" + String(repeating: "1234567\n", count: 300_000)
    try Data(text.utf8).write(to: URL(fileURLWithPath: file))
    let observer = RecordingObserver()
    _ = await ImportRecords("T", into: database, from: file, as: .csv)
      .observed(by: observer).run()
    let counts = observer.events.compactMap { event -> Int? in
      if case .progressed(let done, 2_400_002, "bytes") = event.kind { done } else { nil }
    }
    #expect(counts == counts.sorted() && counts.count >= 3 && counts.last == 2_400_002)
  }
}

private struct ProgressSignal: OperationObserver {
  let action: @Sendable () -> Void

  func observe(_ event: OperationEvent) {
    if case .progressed = event.kind { action() }
  }
}
