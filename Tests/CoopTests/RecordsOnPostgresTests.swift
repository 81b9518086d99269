import Foundation
import TestSupport
import Testing

private let library = """
  create table "Author" (id int primary key, name text);
  create table "Book" (id text primary key, title text, pages bigint, price float8,
    author int references "Author", day timestamptz(3));
  insert into "Author" values (1, 'Jane'), (2, 'Sigrid');
  insert into "Book" values ('a', 'Emma', 474, 7.5, 1, '1815-12-23Z'),
    ('b', 'Kristin, Lavransdatter', 1200, null, 2, null);
  create view "Thick" as select title, pages from "Book" where pages > 500;
  """

@Suite(.timeLimit(.minutes(10)), .enabled { try await WithServer.isPossibleBare() })
struct RecordsOnPostgresTests {
  @Test func `the tables of a PostgreSQL database are listed with their columns`() async throws {
    let fixture = try await RecordsFixture(
      library
        + """
        create view "Broken" as
          select x from generate_series(1, (select 1 / (count(*) - count(*)) from "Book")) as x
        """)
    let printed = try await fixture.records("tables", "PG")
    #expect(
      lines(printed).map { $0.split(separator: " ", omittingEmptySubsequences: true).prefix(4) }
        == [
          ["table", "kind", "rows", "columns"], ["Author", "table", "2", "id"],
          ["Book", "table", "2", "id"], ["Broken", "view", "?", "x"],
          ["Thick", "view", "1", "title"],
        ], "\(printed.text)")
    #expect(printed.text.contains("id text, title text, pages bigint, price double precision"))
    #expect(printed.error.contains("view Broken cannot be read: "), "\(printed.error)")
    #expect(printed.error.contains("division by zero"), "\(printed.error)")
    let json = try await fixture.records("tables", "PG", "--json")
    let tables = try #require(
      try JSONSerialization.jsonObject(with: json.output) as? [[String: Any]])
    #expect(tables.map { $0["name"] as? String } == ["Author", "Book", "Broken", "Thick"])
  }

  @Test func `rows of a PostgreSQL database are printed as a table or as JSON`() async throws {
    let fixture = try await RecordsFixture(library)
    let printed = try await fixture.records(
      "query", "PG", "Book", "--columns", "title,pages,price", "--sort", "-pages")
    #expect(
      printed.text == """
        title                   pages  price
        Kristin, Lavransdatter   1200      –
        Emma                      474    7.5

        """, "\(printed.error)")
    let json = try await fixture.records("query", "PG", "Book", "--limit", "1", "--json")
    #expect(
      lines(json) == [
        #"{"id":"a","title":"Emma","pages":474,"price":7.5,"author":1,"day":"1815-12-23T00:00:00.000Z"}"#
      ], "\(json.text)")
    let view = try await fixture.records("query", "PG", "Thick", "--json")
    #expect(lines(view) == [#"{"title":"Kristin, Lavransdatter","pages":1200}"#])
  }

  @Test(arguments: [
    (["pages>500"], ["b"]), (["title^=Em"], ["a"]), (["price=null"], ["b"]), (["author=1"], ["a"]),
    (["id=b"], ["b"]), (["title*=a", "pages!=474"], ["b"]), (["price>=7.5"], ["a"]),
    (["day<1900-01-01"], ["a"]),
  ])
  func `conditions select rows of a PostgreSQL database`(
    conditions: [String], names: [String]
  ) async throws {
    let fixture = try await RecordsFixture(library)
    var program = fixture.program(["query", "PG", "Book", "--columns", "id", "--json"])
    program.arguments += conditions.flatMap { ["--where", $0] }
    let printed = try await program.run()
    #expect(lines(printed) == names.map { #"{"id":"\#($0)"}"# }, "\(printed.error)")
  }

  @Test func `an export of a PostgreSQL database has all rows, and is imported unchanged`()
    async throws
  {
    let fixture = try await RecordsFixture(
      """
      create table t (id int primary key, name text);
      insert into t select i, 'name ' || i from generate_series(1, 2500) as i
      """)
    let printed = try await fixture.records("export", "PG", "t", "--to", "t.csv")
    #expect(printed.status == 0 && printed.error.contains("2,500 rows"), "\(printed.error)")
    let piped = try await fixture.records("export", "PG", "t", "--to", "-")
    let file = fixture.folder.url.appendingPathComponent("t.csv")
    #expect(try Data(contentsOf: file) == piped.output)
    let expected = ["id,name"] + (1...2500).map { "\($0),name \($0)" }
    #expect(lines(piped) == expected)
    _ = try await fixture.records("import", "x.sqlite", "t", "t.csv", "--create")
    let again = try await fixture.records("export", "x.sqlite", "t", "--to", "-")
    #expect(Set(lines(again)) == Set(expected))
  }

  @Test func `a file and a PostgreSQL database are mirrored in both directions`() async throws {
    let fixture = try await RecordsFixture()
    try fixture.folder.write("id,title\na,Emma\nb,Sanditon\n", to: "books.csv")
    _ = try await fixture.records("import", "x.sqlite", "Book", "books.csv", "--create")
    let sent = try await fixture.records("mirror", "x.sqlite", "PG", "--once", "--json")
    #expect(sent.status == 0 && sent.text.contains(#""sent":2"#), "\(sent.text) \(sent.error)")
    #expect(
      try await fixture.run(#"select id, title from "Book" order by id"#)
        == ["a|Emma", "b|Sanditon"])
    try await fixture.run(
      #"update "Book" set title = 'Persuasion' where id = 'b'; delete from "Book" where id = 'a'"#)
    let fetched = try await fixture.records("mirror", "x.sqlite", "PG", "--once", "--json")
    #expect(fetched.text.contains(#""saved":1,"deleted":1,"sent":0"#), "\(fetched.text)")
    let printed = try await fixture.records("query", "x.sqlite", "Book", "--json")
    #expect(lines(printed) == [#"{"id":"b","title":"Persuasion"}"#])
  }

  @Test func `tables of another program in a PostgreSQL database are mirrored`() async throws {
    let fixture = try await RecordsFixture(library)
    let printed = try await fixture.records("mirror", "x.sqlite", "PG", "--once")
    #expect(printed.status == 0, "\(printed.error)")
    let books = try await fixture.records(
      "query", "x.sqlite", "Book", "--columns", "id,author.name", "--json")
    #expect(
      lines(books) == [#"{"id":"a","author.name":"Jane"}"#, #"{"id":"b","author.name":"Sigrid"}"#])
  }

  @Test func `a mirror of all tables names those that it leaves out`() async throws {
    let fixture = try await RecordsFixture(
      library
        + """
        create table keyless (a int)
        """)
    let printed = try await fixture.records("mirror", "x.sqlite", "PG", "--once")
    #expect(printed.status == 0)
    #expect(
      printed.error == """
        keyless of the remote database is left out: it has no primary key that can be the name of a record
        4 saved

        """, "\(printed.error)")
  }

  @Test func `a single round waits for the transactions that delay changes`() async throws {
    let fixture = try await RecordsFixture("create table t (id int primary key, name text)")
    _ = try await fixture.records("mirror", "x.sqlite", "PG", "--once")
    // It delays all later changes for two seconds, but not for longer than a round waits.
    let slow = Task {
      try await fixture.run("begin; select pg_current_xact_id(); select pg_sleep(2); commit")
    }
    let running = "select count(*) from pg_stat_activity where query like '%pg_sleep(2)%'"
    while try await fixture.run(running + " and backend_xid is not null") == ["0"] {}
    try await fixture.run("insert into t values (1, 'a')")
    let printed = try await fixture.records("mirror", "x.sqlite", "PG", "--once", "--json")
    #expect(printed.status == 0, "\(printed.error)")
    #expect(printed.text.contains(#""saved":1,"#), "\(printed.text)")
    #expect(printed.text.contains(#""isDelayed":false"#), "\(printed.text)")
    _ = try await slow.value
  }

  @Test func `a schema that does not exist is named`() async throws {
    let fixture = try await RecordsFixture()
    var program = fixture.program(["tables", "PG"])
    program.arguments[program.arguments.count - 1] += "x"
    let tables = try await program.run()
    #expect(tables.status == 1)
    #expect(tables.error.contains("the database has no such schema; name one with --schema"))
    try fixture.folder.write("id\na\n", to: "films.csv")
    _ = try await fixture.records("import", "x.sqlite", "Film", "films.csv", "--create")
    program = fixture.program(["mirror", "x.sqlite", "PG", "--once"])
    let place = try #require(program.arguments.firstIndex(of: fixture.schema))
    program.arguments[place] += "x"
    let mirrored = try await program.run()
    #expect(
      mirrored.error == """
        the remote database has no schema \(fixture.schema)x yet; it will be created
        1 sent

        """, "\(mirrored.error)")
  }

  @Test func `a view that is too slow to count does not hide the other tables`() async throws {
    let fixture = try await RecordsFixture(
      library + #"create view "Slow" as select 1 as x from pg_sleep(600)"#)
    let printed = try await fixture.records("tables", "PG")
    #expect(lines(printed).count == 5, "\(printed.text)")
    #expect(
      printed.error == "view Slow cannot be read: counting its rows takes more than 5 s\n",
      "\(printed.error)")
  }

  @Test func `a new table is mirrored into a schema of another program`() async throws {
    let fixture = try await RecordsFixture(library)
    try fixture.folder.write("id,title\na,Metropolis\n", to: "films.csv")
    _ = try await fixture.records("import", "x.sqlite", "Film", "films.csv", "--create")
    let printed = try await fixture.records("mirror", "x.sqlite", "PG", "Film", "--once")
    #expect(printed.status == 0 && printed.error == "1 sent\n", "\(printed.error)")
    #expect(try await fixture.run(#"select * from "Film""#) == ["a|Metropolis"])
    // The tables of the other program are left as they are.
    #expect(
      try await fixture.run(
        #"select tgname from pg_trigger where tgrelid in ('"Book"'::regclass) and not tgisinternal"#
      ).isEmpty)
  }

  @Test func `a mirror follows the commits of a PostgreSQL database until Ctrl-C`() async throws {
    let fixture = try await RecordsFixture(library)
    let output = fixture.folder.url.appendingPathComponent("output").path
    // A hint may precede its change, which transactions of other tests delay.
    var program = fixture.program(["mirror", "x.sqlite", "PG", "Author", "--interval", "1"])
    program.output = URL(fileURLWithPath: output)
    @Sendable func hasPrinted(_ line: String) -> Bool {
      (try? String(contentsOfFile: output, encoding: .utf8))?.contains(line) == true
    }
    let printed = try await program.run { process in
      try await eventually { hasPrinted("saved Author/2") || hasEnded(process) }
      try await fixture.run(#"insert into "Author" values (3, 'Selma')"#)
      try await eventually { hasPrinted("saved Author/3") || hasEnded(process) }
      kill(process, SIGINT)
    }
    #expect(printed.status == 130, "\(printed.error)")
    #expect(hasPrinted("saved Author/3"))
    // The last round may not have ended.
    #expect(printed.error.contains(" saved, 0 deleted, 0 sent"), "\(printed.error)")
  }

  @Test(arguments: [
    (["query", "PG", "Film"], "no such table: Film in the schema"),
    (["query", "PG", "Film"], "(tables: Author, Book, Thick, keyless)"),
    (
      ["query", "PG", "Book", "--columns", "isbn"],
      #"Book has no column "isbn"; columns: id, title"#
    ),
    (["query", "PG", "Book", "--sort", "isbn"], #"Book has no column "isbn"; columns: id, title"#),
    (
      ["query", "PG", "Book", "--columns", "author.name"],
      "paths across references are only for a SQLite file"
    ),
    (["query", "PG", "Book", "--columns", "id,id"], "the column id is named twice"),
    (["query", "PG", "Book", "--where", "title>5"], "title is a text column, which sorts"),
    (["mirror", "x.sqlite", "PG", "keyless", "--once"], "keyless can only be queried"),
    (
      ["mirror", "x.sqlite", "PG", "Film", "--once"],
      "neither x.sqlite nor the remote database has a table Film"
    ),
  ])
  func `an error of a PostgreSQL database states the reason`(
    arguments: [String], text: String
  ) async throws {
    let fixture = try await RecordsFixture(
      library
        + """
        create table keyless (a int)
        """)
    let printed = try await fixture.program(arguments).run()
    #expect(printed.status == 1 && printed.output.isEmpty, "\(printed.text)")
    #expect(
      printed.error.hasPrefix("coop records: ") && printed.error.contains(text),
      "\(printed.error)")
  }

  @Test func `a wrong password is an error without the password`() async throws {
    let fixture = try await RecordsFixture()
    try await fixture.run(
      "drop role if exists secured; create role secured login password 'right'")
    let address = fixture.address.replacing("postgres@", with: "secured:s3cret@")
    for arguments in [["query", address, "Book"], ["mirror", "x.sqlite", address, "--once"]] {
      let printed = try await fixture.program(arguments).run()
      #expect(printed.status == 1 && printed.output.isEmpty)
      #expect(printed.error.contains("password authentication failed"), "\(printed.error)")
      #expect(!printed.error.contains("s3cret"), "\(printed.error)")
    }
  }

  @Test(arguments: [
    ["tables"], ["query", "Book"], ["export", "Book"], ["import", "Book", "b.csv"],
    ["mirror", "--once"],
  ])
  func `a server that does not run is an error without the password`(
    arguments: [String]
  ) async throws {
    let fixture = try await RecordsFixture()
    let address = "postgresql://bob:s3cret@/library?host=/no/such/folder"
    let file = arguments[0] == "mirror" ? ["x.sqlite"] : []
    try fixture.folder.write("id\n1\n", to: "b.csv")
    let printed = try await fixture.program(
      [arguments[0]] + file + [address] + arguments.dropFirst()
    ).run()
    #expect(printed.status == 1 && printed.output.isEmpty)
    #expect(printed.error.hasPrefix("coop records: "), "\(printed.error)")
    #expect(printed.error.contains("/no/such/folder"), "\(printed.error)")
    #expect(!printed.error.contains("s3cret"), "\(printed.error)")
  }
}

@Suite(.timeLimit(.minutes(10))) struct RecordsAddressTests {
  private static let address = "postgresql://bob:s3cret@h/d"

  @Test(arguments: [
    (
      ["import", address, "Book", "b.csv", "--trust-schema"],
      "--trust-schema with an address; expected the path"
    ), (["import", "x.sqlite", "Book", "b.csv", "--schema", "s"], "--schema with a file"),
    (["query", address, "Book", "--immutable"], "--immutable with an address; expected the path"),
    (["tables", address, "--trust-schema"], "--trust-schema with an address; expected the path"),
    (["tables", "x.sqlite", "--schema", "s"], "--schema with a file, which has no schemas"),
    (["tables", address, "--schema"], "--schema without a value; expected the name of a schema"),
    (["mirror", address, "x.sqlite"], "swap the arguments: coop records mirror FILE ADDRESS"),
    (["mirror", address, address], "mirror each address with the same file"),
    (["mirror", "x", "y", "--schema", "s"], "--schema with a file, which has no schemas"),
  ])
  func `an address where only a file can be is an invalid argument`(
    arguments: [String], message: String
  ) async throws {
    var program = Program.coop()
    program.arguments = ["records"] + arguments
    let printed = try await program.run()
    #expect(printed.status == 64 && printed.output.isEmpty)
    #expect(printed.error.split(separator: "\n").count == 1)
    #expect(printed.error.contains(message), "\(printed.error)")
    #expect(!printed.error.contains("s3cret"))
  }

  @Test func `an unknown scheme is an error without the rest of the address`() async throws {
    let printed = try await Program.coop("records", "tables", "redis://bob:s3cret@h").run()
    #expect(printed.status == 1)
    #expect(printed.error.contains("redis://… is no address of a database"), "\(printed.error)")
    #expect(!printed.error.contains("s3cret"))
  }

  @Test(
    .enabled("this build has libpq") {
      let address = "postgresql://user@/none?host=/no/such/folder"
      return try await Program.coop("journal", address, "check").run().error.contains(
        "built without PostgreSQL")
    }) func `a build without libpq says what to install`() async throws
  {
    let printed = try await Program.coop("records", "tables", Self.address).run()
    #expect(printed.status == 1)
    #expect(
      printed.error == """
        coop: postgresql://…: this program was built without PostgreSQL; install libpq (libpq-dev \
        on Debian), run `swift package purge-cache`, and build it again

        """)
  }
}
