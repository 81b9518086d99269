import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct RecordsTests {
  /// Creates the database x.sqlite with two tables.
  private func library(in folder: TemporaryFolder) async throws {
    let authors = "id,name\n1,Jane\n2,Sigrid\n"
    try folder.write(authors, to: "authors.csv")
    try folder.write(
      """
      {"id":"a","title":"Emma","pages":474,"price":7.5}
      {"id":"b","title":"Kristin, Lavrans\\ndatter","pages":1200}

      """, to: "books.jsonl")
    for (table, file) in [("Author", "authors.csv"), ("Book", "books.jsonl")] {
      let printed = try await records("import", "x.sqlite", table, file, "--create", in: folder)
      try #require(printed.status == 0, "\(printed.error)")
    }
  }

  private func records(
    _ arguments: String..., in folder: TemporaryFolder
  ) async throws -> ProgramResult {
    var program = Program.coop(in: folder.url)
    program.arguments = ["records"] + arguments
    return try await program.run()
  }

  @Test func `tables are listed with their columns, as text and as JSON`() async throws {
    let folder = try TemporaryFolder()
    try await library(in: folder)
    let printed = try await records("tables", "x.sqlite", in: folder)
    #expect(
      printed.text == """
        table   kind   rows  columns
        Author  table     2  id TEXT, name TEXT
        Book    table     2  id TEXT, title TEXT, pages INTEGER, price REAL

        """)
    let json = try await records("tables", "x.sqlite", "--json", in: folder)
    let tables = try #require(
      try JSONSerialization.jsonObject(with: json.output) as? [[String: Any]])
    #expect(tables.map { $0["name"] as? String } == ["Author", "Book"])
    #expect(tables.map { $0["rowCount"] as? Int } == [2, 2])
  }

  @Test func `rows are printed as a table, or as one JSON object per line`() async throws {
    let folder = try TemporaryFolder()
    try await library(in: folder)
    let printed = try await records(
      "query", "x.sqlite", "Book", "--columns", "title,pages,price", in: folder)
    #expect(
      printed.text == """
        title                    pages  price
        Emma                       474    7.5
        Kristin, Lavrans·datter   1200      –

        """)
    let json = try await records(
      "query", "x.sqlite", "Book", "--where", "pages>500", "--where", "title^=Kri", "--json",
      "--columns", "id,title", in: folder)
    #expect(json.text == "{\"id\":\"b\",\"title\":\"Kristin, Lavrans\\ndatter\"}\n")
  }

  @Test(arguments: [
    (["pages=474"], ["a"]), (["pages!=474"], ["b"]), (["price=null"], ["b"]),
    (["price>=7.5"], ["a"]), (["title*=Lavrans"], ["b"]), (["id='a'"], ["a"]),
    (["pages<=1200", "pages>=474"], ["b", "a"]), (["title='474'"], []),
    (["pages > 474"], ["b"]), ([" title = 'Emma' "], ["a"]), (["pages=0x1DA"], []),
    (["pages == 474"], ["a"]), (["pages<>474"], ["b"]), (["id>'a'"], ["b"]),
    (["pages> 474"], ["b"]), (["pages >474"], ["b"]), (["title= Emma"], ["a"]),
    (["title=' Emma'"], []),
  ])
  func `conditions select rows`(conditions: [String], ids: [String]) async throws {
    let folder = try TemporaryFolder()
    try await library(in: folder)
    var program = Program.coop(in: folder.url)
    program.arguments =
      ["records", "query", "x.sqlite", "Book", "--columns", "id", "--sort", "-pages", "--json"]
      + conditions.flatMap { ["--where", $0] }
    #expect(lines(try await program.run()) == ids.map { "{\"id\":\"\($0)\"}" })
  }

  @Test func `exported rows are imported unchanged`() async throws {
    let folder = try TemporaryFolder()
    try await library(in: folder)
    for name in ["out.csv", "out.json", "out.jsonl"] {
      let out = try await records("export", "x.sqlite", "Book", "--to", name, "--json", in: folder)
      #expect(out.status == 0 && out.error.isEmpty)
      let summary = try JSONSerialization.jsonObject(with: out.output) as? [String: Any]
      #expect(summary?["records"] as? Int == 2 && summary?["file"] as? String == name)
      let database = name + ".sqlite"
      let load = try await records("import", database, "Book", name, "--create", in: folder)
      #expect(load.status == 0 && load.error.hasPrefix("2 rows in "))
      let again = try await records(
        "export", database, "Book", "--columns", "id,pages,price,title", "--to", "-", in: folder)
      #expect(
        again.text == "id,pages,price,title\na,474,7.5,Emma\nb,1200,,\"Kristin, Lavrans\ndatter\"\n"
      )
    }
  }

  @Test func `an export to standard output is appended to existing contents`() async throws {
    let folder = try TemporaryFolder()
    try await library(in: folder)
    let command =
      "(echo first; '\(Program.coop().executable.path)' records export x.sqlite Author --to - --format json) > out"
    var shell = Program(executable: URL(fileURLWithPath: "/bin/sh"), arguments: ["-c", command])
    shell.folder = folder.url
    #expect(try await shell.run().status == 0)
    #expect(
      try String(contentsOf: folder.url.appendingPathComponent("out"), encoding: .utf8) == """
        first
        [
        {"id":"1","name":"Jane"},
        {"id":"2","name":"Sigrid"}
        ]

        """)
  }

  @Test
  func `bad rows are listed with their lines, and nothing is imported unless they may be skipped`()
    async throws
  {
    let folder = try TemporaryFolder()
    try await library(in: folder)
    try folder.write("id,pages\nc,1\nd,x\na,2\n", to: "more.csv")
    let refused = try await records("import", "x.sqlite", "Book", "more.csv", in: folder)
    #expect(refused.status == 1 && refused.output.isEmpty)
    #expect(refused.error.hasPrefix("coop records: more.csv, line 3: the column pages has \"x\""))
    #expect(refused.error.hasSuffix("nothing was imported\n"))
    // The error is reported once.
    #expect(refused.error.split(separator: "\n").count == 1)
    let skipped = try await records(
      "import", "x.sqlite", "Book", "more.csv", "--skip", "1", "--existing", "update", "--json",
      in: folder)
    #expect(skipped.status == 0)
    let summary = try JSONSerialization.jsonObject(with: skipped.output) as? [String: Any]
    #expect(summary?["records"] as? Int == 2)
    #expect((summary?["badRows"] as? [[String: Any]])?.map { $0["line"] as? Int } == [3])
    let pages = try await records(
      "query", "x.sqlite", "Book", "--sort", "id", "--columns", "pages", "--json", in: folder)
    #expect(lines(pages) == ["{\"pages\":2}", "{\"pages\":1200}", "{\"pages\":1}"])
  }

  @Test func `the first twenty bad rows are listed, and the others are counted`() async throws {
    let folder = try TemporaryFolder()
    try await library(in: folder)
    try folder.write(
      "id,pages\n" + (1...30).map { "new \($0),x\n" }.joined(), to: "bad.csv")
    let printed = try await records(
      "import", "x.sqlite", "Book", "bad.csv", "--skip", "24", in: folder)
    #expect(printed.status == 1)
    let lines = printed.error.split(separator: "\n")
    #expect(lines.count == 22)
    #expect(lines.prefix(20).enumerated().allSatisfy { $1.hasPrefix("line \($0 + 2): ") })
    #expect(lines.dropFirst(20).first == "… and 5 other bad rows")
    #expect(lines.last?.hasSuffix("(and 24 more); nothing was imported") == true)
  }

  @Test func `reading a database changes no file and creates none`() async throws {
    let folder = try TemporaryFolder()
    try await library(in: folder)
    let before = try Data(contentsOf: folder.url.appendingPathComponent("x.sqlite"))
    for arguments in [
      ["tables", "x.sqlite"], ["query", "x.sqlite", "Book"], ["export", "x.sqlite", "Book"],
      ["tables", "x.sqlite", "--immutable"], ["query", "x.sqlite", "Book", "--immutable"],
      ["export", "x.sqlite", "Book", "--immutable"],
    ] {
      var program = Program.coop(in: folder.url)
      program.arguments = ["records"] + arguments
      #expect(try await program.run().status == 0)
    }
    #expect(try Data(contentsOf: folder.url.appendingPathComponent("x.sqlite")) == before)
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted()
    #expect(names == ["Book.csv", "authors.csv", "books.jsonl", "x.sqlite"])
  }

  @Test(arguments: [
    (["query", "none.sqlite", "T"], "file not found: ./none.sqlite"),
    (["tables", "authors.csv"], "is not an SQLite database"),
    (["query", "x.sqlite", "Bok"], "no such table: Bok (tables: Author, Book)"),
    (["export", "x.sqlite", "Book", "--columns", "titel"], "no column \"titel\"; columns"),
    (["query", "x.sqlite", "Book", "--where", "titel=1"], "no column \"titel\"; columns"),
    (["query", "x.sqlite", "Book", "--where", "title>1"], "title is a text column, which sorts"),
    (
      ["export", "x.sqlite", "Book", "--to", "/no/folder/b.csv"],
      "/no/folder/b.csv cannot be written"
    ),
    (
      ["export", "x.sqlite", "Book", "--to", "x.sqlite", "--format", "csv"],
      "it is the database itself"
    ),
    (["import", "x.sqlite", "Book", "gone.csv"], "the file gone.csv cannot be read"),
    (
      ["import", "none.sqlite", "Book", "authors.csv"],
      "no such file: none.sqlite; use --create to create it"
    ),
    (
      ["import", "new.sqlite", "Book", ".", "--create", "--format", "csv"],
      "the file . cannot be read: it is a folder"
    ),
    (
      ["import", "new.sqlite", "Book", "authors.csv", "--create", "--delimiter", ";"],
      "Set the delimiter to comma"
    ),
    (
      ["import", "no/new.sqlite", "Book", "authors.csv", "--create"],
      "./no/new.sqlite cannot be created: no such folder: ./no. Create it first"
    ),
  ])
  func `an error states the reason and changes nothing`(arguments: [String], text: String)
    async throws
  {
    let folder = try TemporaryFolder()
    try await library(in: folder)
    var program = Program.coop(in: folder.url)
    program.arguments = ["records"] + arguments
    let printed = try await program.run()
    #expect(printed.status == 1 && printed.output.isEmpty)
    #expect(
      printed.error.hasPrefix("coop records: ") && printed.error.contains(text),
      "\(printed.error)")
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted()
    #expect(names == ["authors.csv", "books.jsonl", "x.sqlite"])
  }

  @Test func `a type that neither database has is no type to mirror once`() async throws {
    let folder = try TemporaryFolder()
    try await library(in: folder)
    try folder.write("id\na\n", to: "films.csv")
    _ = try await records("import", "y.sqlite", "Film", "films.csv", "--create", in: folder)
    let refused = try await records("mirror", "x.sqlite", "y.sqlite", "Flim", "--once", in: folder)
    #expect(refused.status == 1)
    #expect(
      refused.error == "coop records: neither x.sqlite nor y.sqlite has a table Flim\n",
      "\(refused.error)")
    for type in ["Film", "Book"] {
      let printed = try await records("mirror", "x.sqlite", "y.sqlite", type, "--once", in: folder)
      #expect(printed.status == 0, "\(printed.error)")
    }
    #expect(lines(try await records("query", "y.sqlite", "Book", "--json", in: folder)).count == 2)
  }

  @Test(arguments: [
    ([], "no action; expected import, query, export, tables or mirror"),
    (["drop"], "unknown action drop; expected"), (["query", "f"], "no TABLE; expected FILE TABLE"),
    (["tables", "f", "g"], "unexpected argument g"), (["tables", ""], "an empty argument"),
    (["query", "--", "f", "t", "--json"], "unexpected argument --json"),
    (["query", "f", "t", "--sort", "-"], "--sort -; expected a column, or -COLUMN"),
    (["export", "f", "t", "--to", "t.xlsx"], "the name t.xlsx does not imply a format"),
    (["export", "f", "t", "--to", "t.json", "--crlf"], "--crlf is only for CSV"),
    (["import", "f", "t", "a.jsonl", "--no-header"], "--no-header is only for CSV"),
    (["tables", "f", "--limit", "1"], "unknown option --limit"),
    (["import", "f", "t", "a.csv", "--immutable"], "unknown option --immutable"),
    (["query", "f", "t", "--limit", "-1"], "invalid --limit -1; expected a number >= 0"),
    (["query", "f", "t", "--where", "pages"], "invalid condition pages; expected COLUMN=VALUE"),
    (["query", "f", "t", "--where"], "--where without a value"),
    (["export", "f", "t", "--format", "xml"], "--format xml; expected one of csv, json, jsonl"),
    (["export", "f", "t", "--delimiter", "x"], "--delimiter x; expected one of ,, ;, tab"),
    (["import", "f", "t", "-"], "does not imply a format; expected --format"),
    (["import", "f", "t", "a.csv", "--existing", "drop"], "--existing drop; expected one of"),
    (["import", "f", "t", "a.csv", "--references", "x"], "--references x; expected COLUMN=TABLE"),
    (["import", "f", "t", "a.csv", "--rows-per-transaction", "0"], "expected a number >= 1"),
  ])
  func `invalid arguments are reported in one line with the expected ones`(
    arguments: [String], message: String
  ) async throws {
    var program = Program.coop()
    program.arguments = ["records"] + arguments
    let printed = try await program.run()
    #expect(printed.status == 64 && printed.output.isEmpty)
    #expect(printed.error.split(separator: "\n").count == 1)
    #expect(printed.error.contains(message), "\(printed.error)")
  }

  @Test func `--help prints the usage`() async throws {
    let printed = try await Program.coop("records", "import", "--help").run()
    #expect(printed.status == 0 && printed.text.hasPrefix("usage: coop records tables FILE"))
    #expect(printed.text.split(separator: "\n").allSatisfy { $0.count <= 120 })
  }
}
