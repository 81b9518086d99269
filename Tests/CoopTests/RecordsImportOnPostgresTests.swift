import Foundation
import TestSupport
import Testing

/// `coop records import` into a PostgreSQL database.
@Suite(.timeLimit(.minutes(10)), .enabled { try await WithServer.isPossibleBare() })
struct RecordsImportOnPostgresTests {
  private static let table = """
    create table t (id int primary key, name text not null); insert into t values (1, 'one')
    """

  @Test func `rows are imported into a table of a PostgreSQL database`() async throws {
    let fixture = try await RecordsFixture(Self.table, on: TestServer.ofImports)
    try fixture.folder.write("id,name\n2,two\n1,uno\n3,\n", to: "t.csv")
    let refused = try await fixture.records("import", "PG", "t", "t.csv", "--skip", "1")
    #expect(refused.status == 1 && refused.output.isEmpty)
    #expect(
      refused.error.hasPrefix("line 3: insert into t: duplicate key value"), "\(refused.error)")
    #expect(refused.error.hasSuffix("(and 1 more); nothing was imported\n"), "\(refused.error)")
    let updated = try await fixture.records(
      "import", "PG", "t", "t.csv", "--skip", "1", "--existing", "update")
    #expect(updated.status == 0 && updated.output.isEmpty)
    #expect(updated.error.contains("line 4: insert into t: null value in column \"name\""))
    #expect(updated.error.hasSuffix(" into t, 1 bad row skipped\n"), "\(updated.error)")
    #expect(try await fixture.run("select * from t order by id") == ["1|uno", "2|two"])
    let kept = try await fixture.records(
      "import", "PG", "t", "t.csv", "--skip", "1", "--existing", "keep", "--json")
    let json = try #require(
      try JSONSerialization.jsonObject(with: kept.output) as? [String: Any])
    #expect(json["records"] as? Int == 0 && (json["badRows"] as? [Any])?.count == 1)
  }

  @Test func `the options of an import apply to a PostgreSQL database`() async throws {
    let fixture = try await RecordsFixture(on: TestServer.ofImports)
    try fixture.folder.write("1\tEmma\tjane\n2\t\tjane\n", to: "books.tsv")
    try fixture.folder.write("id\ttitle\tby\n", to: "header.tsv")
    let missing = try await fixture.records("import", "PG", "Book", "header.tsv")
    #expect(missing.status == 1 && missing.error.contains("no such table: Book in the schema"))
    let created = try await fixture.records(
      "import", "PG", "Book", "header.tsv", "--create", "--references", "by=Author")
    #expect(created.status == 0, "\(created.error)")
    let loaded = try await fixture.records(
      "import", "PG", "Book", "books.tsv", "--no-header", "--empty-as-text", "--references",
      "by=Author", "--rows-per-transaction", "1")
    #expect(loaded.status == 0, "\(loaded.error)")
    try fixture.folder.write("{\"id\":3,\"pages\":474}\n", to: "more")
    let more = try await fixture.records(
      "import", "PG", "Book", "more", "--format", "jsonl", "--create")
    #expect(more.status == 0, "\(more.error)")
    let printed = try await fixture.records("query", "PG", "Book", "--json")
    #expect(
      lines(printed) == [
        #"{"id":"1","title":"Emma","by":"Author/jane","pages":null}"#,
        #"{"id":"2","title":"","by":"Author/jane","pages":null}"#,
        #"{"id":"3","title":null,"by":null,"pages":474}"#,
      ], "\(printed.text)")
    try fixture.folder.write("id;title\n4;x\n5;y;z\n", to: "semicolons.csv")
    let left = try await fixture.records(
      "import", "PG", "Book", "semicolons.csv", "--delimiter", ";", "--rows-per-transaction", "1")
    #expect(left.status == 1 && left.error.hasSuffix("1 record was imported before\n"))
  }

  @Test(arguments: ["csv", "json", "jsonl"])
  func `an import of an export is exported as the same bytes`(format: String) async throws {
    let fixture = try await RecordsFixture(
      """
      create type mood as enum ('ok', 'bad');
      create table p (id uuid primary key);
      insert into p values ('6f9619ff-8b86-d011-b42d-00c04fc964ff');
      create table t (a int, k text, b boolean, r real, d float8, s smallint, v varchar(9),
        u uuid, m mood, x bytea, at timestamptz(3), l jsonb, up text, primary key (k, a));
      create table c (id text primary key, n bigint, up text references c);
      insert into t values (1, 'x', true, 0.1, -0.0, -3, E'a"b,\\n', gen_random_uuid(), 'ok',
        '\\x00ff', '1815-12-23 01:02:03.004Z', '[1, "a", 2.5]', 'é'),
        (2, E' \\t"', null, -1e-30, 1e300, null, '', null, 'bad', '', null, '[]', '');
      insert into c values ('root', 9223372036854775807, null), ('leaf', null, 'root')
      """, on: TestServer.ofImports)
    try fixture.folder.write(
      """
      [{"id":"1","z":"\\u0000\\u0001","l":[1,1.0,"é"],"f":0.1},{"id":"2","z":"","f":1e300}]
      """, to: "own.json")
    let own = try await fixture.records("import", "PG", "Own", "own.json", "--create")
    #expect(own.status == 0, "\(own.error)")
    for (table, key) in [("t", "k"), ("c", "-id"), ("Own", "id")] {
      func export(_ name: String) async throws -> Data {
        let printed = try await fixture.records(
          "export", "PG", table, "--sort", key, "--to", "\(name).\(format)")
        #expect(printed.status == 0, "\(printed.error)")
        return try Data(contentsOf: fixture.folder.url.appendingPathComponent("\(name).\(format)"))
      }
      let before = try await export("before")
      #expect(before.count > 20)
      try await fixture.run("delete from \"\(table)\"")
      let loaded = try await fixture.records("import", "PG", table, "before.\(format)")
      #expect(loaded.status == 0, "\(loaded.error)")
      #expect(try await export("after") == before, "\(table)")
      // The same rows in a new table, whose columns have the types of a file.
      let copied = try await fixture.records(
        "import", "PG", "\(table) copy", "before.\(format)", "--create")
      #expect(copied.status == 0, "\(copied.error)")
    }
  }

  @Test func `standard input is imported into a PostgreSQL database`() async throws {
    let fixture = try await RecordsFixture(Self.table, on: TestServer.ofImports)
    let program = fixture.program(["import", "PG", "t", "-", "--format", "csv", "--skip", "1"])
    var shell = Program(
      executable: URL(fileURLWithPath: "/bin/sh"),
      arguments: [
        "-c", "printf 'id,name\\n2,two\\n3\\n' | \"$0\" \"$@\"", program.executable.path,
      ] + program.arguments)
    shell.folder = fixture.folder.url
    let printed = try await shell.run()
    #expect(printed.status == 0, "\(printed.error)")
    #expect(printed.error.hasPrefix("line 3: it has 1 cell; expected 2"), "\(printed.error)")
    #expect(try await fixture.run("select * from t order by id") == ["1|one", "2|two"])
    shell.arguments[1] = "printf 'id,name\\n2\\n3\\n' | \"$0\" \"$@\""
    let failed = try await shell.run()
    #expect(failed.status == 1)
    #expect(failed.error.contains("coop records: standard input, line 2: "), "\(failed.error)")
  }

  @Test(arguments: [SIGINT, SIGKILL], [nil, "2"])
  func `a program that ends during an import leaves whole transactions`(
    signal: Int32, rowsPerTransaction: String?
  ) async throws {
    let fixture = try await RecordsFixture(Self.table, on: TestServer.ofImports)
    let pipe = fixture.folder.url.appendingPathComponent("rows").path
    #expect(unsafe mkfifo(pipe, 0o600) == 0)
    let writer = try #require(FileHandle(forUpdatingAtPath: pipe))
    try writer.write(contentsOf: Data("id,name\n2,a\n3,b\n4,c\n".utf8))
    let options = rowsPerTransaction.map { ["--rows-per-transaction", $0] } ?? []
    let printed = try await fixture.program(
      ["import", "PG", "t", "rows", "--format", "csv"] + options
    ).run { process in
      // An open transaction that has inserted rows.
      let isInserting = """
        select count(*) from pg_locks as l join pg_stat_activity as a using (pid)
        where l.relation = 't'::regclass and l.mode = 'RowExclusiveLock'
          and a.state = 'idle in transaction'
        """
      let rowCount = rowsPerTransaction == nil ? "1" : "3"
      while try await fixture.run("select (\(isInserting)), (select count(*) from t)")
        != ["1|\(rowCount)"]
      {
        try #require(!hasEnded(process))
      }
      kill(process, signal)
    }
    try writer.close()
    let isKilled = signal == SIGKILL
    #expect(printed.status == (isKilled ? SIGKILL : 130), "\(printed.error)")
    if !isKilled {
      #expect(printed.error.hasPrefix("coop records: interrupted"), "\(printed.error)")
      #expect(
        printed.error.contains("2 records were imported before") == (rowsPerTransaction != nil))
    }
    let expected = rowsPerTransaction == nil ? ["1"] : ["1", "2", "3"]
    #expect(try await fixture.run("select id from t order by id") == expected)
    // The server has ended the transaction, so the table can be changed.
    try await fixture.run("alter table t add other int")
  }
}
