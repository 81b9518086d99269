import CompositeOperations
import Foundation
import PostgresOperations
import RecordOperations
import Testing

@Suite(.enabled(if: PrivateServer.missingServer == nil), .timeLimit(.minutes(10)))
struct RecordImportTests {
  private static let everyType = """
    create type mood as enum ('ok', 'bad');
    create table p (id int primary key); insert into p values (1);
    create table t (id int primary key, s smallint, f boolean, r real, d float8, v varchar(3),
      u uuid, m mood, x bytea, at timestamptz(3), l jsonb, p int references p)
    """

  @Test func `CSV cells are converted to the types of the columns that the header names`()
    async throws
  {
    let fixture = try await ImportFixture(Self.everyType)
    let imported = try await fixture.load(
      """
      f,id,s,r,d,v,u,m,x,at,l,p\r
      true,1,-3,0.1,7.5,"a,b",6F9619FF-8B86-D011-B42D-00C04FC964FF,ok,AAE=,2026-11-22,"[1,""a""]",1\r
      0,+2,3.0,inf,1e3,"",,bad,,2026-11-22T12:03:04.123Z,[],\r
      F,3,,,,,,,,,,
      """)
    #expect(imported.recordCount == 3 && imported.problems.isEmpty)
    #expect(
      try await fixture.rows("set timezone = 'UTC'; select t.* from t order by id") == [
        "1|-3|t|0.1|7.5|a,b|6f9619ff-8b86-d011-b42d-00c04fc964ff|ok|\\x0001|"
          + "2026-11-22 00:00:00+00|[1, \"a\"]|1",
        "2|3|f|Infinity|1000|||bad||2026-11-22 12:03:04.123+00|[]|", "3||f|||||||||",
      ])
    #expect(try await fixture.rows("select id from t where v = ''") == ["2"])
  }

  @Test func `JSON values are converted to the types of the columns`() async throws {
    let fixture = try await ImportFixture(Self.everyType)
    let text = """
      [{"id": 1, "s": 2.0, "f": true, "r": 0.1, "d": 3, "v": "a", "l": [1, "b"], "p": 1},
       {"id": 2, "s": "5", "f": "t", "m": "bad", "p": "1", "u": null},
       {"id": 3, "f": 2}, {"id": 4, "v": 1}, {"id": 5, "r": 16777217}, {"id": 6, "x": [1]},
       {"id": 7, "l": "[2]"}]
      """
    let imported = try await fixture.load(text, as: .json, skips: 4)
    #expect(imported.recordCount == 3)
    #expect(
      imported.problems.map(\.text) == [
        "the column f has 2, but takes true and false (boolean)",
        "object 2 of the line: the column v has 1, but takes text (character varying(3))",
        "object 3 of the line: the column r has 16777217, but takes numbers, and integers only if "
          + "a float represents them exactly",
        "object 4 of the line: the column x has a list of 1, but takes base64-encoded bytes",
      ])
    #expect(
      try await fixture.rows("select id, s, f, r, d, v, l, m, p from t order by id") == [
        "1|2|t|0.1|3|a|[1, \"b\"]||1", "2|5|t|||||bad|1", "7||||||[2]||",
      ])
  }

  @Test func `D11: bad rows of a served table are skipped and reported with their lines`()
    async throws
  {
    let fixture = try await ImportFixture(
      Self.everyType + "; alter table t add constraint c check (s > 0); insert into t values (5)")
    let text = """
      id,s,v,p,m,u,f,r
      1,x,"two
      lines",1,,,,
      2,2,ok,1,,,,
      3,2,ok
      5,2,ok,1,,,,
      6,0,no,1,,,,
      7,2,ok,9,,,,
      8,9223372036854775808,ok,1,,,,
      9,2,ok,1,worse,,,
      10,2,ok,1,,zz,,
      11,2,ok,1,,,maybe,
      12,2,ok,1,,,,1e99
      13,99999,ok,1,,,,
      14,2,long,1,,,,
      15,2,ok,1,,,,,,
      ,2,ok,1,,,,
      16,2,ok,,,,,
      """
    let imported = try await fixture.load(text, skips: 15)
    #expect(imported.recordCount == 2)
    let expected = [
      (2, "the column s has \"x\", but takes 64-bit integers (smallint)"),
      (5, "it has 3 cells; expected 8, one for each column"),
      (6, "duplicate key value violates unique constraint \"t_pkey\"; Key (id)=(5)"),
      (7, "violates check constraint \"c\""),
      (8, "violates foreign key constraint \"t_p_fkey\"; Key (p)=(9) is not present"),
      (9, "the column s has \"9223372036854775808\", but takes 64-bit integers (smallint)"),
      (10, "mood: \"worse\" (22P02)"),
      (11, "the column u has \"zz\", but takes UUIDs (uuid)"),
      (12, "the column f has \"maybe\", but takes 0, 1, false and true (boolean)"),
      (13, "the column r has 1e+99, but takes numbers (real)"),
      (14, "the field s of t is 99999, but its column takes integers (smallint)"),
      (15, "value too long for type character varying(3)"),
      (16, "it has 10 cells; expected 8"), (17, "null value in column \"id\""),
    ]
    #expect(imported.problems.map(\.line) == expected.map(\.0))
    for (problem, (_, text)) in zip(imported.problems, expected) {
      #expect(problem.text.contains(text), "\(problem)")
    }
    let existing = imported.problems[2].text
    #expect(existing.hasSuffix(", and existing rows are neither updated nor kept"), "\(existing)")
    #expect(try await fixture.rows("select id from t order by id") == ["2", "5", "16"])
  }

  @Test(arguments: [
    (ExistingRowPolicy.updated, ["a|1|x", "b|21|old", "c|30|new"], 3),
    (.kept, ["a|1|x", "b|2|old", "c|30|new"], 1),
  ])
  func `a row of a served table with an existing key is updated or kept`(
    existing: ExistingRowPolicy, expected: [String], count: Int
  ) async throws {
    let fixture = try await ImportFixture(
      """
      create table t (k text primary key, n int, other text default 'new');
      insert into t values ('a', 1, 'x'), ('b', 2, 'old')
      """)
    // A later row for the same key counts as well.
    let imported = try await fixture.load("k,n\na,1\nb,20\nb,21\nc,30\n", existing: existing)
    #expect(imported.recordCount == count)
    #expect(try await fixture.rows("select * from t order by k") == expected)
    for (text, problem) in [
      ("n\n1\n", "rows of t are identified by k, and the file does not have all of these columns")
    ] {
      #expect(
        await importProblems { try await fixture.load(text, existing: existing) } == [problem])
    }
    try await fixture.schema.query("create table keyless (a int)")
    #expect(
      await importProblems { try await fixture.load("a\n1\n", into: "keyless", existing: existing) }
        == ["keyless has no primary key that identifies existing rows"])
  }

  @Test func `an update with the same values keeps the tag, and one with similar values does not`()
    async throws
  {
    let fixture = try await ImportFixture()
    let database = fixture.schema.database()
    try await database.save(
      record("Book", "1", ["title": "a", "l": [1], "n": 1, "x": .bytes([1])]))
    func tag() async throws -> RecordTag? { try await database.record("Book", "1")?.tag }
    var before = try await tag()
    let columns = "id,title,l,n,x\n"
    for (row, count) in [
      ("1,a,[1],1,AQ==", 0), ("1,A,[1],1,AQ==", 1), ("1,A,[1.0],1,AQ==", 1),
      ("1,A,[1.0],,AQ==", 1), ("1,A,[1.0],,AQ==", 0),
    ] {
      let imported = try await fixture.load(columns + row, into: "Book", existing: .updated)
      let after = try await tag()
      #expect(imported.recordCount == count && (after == before) == (count == 0), "\(row)")
      before = after
    }
  }

  @Test func `a missing table is created in the order of the file, with generated names`()
    async throws
  {
    let fixture = try await ImportFixture()
    let missing = await importProblems { try await fixture.load("a\n1\n", into: "Book") }
    #expect(missing == ["no such table: Book in the schema \(fixture.schema.name) (tables: none)"])
    let first = "title,id,pages\nEmma,1,474\n\"\",2,\n"
    #expect(try await fixture.load(first, into: "Book", creates: true).recordCount == 2)
    let columns = try await fixture.schema.database().columns(of: "Book").map(\.name)
    #expect(columns == ["title", "id", "pages"])
    let headless = try await fixture.load("x,3,\n", into: "Book", as: .csv(hasHeader: false))
    #expect(headless.recordCount == 1)
    let typed = await importProblems { try await fixture.load("title,pags\nP,2\n", into: "Book") }
    #expect(typed == ["Book has no column \"pags\"; columns: title, id, pages"])
    let more = "title,year\nP,1817\n"
    #expect(try await fixture.load(more, into: "Book", creates: true).recordCount == 1)
    #expect(
      try await fixture.rows(
        #"select id ~ '^([0-9a-f]{32}|\d)$', title, pages, year from "Book" order by title, id"#)
        == ["t|||", "t|Emma|474|", "t|P||1817", "t|x||"])
    // The changes are recorded.
    let states = "select count(*) from record_states where type = 'Book' and not deleted"
    #expect(try await fixture.rows(states) == ["4"])
    let names = await importProblems {
      try await fixture.load("1\n", into: "Film", as: .csv(hasHeader: false), creates: true)
    }
    #expect(names == ["no such table: Film, and the file has no header that names its columns"])
  }

  @Test func `columns of a new served table get the types of their first JSON values`() async throws
  {
    let fixture = try await ImportFixture()
    let lines = """
      {"id":"1","a":null,"n":1,"l":["x"]}
      {"id":"2","a":2.5}
      {"id":"3","a":"x"}
      {"id":"4","a":3,"late":true}
      {}
      {"id":7,"n":"5"}
      """
    let imported = try await fixture.load(
      lines, into: "Book", as: .jsonLines, skips: 1, creates: true)
    #expect(imported.recordCount == 5 && imported.problems.map(\.line) == [3])
    #expect(
      try await fixture.rows(
        #"select length(id), a, n, l, late from "Book" order by length(id), id"#)
        == ["1||1|[\"x\"]|", "1|2.5|||", "1|3|||1", "1||5||", "32||||"])
  }

  @Test func `a table of another program gets no columns and no triggers`() async throws {
    let fixture = try await ImportFixture("create table t (id int primary key)")
    for creates in [false, true] {
      let found = await importProblems { try await fixture.load("id,a\n1,2\n", creates: creates) }
      #expect(found == ["t has no column \"a\"; columns: id"])
    }
    let object = "{\"id\":1}\n{\"a\":2}\n{}\n"
    let imported = try await fixture.load(object, as: .jsonLines, skips: 2, creates: true)
    #expect(
      imported.problems.map { "\($0)" } == [
        "line 2: t has no column \"a\"; columns: id", "line 3: it has no values",
      ])
    #expect(try await fixture.rows("select * from t") == ["1"])
    let triggers = "select count(*) from pg_trigger where tgrelid = 't'::regclass"
    #expect(try await fixture.rows(triggers) == ["0"])
  }

  @Test func `references refer to the type that the import specifies`() async throws {
    let fixture = try await ImportFixture()
    let rows = "id,by\n1,jane\n2,team/x\n3,\n"
    let references = ["by": "Author"]
    _ = try await fixture.load(rows, into: "Book", references: references, creates: true)
    let database = fixture.schema.database()
    func by(_ name: String) async throws -> FieldValue? {
      try await database.record("Book", name)?["by"]
    }
    #expect(try await by("1") == .reference(RecordReference(RecordID("Author", "jane"))))
    #expect(try await by("2") == .reference(RecordReference(RecordID("Author", "team/x"))))
    #expect(try await by("3") == .null)
    _ = try await fixture.load("id,by\n4,Author/jane\n", into: "Book")
    #expect(try await by("4") == by("1"))
    for (text, references, problem) in [
      ("id\n5\n", ["x": "Author"], "the file has no column \"x\", for which a referenced type"),
      ("id\n5\n", ["id": "Author"], "the column \"id\" of Book does not hold .keep references"),
    ] {
      let found = await importProblems {
        try await fixture.load(text, into: "Book", references: references)
      }
      #expect(found.first?.contains(problem) == true, "\(found)")
    }
    let bare = await importProblems { try await fixture.load("id,by\n5,jane\n", into: "Book") }
    #expect(bare.last?.contains("references with a type, such as Author/jane") == true, "\(bare)")
  }

  @Test func `an empty cell is null, or an empty text in a column of text`() async throws {
    let fixture = try await ImportFixture(
      "create type mood as enum ('ok'); create table t (a text, n int, x bytea, u uuid, m mood)")
    let text = ",,,,\n\"\",\"\",\"\",\"\",\"\"\n"
    #expect(try await fixture.load(text, as: .csv(hasHeader: false)).recordCount == 2)
    let isText = ImportFormat.csv(hasHeader: false, emptyCells: .text)
    #expect(try await fixture.load(text, as: isText).recordCount == 2)
    #expect(
      try await fixture.rows("select a is null, n is null, x is null, u is null, m is null from t")
        == ["t|t|t|t|t", "f|t|f|t|t", "f|t|t|t|t", "f|t|f|t|t"])
  }
}
