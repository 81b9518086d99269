import CompositeOperations
import Foundation
import PostgresOperations
import RecordOperations
import Testing

/// Imports into tables with constraints and triggers, and of unsuitable files.
@Suite(.enabled(if: PrivateServer.missingServer == nil), .timeLimit(.minutes(10)))
struct RecordImportTableTests {
  @Test(arguments: [1, 5_000])
  func `D11: each bad row among many is found`(count: Int) async throws {
    let fixture = try await ImportFixture("create table t (a int unique, b text)")
    let numbers = (0..<count).map { $0 % 700 == 699 ? $0 - 1 : $0 }
    let text = "a,b\n" + numbers.map { "\($0),x\n" }.joined()
    let imported = try await fixture.load(text, skips: .max)
    #expect(imported.recordCount == Set(numbers).count)
    #expect(
      imported.problems.map(\.line) == numbers.indices.filter { numbers[$0] != $0 }.map { $0 + 2 })
    // The unique column is not the key.
    #expect(imported.problems.allSatisfy { !$0.text.contains("existing rows") })
    #expect(
      try await fixture.rows("select count(*), sum(a) from t") == [
        "\(imported.recordCount)|\(Set(numbers).reduce(0, +))"
      ])
  }

  @Test(arguments: [1, 400])
  func `D11: a row that a trigger of a served table drops is reported`(count: Int) async throws {
    let fixture = try await ImportFixture(
      """
      create table t (a int); create table log (a int);
      create function drop_row() returns trigger language plpgsql as $$ begin
        if new.a = 1 then return null; end if;
        if new.a = 2 then raise 'not two'; end if;
        return new; end $$;
      create function log_row() returns trigger language plpgsql set search_path from current
        as $$ begin insert into log values (new.a), (new.a); return null; end $$;
      create trigger d before insert on t for each row execute function drop_row();
      create trigger l after insert on t for each row execute function log_row()
      """)
    let text = "a\n" + (1...count).map { "\($0)\n" }.joined()
    let imported = try await fixture.load(text, skips: 2)
    #expect(imported.recordCount == max(0, count - 2))
    #expect(
      imported.problems.map { "\($0)" }
        == Array(
          [
            "line 2: the table discarded it, by a trigger or another rule",
            "line 3: insert into t: not two (P0001)",
          ].prefix(count)))
    #expect(try await fixture.rows("select count(*) from log") == ["\(2 * max(0, count - 2))"])
  }

  /// The result does not depend on the number of rows, or on where a statement ends.
  @Test(arguments: [2, 3, 300])
  func `D11: a row of a served table can refer to earlier rows of the file, but not to later ones`(
    count: Int
  ) async throws {
    let fixture = try await ImportFixture(
      "create table t (a int primary key, b int references t)")
    let last = (3...300).prefix(count - 2).map { "\($0),1\n" }.joined()
    let imported = try await fixture.load("a,b\n2,1\n1,\n" + last, skips: 1)
    #expect(imported.problems.map(\.line) == [2] && imported.recordCount == count - 1)
  }

  @Test func `D11: deferred foreign keys are checked at the end of the transaction`() async throws {
    let fixture = try await ImportFixture(
      """
      create table u (b int primary key); insert into u values (1);
      create table t (a int primary key, up int references t deferrable initially deferred,
        b int references u deferrable initially deferred)
      """)
    #expect(try await fixture.load("a,up,b\n1,2,1\n2,1,\n").recordCount == 2)
    let found = await importProblems {
      try await fixture.load("a,up,b\n3,4,7\n4,3,\n", skips: 9)
    }
    #expect(
      found == [
        "at the end of the transaction: insert or update on table \"t\" violates foreign key "
          + "constraint \"t_b_fkey\"; Key (b)=(7) is not present in table \"u\". (23503)"
      ])
    #expect(try await fixture.rows("select a from t order by a") == ["1", "2"])
    let error = await #expect(throws: RecordImportError.self) {
      try await fixture.load("a,b\n5,1\n6,1\n7,1\n8,2\n", rowsPerTransaction: 2)
    }
    #expect(error?.recordCount == 2 && error?.cause is RecordError)
    #expect(try await fixture.rows("select a from t order by a") == ["1", "2", "5", "6"])
  }

  @Test func `references of a table that was created here are checked for each row`() async throws {
    let fixture = try await ImportFixture()
    let author = RecordReference(RecordID("Author", "jane"), onDelete: .deny)
    let parent = RecordReference(RecordID("Book", "1"), onDelete: .cascade)
    try await fixture.schema.database().save(
      record("Author", "jane"), record("Book", "1", ["by": .reference(author)]),
      record("Book", "2", ["of": .reference(parent)]))
    // A row may refer to a later row of the same table.
    let text = "id,by,of\n3,jane,5\n4,joan,\n5,,3\n"
    let imported = try await fixture.load(text, into: "Book", skips: 1)
    #expect(imported.recordCount == 2 && imported.problems.map(\.line) == [3])
    #expect(
      try await fixture.rows(#"select id, by, "of" from "Book" order by id"#)
        == ["1|jane|", "2||1", "3|jane|5", "5||3"])
    let missing = await importProblems {
      try await fixture.load("id,of\n6,none\n", into: "Book", skips: 9)
    }
    #expect(missing.first?.contains("Key (of)=(none) is not present") == true, "\(missing)")
    // A new column after rows that wait for a check.
    let lines = "{\"id\":\"7\",\"of\":\"1\"}\n{\"id\":\"8\",\"of\":\"7\",\"new\":1}\n"
    let later = try await fixture.load(lines, into: "Book", as: .jsonLines, creates: true)
    #expect(later.recordCount == 2)
  }

  @Test func `defaults, computed columns and tables without a key work as the table declares them`()
    async throws
  {
    let fixture = try await ImportFixture(
      """
      create table t (id serial primary key, a int, b int generated always as (a * 2) stored);
      create table keyless (a int); create view v as select a from t;
      create table parts (id int primary key) partition by range (id);
      create table odd (id int primary key, price numeric)
      """)
    #expect(try await fixture.load("a\n1\n2\n").recordCount == 2)
    #expect(try await fixture.load("9,3\n", as: .csv(hasHeader: false)).recordCount == 1)
    #expect(try await fixture.rows("select * from t order by id") == ["1|1|2", "2|2|4", "9|3|6"])
    #expect(try await fixture.load("a\n1\n1\n", into: "keyless").recordCount == 2)
    #expect(try await fixture.load("id,price\n1,2.50\n", into: "odd").recordCount == 1)
    #expect(
      try await fixture.load("{\"id\":3,\"price\":7}\n", into: "odd", as: .jsonLines).recordCount
        == 1)
    #expect(try await fixture.rows("select * from odd order by id") == ["1|2.50", "3|7"])
    let much = await importProblems { try await fixture.load("id,price\n2,much\n", into: "odd") }
    #expect(much.last?.hasPrefix("line 2: ") == true)
    #expect(much.last?.contains("type numeric: \"much\" (22P02)") == true, "\(much)")
    let rounded = await importProblems {
      try await fixture.load("{\"id\":4,\"price\":0.1}\n", into: "odd", as: .jsonLines)
    }
    #expect(
      rounded.last?.contains("a number with a fraction must be in quotes") == true, "\(rounded)")
    for (type, text, problem) in [
      ("t", "b\n1\n", "the column b of t is computed: it cannot be set"),
      ("v", "a\n1\n", "v is a view or has partitions, and can only be queried"),
      ("parts", "id\n1\n", "parts is a view or has partitions, and can only be queried"),
      ("record_states", "a\n1\n", "the type name record_states is reserved"),
    ] {
      #expect(await importProblems { try await fixture.load(text, into: type) } == [problem])
    }
  }

  @Test func `D15: rows with values of other types are updated only if their texts differ`()
    async throws
  {
    let fixture = try await ImportFixture(
      "create table t (id int primary key, price numeric, extra json, place point)")
    let rows = #"id,price,extra,place"# + "\n" + #"1,2.5,"{""a"":1}","(1,2)""# + "\n"
    #expect(try await fixture.load(rows).recordCount == 1)
    #expect(try await fixture.load(rows, existing: .updated).recordCount == 0)
    let changed = rows.replacing("2.5", with: "2.50")
    #expect(try await fixture.load(changed, existing: .updated).recordCount == 1)
    #expect(try await fixture.rows("select * from t") == [#"1|2.50|{"a":1}|(1,2)"#])
  }

  @Test func `a trigger that does not work ends the import`() async throws {
    let fixture = try await ImportFixture(
      """
      create table t (a int);
      create function f() returns trigger language plpgsql
        as $$ begin insert into no_table values (1); return new; end $$;
      create trigger f before insert on t for each row execute function f()
      """)
    let found = await importProblems { try await fixture.load("a\n1\n2\n", skips: 9) }
    #expect(found.first?.contains("relation \"no_table\" does not exist") == true, "\(found)")
  }

  @Test(arguments: [
    ("", "has no header: it is empty"), ("a,a\n1,2\n", "\"a\" twice"),
    ("b\n1\n", "t has no column \"b\"; columns: a"), ("\"a\nb", "has no header"),
    ("a,\u{0}\n", "no column"), ("a,,b\n", "column 2 has no name in its first line"),
    ("a;b\n1;2\n", "Set the delimiter to semicolon"),
  ])
  func `an invalid header of a file for a served table is reported`(
    text: String, problem: String
  ) async throws {
    let fixture = try await ImportFixture("create table t (a text)")
    let found = await importProblems { try await fixture.load(text, creates: true) }
    #expect(found.first?.contains(problem) == true, "\(found)")
  }

  @Test func `an impossible column of a new table is an error, and creates nothing`() async throws {
    let fixture = try await ImportFixture("")
    for (header, problem) in [
      (String(repeating: "x", count: 64), "has 64 bytes; PostgreSQL allows at most 63"),
      ("ctid", "the field name ctid of Book is reserved by PostgreSQL"),
      ((0..<1_600).map { "c\($0)" }.joined(separator: ","), "Book would have too many columns"),
    ] {
      let found = await importProblems {
        try await fixture.load("\(header)\n", into: "Book", creates: true)
      }
      #expect(found.first?.contains(problem) == true, "\(found)")
    }
    // An object with such a key is a bad row, and the columns before it are not created.
    let lines =
      "{\"id\":\"1\",\"a\":1}\n{\"id\":\"2\",\"b\":1,\"ctid\":1}\n{\"id\":\"3\",\"a\":3}\n"
    let imported = try await fixture.load(
      lines, into: "Book", as: .jsonLines, skips: 1, creates: true)
    #expect(imported.recordCount == 2 && imported.problems.map(\.line) == [2])
    #expect(
      try await fixture.schema.database().columns(of: "Book").map(\.name) == ["id", "a"])
  }

  @Test func `cells are always data, never SQL, in a served table`() async throws {
    let fixture = try await ImportFixture("create table t (a text, \"b\"\"; --\" text)")
    let attacks = [
      "'); DROP TABLE t; --", "\"); DROP TABLE t; --", "$1", "x' OR '1'='1", "/*", "--",
      "\\'; DELETE FROM t", "{a,b}", "\\x00", "\u{feff}", "NULL", "null", "%s%n", "\\N", "\\.",
    ]
    func cell(_ text: String) -> String { "\"\(text.replacing("\"", with: "\"\""))\"" }
    let text =
      "a,\(cell("b\"; --"))\n" + attacks.map { "\(cell($0)),\(cell($0))\n" }.joined()
    #expect(try await fixture.load(text).recordCount == attacks.count)
    let found = try await fixture.schema.database().query(
      RecordQuery("t"), after: nil, atMost: 100
    ).records
    #expect(found.map { $0["a"] } == attacks.map { .string($0) })
    #expect(found.map { $0["b\"; --"] } == attacks.map { .string($0) })
  }

  @Test func `bytes that are not text, and large cells, do not affect other rows`() async throws {
    let fixture = try await ImportFixture("create table t (id int primary key, a text)")
    let large = [UInt8](repeating: UInt8(ascii: "x"), count: 1 << 20)
    try fixture.write(
      Array("id,a\n1,a\u{0}b\n2,".utf8) + [0xFF, 0x0A] + Array("3,".utf8) + large
        + Array("\n4,b\n5,\"x\"y\n6,c\n".utf8))
    let imported = try await fixture.operation(skips: 3).run().get()
    #expect(
      imported.problems.map { "\($0)" }.prefix(2) == [
        "line 2: the field a of t contains a NUL (U+0000), which PostgreSQL cannot store",
        "line 3: the column a has bytes that are not UTF-8, but takes text",
      ])
    #expect(imported.problems.map(\.line) == [2, 3, 6])
    #expect(
      try await fixture.rows("select id, length(a) from t order by id")
        == ["3|1048576", "4|1", "6|1"])
    // A table that was created here stores it.
    try fixture.write(Array("id,a\n1,a\u{0}b\n".utf8))
    #expect(try await fixture.operation(into: "Book", creates: true).run().get().recordCount == 1)
    #expect(try await fixture.schema.database().record("Book", "1")?["a"] == "a\u{0}b")
  }
}
