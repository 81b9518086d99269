import CompositeOperations
import Foundation
import PostgresOperations
import RecordOperations
import SQLiteSupport
import TestSupport
import Testing

extension MirrorOnPostgresTests.Fixture {
  @discardableResult func sync() async throws -> MirrorReport {
    try await mirror.sync.run().get()
  }

  /// The columns of a local table with their constraints, and the columns of its unique indexes.
  func constraints(of type: String) async throws -> [String] {
    try await local.read { connection in
      let columns = try connection.fetchAll(
        """
        SELECT name || iif("notnull", ' NOT NULL', '') || coalesce(' DEFAULT ' || dflt_value, '') \
        FROM pragma_table_info(?1) WHERE "notnull" AND NOT pk OR dflt_value IS NOT NULL ORDER BY name
        """, [.text(type)]
      ) { $0.text(at: 0) ?? "" }
      let indexes = try connection.fetchAll(
        """
        SELECT (SELECT group_concat(name) FROM pragma_index_info(i.name)) FROM pragma_index_list(?1) AS i \
        WHERE i."unique" AND i.origin = 'c' ORDER BY 1
        """, [.text(type)]
      ) { "UNIQUE \($0.text(at: 0) ?? "")" }
      return columns + indexes
    }
  }

  /// Executes a statement of another program.
  func execute(_ sql: String) async throws {
    try await local.write { connection in try connection.execute(sql) }
  }

  /// The error of a statement of another program.
  func error(of sql: String) async -> String {
    do {
      try await execute(sql)
      return "none"
    } catch {
      return "\(error)"
    }
  }
}

/// The constraints of tables of PostgreSQL in the local tables of a mirror.
extension MirrorOnPostgresTests {
  private static let constrainedTables = """
    create type color as enum ('red', 'dark blue');
    create table "Shelf" (id int primary key, name varchar(20) not null unique);
    create table "Book" (id text primary key, shelf int not null references "Shelf" on delete cascade,
      place int not null default 1, title text not null, isbn text unique, state text default 'it''s new',
      color color default 'dark blue', price numeric(6,2) default 2.5, isLent boolean not null default false,
      weight float8 default -0.5, tags jsonb default '[]', added timestamptz default now(), seen timestamptz unique,
      rank int unique deferrable, number int default (2 + 3), code uuid default gen_random_uuid(), parent text references "Book",
      unique (shelf, place));
    create unique index lower_title on "Book" (lower(title));
    create unique index some_titles on "Book" (title) where place > 1;
    insert into "Shelf" values (1, 'first');
    insert into "Book" (id, shelf, title) values ('a', 1, 'Emma')
    """

  @Test func `M1: NOT NULL, UNIQUE and constant defaults of PostgreSQL hold locally`()
    async throws
  {
    let fixture = try await Fixture(
      ["Book", "Shelf"], Self.constrainedTables, rights: #"grant all on "Book", "Shelf" to ROLE"#)
    #expect(try await fixture.sync().saved == 2)
    #expect(try await fixture.constraints(of: "Shelf") == ["name NOT NULL", "UNIQUE name"])
    #expect(
      try await fixture.constraints(of: "Book") == [
        "color DEFAULT 'dark blue'", "islent NOT NULL DEFAULT 0", "place NOT NULL DEFAULT 1",
        "price DEFAULT '2.5'", "shelf NOT NULL", "state DEFAULT 'it''s new'", "tags DEFAULT '[]'",
        "title NOT NULL", "weight DEFAULT -0.5", "UNIQUE isbn", "UNIQUE shelf,place",
      ])
    #expect(
      await fixture.error(of: "INSERT INTO Book (id, shelf, place) VALUES ('b', 1, 2)")
        .contains("Book.title"))
    #expect(
      await fixture.error(of: "INSERT INTO Book (id, shelf, title) VALUES ('b', 1, 'Sanditon')")
        .contains("Book.place"))
    #expect(
      await fixture.error(of: "INSERT INTO Book (id, place, title) VALUES ('b', 2, 'Sanditon')")
        .contains("Book.shelf"))
    try await fixture.execute(
      "INSERT INTO Book (id, shelf, place, title) VALUES ('b', 1, 2, 'Sanditon')")
    let report = try await fixture.sync()
    #expect(report.sent == 1 && report.rejected == 0, "\(report)")
    let sent = try await fixture.schema.query(
      #"select state, color, price, islent, weight, tags, number from "Book" where id = 'b'"#)
    #expect(sent == "it's new|dark blue|2.50|f|-0.5|[]|5")
    // The values that PostgreSQL has given it.
    #expect(try await fixture.sync().saved == 1)
    #expect(try await fixture.local.record("Book", "b")?["number"] == 5)
    // A default of the table is no value of a row that has none.
    try await fixture.schema.query(
      """
      insert into "Book" (id, shelf, place, title, state, color, price) values ('c', 1, 3, 'Lady Susan', null, null, null)
      """)
    #expect(try await fixture.sync().saved == 1)
    try await fixture.schema.query(
      """
      insert into "Book" (id, shelf, place, title, state) values ('d', 1, 4, 'Persuasion', null),
        ('e', 1, 5, 'The Watsons', 'old')
      """)
    #expect(try await fixture.sync().saved == 2)
    #expect(try await fixture.local.record("Book", "c")?["state"] == .null)
    #expect(try await fixture.local.record("Book", "d")?["state"] == .null)
    #expect(try await fixture.sync().isEmpty)
  }

  @Test func `M1: constraints that PostgreSQL drops, changes or adds later`() async throws {
    let fixture = try await Fixture(
      ["Book", "Shelf"], Self.constrainedTables, rights: #"grant all on "Book", "Shelf" to ROLE"#)
    try await fixture.sync()
    let before = try #require(try await fixture.local.record("Book", "a"))
    try await fixture.local.save(record("Shelf", "2", ["name": "second"]))
    try await fixture.execute("CREATE INDEX titles ON Book (title, state)")
    try await fixture.schema.query(
      """
      alter table "Book" alter shelf drop not null, alter title drop not null, alter state drop default,
        alter place set default 7, drop constraint "Book_isbn_key", alter price set not null,
        add unique (title, state);
      insert into "Book" (id, place) values ('b', 2)
      """)
    let report = try await fixture.sync()
    #expect(report.saved == 1 && report.sent == 1 && report.rejected == 0)
    #expect(
      try await fixture.constraints(of: "Book") == [
        "color DEFAULT 'dark blue'", "islent NOT NULL DEFAULT 0", "price DEFAULT '2.5'",
        "tags DEFAULT '[]'", "weight DEFAULT -0.5", "UNIQUE shelf,place", "UNIQUE title,state",
      ])
    let first = try #require(try await fixture.local.record("Book", "a"))
    // No edit, which would have another tag.
    #expect(first.tag == before.tag)
    #expect(first["title"] == "Emma" && first["place"] == 1 && first["state"] == "it's new")
    #expect(
      first["shelf"] == .reference(RecordReference(RecordID("Shelf", "1"), onDelete: .cascade)))
    #expect(try await fixture.sync().isEmpty)
    // The index of another program and the rule of the foreign key are still there.
    try await fixture.execute("DROP INDEX titles")
    try await fixture.execute("DELETE FROM Shelf WHERE id = '1'")
    #expect(try await fixture.local.record("Book", "a") == nil)
  }

  @Test func `M1: a unique constraint waits for local records that differ`() async throws {
    let fixture = try await Fixture(
      ["Tag"],
      #"create table "Tag" (id text primary key, name text); insert into "Tag" values ('1', 'a')"#,
      rights: #"grant all on "Tag" to ROLE"#)
    try await fixture.sync()
    try await fixture.local.save(record("Tag", "2", ["name": "a"]))
    try await fixture.schema.query("alter table \"Tag\" add unique (name)")
    #expect(try await fixture.sync().rejected == 1)
    #expect(try await fixture.constraints(of: "Tag") == [])
    try await fixture.local.save(record("Tag", "2", ["name": "b"]), policy: .changedKeys)
    #expect(try await fixture.sync().sent == 1)
    #expect(try await fixture.constraints(of: "Tag") == ["UNIQUE name"])
    // One that another program has dropped is created again.
    let index = try await fixture.local.read { connection in
      try connection.fetchOne(
        "SELECT name FROM sqlite_schema WHERE tbl_name = 'Tag' AND sql LIKE 'CREATE UNIQUE INDEX%'"
      ) { $0.text(at: 0) ?? "" }
    }
    try await fixture.execute("DROP INDEX \"\(index ?? "")\"")
    try await fixture.sync()
    #expect(try await fixture.constraints(of: "Tag") == ["UNIQUE name"])
  }

  @Test
  func `M9: a fetched record whose unique value a local record has waits, and both are named`()
    async throws
  {
    let fixture = try await Fixture(
      ["Tag"], #"create table "Tag" (id text primary key, name text unique)"#,
      rights: #"grant all on "Tag" to ROLE"#)
    try await fixture.sync()
    try await fixture.local.save(record("Tag", "local", ["name": "a"]))
    try await fixture.schema.query(#"insert into "Tag" values ('remote', 'a')"#)
    #expect(try await fixture.sync().rejected == 2)
    #expect(try await fixture.rejections().keys.sorted() == ["Tag/local", "Tag/remote"])
    try await fixture.local.save(record("Tag", "local", ["name": "b"]), policy: .changedKeys)
    let report = try await fixture.sync()
    #expect(report.sent == 1 && report.saved == 1 && report.rejected == 0, "\(report)")
    #expect(try await fixture.local.record("Tag", "remote")?["name"] == "a")
    #expect(try await fixture.rejections().isEmpty)
  }

  @Test func `M1: a row whose deletion sets a default in PostgreSQL can be deleted locally`()
    async throws
  {
    let fixture = try await Fixture(
      ["Book", "Shelf"],
      """
      create table "Shelf" (id int primary key);
      create table "Book" (id int primary key,
        shelf int not null default 1 references "Shelf" on delete set default);
      insert into "Shelf" select n from generate_series(1, 9) as n;
      insert into "Book" select n, n from generate_series(1, 9) as n
      """, rights: #"grant all on "Book", "Shelf" to ROLE"#)
    #expect(try await fixture.sync().saved == 18)
    // There.
    try await fixture.schema.query(#"delete from "Shelf" where id = 9"#)
    #expect(try await fixture.sync().rejected == 0)
    // Here: null is rejected, and then the default is fetched.
    try await fixture.execute("DELETE FROM Shelf WHERE id = '8'")
    for _ in 1...4 { try await fixture.sync() }
    #expect(try await fixture.sync().isEmpty)
    #expect(try await fixture.rejections().isEmpty)
    let there = try await fixture.schema.query(
      #"select string_agg(shelf::text, ' ' order by id) from "Book""#)
    #expect(there == "1 2 3 4 5 6 7 1 1")
    let here = try await fixture.local.read { connection in
      try connection.fetchOne(
        "SELECT group_concat(shelf, ' ') FROM (SELECT shelf FROM Book ORDER BY id)"
      ) {
        $0.text(at: 0) ?? ""
      }
    }
    #expect(here == there)
  }

  @Test func `M15: values that rows exchange arrive under a constraint of the local table`()
    async throws
  {
    let fixture = try await Fixture(
      ["Seat"],
      """
      create table "Seat" (id int primary key, place int not null unique);
      insert into "Seat" select n, n from generate_series(1, 3000) as n
      """, rights: #"grant all on "Seat" to ROLE"#)
    try await fixture.sync()
    #expect(try await fixture.constraints(of: "Seat") == ["place NOT NULL", "UNIQUE place"])
    // Over several pages.
    try await fixture.schema.query(
      """
      update "Seat" set place = -place; update "Seat" set place = 1 - place where place > -3000;
      update "Seat" set place = 1 where place = -3000
      """)
    #expect(try await fixture.sync().saved == 3_000)
    #expect(try await fixture.local.record("Seat", "3000")?["place"] == 1)
    #expect(try await fixture.sync().isEmpty)
  }
}
