import CompositeOperations
import Foundation
import PostgresOperations
import RecordOperations
import SQLiteSupport
import TestSupport
import Testing

/// Mirrors of tables that a role may change only in part, and of tables that change.
@Suite(.serialized, .enabled(if: PrivateServer.missingServer == nil), .timeLimit(.minutes(10)))
struct MirrorOnPostgresTests {
  // Open transactions of other tests, also of this suite, would delay the changes.
  private static let server = PrivateServer(settings: ["autovacuum=off"])

  struct Fixture {
    let schema: RecordSchema
    let remote: PostgresRecordDatabase
    let local: SQLiteRecordDatabase
    let folder: TemporaryFolder
    let types: [String]

    /// - Parameters:
    ///   - tables: The tables, which an administrator creates.
    ///   - rights: The privileges, policies and triggers. `ROLE` is the name of the role of the mirror.
    init(_ types: [String], _ tables: String, rights: String) async throws {
      self.types = types
      schema = try await RecordSchema(on: server)
      try await schema.create(tables)
      try await schema.database().keepChanges(of: types)
      let role = "mirror_" + schema.name.suffix(8)
      try await schema.query(
        """
        create role ROLE login; grant usage on schema "\(schema.name)" to ROLE;
        grant select on all tables in schema "\(schema.name)" to ROLE; \(rights)
        """.replacing("ROLE", with: role))
      remote = schema.database(at: schema.address.replacing("postgres@", with: "\(role)@"))
      folder = try TemporaryFolder()
      local = SQLiteRecordDatabase(folder.url.appendingPathComponent("local.sqlite").path)
    }

    var mirror: RecordMirror { RecordMirror(of: types, in: local, with: remote) }

    /// The columns of a local table, in their order.
    func columns(of type: String) async throws -> [String] {
      try await local.read { connection in
        try connection.fetchAll("SELECT name FROM pragma_table_info(?1)", [.text(type)]) {
          $0.text(at: 0) ?? ""
        }
      }
    }

    func rejections() async throws -> [String: String] {
      let found = try await mirror.rejections()
      return Dictionary(uniqueKeysWithValues: found.map { ("\($0.key)", $0.value) })
    }
  }

  @Test func `M1: all columns arrive, also of other types, and empty tables`() async throws {
    let fixture = try await Fixture(
      ["Item", "Part", "Empty"],
      """
      create table "Item" (id int primary key, "Name" text, price numeric(10,2), on_stock date,
        tags text[], extra json, data jsonb, at timestamptz, note text, parent int references "Item");
      create table "Part" (id int primary key, item int references "Item" on delete cascade);
      create table "Empty" (id text primary key, n int, d date, ref int references "Item");
      insert into "Item" values (1, 'a', 2.50, '2026-01-02', '{x,"y z"}', '{"k": 1}', '{"k": 1}',
        '2026-01-02 03:04:05+00', null, null), (2, 'b', null, null, null, null, '[1, "a"]',
        null, null, 1)
      """, rights: "grant all on \"Item\", \"Empty\" to ROLE")
    let report = try await fixture.mirror.sync.run().get()
    #expect(report.saved == 2 && report.rejected == 0)
    #expect(
      try await fixture.columns(of: "Item") == [
        "id", "Name", "price", "on_stock", "tags", "extra", "data", "at", "note", "parent",
      ])
    #expect(try await fixture.columns(of: "Part") == ["id", "item"])
    #expect(try await fixture.columns(of: "Empty") == ["id", "n", "d", "ref"])
    let first = try #require(try await fixture.local.record("Item", "1"))
    #expect(
      first.fields.filter { $0.value != .null } == [
        "Name": "a", "price": "2.50", "on_stock": "2026-01-02", "tags": #"{x,"y z"}"#,
        "extra": #"{"k": 1}"#, "data": #"{"k": 1}"#,
        "at": .date(Date(timeIntervalSince1970: 1_767_323_045)),
      ])
    #expect(try await fixture.local.record("Item", "2")?["data"] == [1, "a"])
    // Edits of each kind go back, in the form of PostgreSQL, which is the new common state.
    try await fixture.local.save(
      record(
        "Item", "1", ["price": "3", "data": #"{"z":1,"k":[2]}"#, "tags": "{ q }", "note": "n"]),
      policy: .changedKeys)
    try await fixture.local.save(record("Empty", "e", ["n": 1, "d": "2026-02-03"]))
    #expect(try await fixture.mirror.sync.run().get().sent == 2)
    #expect(
      try await fixture.schema.query(#"select price, data, tags, note from "Item" where id = 1"#)
        == #"3.00|{"k": [2], "z": 1}|{q}|n"#)
    #expect(try await fixture.schema.query(#"select * from "Empty""#) == "e|1|2026-02-03|")
    let second = try await fixture.mirror.sync.run().get()
    #expect(second.sent == 0 && second.rejected == 0)
    let stored = try #require(try await fixture.local.record("Item", "1"))
    #expect(
      stored["price"] == "3.00" && stored["data"] == #"{"k": [2], "z": 1}"#
        && stored["tags"] == "{q}")
    #expect(try await fixture.mirror.sync.run().get().isEmpty)
  }

  @Test func `M4: the time of an edit travels to PostgreSQL, if the role may update the states`()
    async throws
  {
    let fixture = try await Fixture(
      ["Note"], "create table \"Note\" (id text primary key, text text, n int)",
      rights: "grant all on \"Note\" to ROLE; insert into \"Note\" values ('1', 'first')")
    let owner = fixture.schema.database()
    let other = SQLiteRecordDatabase(fixture.folder.url.appendingPathComponent("other.sqlite").path)
    func mirror(_ local: SQLiteRecordDatabase, _ remote: PostgresRecordDatabase) -> RecordMirror {
      RecordMirror(of: ["Note"], in: local, with: remote, conflicts: .newest)
    }
    func edit(_ local: SQLiteRecordDatabase, _ year: Int) async throws {
      try await local.save(record("Note", "1", ["text": .string("\(year)")]), policy: .changedKeys)
      try await local.write { connection in
        try connection.execute(
          "UPDATE _record_states SET modified = '\(year)-01-01T00:00:00.000Z' WHERE type = 'Note'")
      }
    }
    for local in [fixture.local, other] { _ = try await mirror(local, owner).sync.run().get() }
    try await fixture.schema.query("update record_states set modified = '2000-01-01'")
    try await edit(fixture.local, 2001)
    try await edit(other, 2002)
    // Several records in one statement, of which one is new.
    try await fixture.local.save(record("Note", "2", ["text": "new"]))
    for local in [fixture.local, other, fixture.local] {
      _ = try await mirror(local, owner).sync.run().get()
    }
    #expect(try await fixture.schema.query("select text from \"Note\" where id = '1'") == "2002")
    #expect(try await fixture.local.record("Note", "1")?["text"] == "2002")
    let modified = try #require(try await owner.record("Note", "1")?.modified)
    #expect(modified == Date(timeIntervalSince1970: 1_009_843_200))
    // A role without the privilege sends its edits, too.
    try await edit(fixture.local, 2003)
    #expect(try await mirror(fixture.local, fixture.remote).sync.run().get().sent == 1)
    let arrival = try #require(try await owner.record("Note", "1")?.modified)
    #expect(arrival > Date(timeIntervalSince1970: 1_700_000_000))
  }

  @Test func `M9: a record that a policy or a trigger does not permit is rejected alone`()
    async throws
  {
    let fixture = try await Fixture(
      ["Note"], "create table \"Note\" (id text primary key, owner text, text text)",
      rights: """
        grant all on "Note" to ROLE; alter table "Note" enable row level security;
        create policy own on "Note" to ROLE using (owner <> 'other') with check (owner <> 'other');
        create function refuse() returns trigger language plpgsql as $$ begin
          if new.owner = 'guest' then
            raise exception 'only for members' using errcode = 'insufficient_privilege';
          end if;
          return new; end $$;
        create trigger refuse before insert on "Note" for each row execute function refuse();
        insert into "Note" values ('1', 'me', 'first'), ('2', 'other', 'hidden')
        """)
    _ = try await fixture.mirror.sync.run().get()
    #expect(try await fixture.local.record("Note", "2") == nil)
    try await fixture.local.save(
      record("Note", "1", ["text": "edited"]), record("Note", "3", ["owner": "other"]),
      record("Note", "4", ["owner": "me"]), record("Note", "5", ["owner": "guest"]),
      policy: .changedKeys)
    #expect(try await fixture.mirror.sync.run().get().rejected == 2)
    #expect(try await fixture.mirror.sync.run().get().rejected == 0)
    #expect(
      try await fixture.schema.query("select id, text from \"Note\" order by id")
        == "1|edited\n2|hidden\n4|")
    let rejections = try await fixture.rejections()
    #expect(rejections.keys.sorted() == ["Note/3", "Note/5"])
    #expect(rejections["Note/3"]?.contains("row-level security policy") == true, "\(rejections)")
    #expect(rejections["Note/5"]?.contains("only for members") == true, "\(rejections)")
  }

  @Test
  func `M9: the edits of a table that a role may only read are rejected, and others are sent`()
    async throws
  {
    let fixture = try await Fixture(
      ["Read", "Append", "Write"],
      ["Read", "Append", "Write"].map {
        "create table \"\($0)\" (id text primary key, n int); insert into \"\($0)\" values ('1', 1)"
      }.joined(separator: "; "),
      rights: "grant insert on \"Append\" to ROLE; grant all on \"Write\" to ROLE")
    _ = try await fixture.mirror.sync.run().get()
    for type in fixture.types {
      try await fixture.local.save(
        record(type, "1", ["n": 10]), record(type, "2", ["n": 2]), policy: .changedKeys)
    }
    try await fixture.local.save(record("Write", "3", ["n": 3]))
    try await fixture.local.delete(RecordID("Write", "3"))
    _ = try await fixture.mirror.sync.run().get()
    for (type, rows) in [("Read", "1|1"), ("Append", "1|1\n2|2"), ("Write", "1|10\n2|2")] {
      let found = try await fixture.schema.query("select * from \"\(type)\" order by id")
      #expect(found == rows, "\(type)")
    }
    let rejections = try await fixture.rejections()
    #expect(rejections.keys.sorted() == ["Append/1", "Read/1", "Read/2"])
    #expect(rejections.values.allSatisfy { $0.contains("permission denied") }, "\(rejections)")
    // A privilege that is granted later.
    let role = "mirror_" + fixture.schema.name.suffix(8)
    try await fixture.schema.query("grant all on \"Read\" to \(role)")
    _ = try await fixture.mirror.sync.run().get()
    #expect(
      try await fixture.schema.query("select * from \"Read\" order by id") == "1|10\n2|2")
    #expect(try await fixture.rejections().keys.sorted() == ["Append/1"])
  }

  @Test func `M9: nothing is lost when a role may not read or update a table any more`()
    async throws
  {
    let fixture = try await Fixture(
      ["Note"],
      "create table \"Note\" (id text primary key, n int); insert into \"Note\" values ('1', 1), ('2', 2)",
      rights: "grant all on \"Note\" to ROLE")
    _ = try await fixture.mirror.sync.run().get()
    let role = "mirror_" + fixture.schema.name.suffix(8)
    try await fixture.local.save(record("Note", "1", ["n": 10]), policy: .changedKeys)
    try await fixture.local.delete(RecordID("Note", "2"))
    for privileges in ["all", "update", "select"] {
      try await fixture.schema.query(
        "grant all on \"Note\" to \(role); revoke \(privileges) on \"Note\" from \(role)")
      let report = try await fixture.mirror.sync.run().get()
      #expect(report.sent == 0 && report.sentDeletions == 0 && report.deleted == 0, "\(report)")
      #expect(try await fixture.rejections().keys.sorted() == ["Note/1", "Note/2"])
    }
    try await fixture.schema.query("grant all on \"Note\" to \(role)")
    let report = try await fixture.mirror.sync.run().get()
    #expect(report.sent == 1 && report.sentDeletions == 1, "\(report)")
    #expect(try await fixture.schema.query("select * from \"Note\"") == "1|10")
  }

  @Test func `M1: a column that is added with a default arrives from PostgreSQL for all rows`()
    async throws
  {
    let schema = try await RecordSchema(on: Self.server)
    try await schema.create(
      """
      create table "Note" (id text primary key, text text);
      insert into "Note" select i::text, 'note ' || i from generate_series(1, 2500) i;
      create table "Other" (id text primary key)
      """)
    let remote = schema.database()
    try await remote.keepChanges(of: ["Note"])
    let folder = try TemporaryFolder()
    let local = SQLiteRecordDatabase(folder.url.appendingPathComponent("local.sqlite").path)
    let mirror = RecordMirror(of: ["Note"], in: local, with: remote)
    #expect(try await mirror.sync.run().get().saved == 2_500)
    try await schema.query(
      """
      alter table "Note" add column status text not null default 'active';
      update "Note" set text = 'new' where id = '1'; delete from "Note" where id = '2'
      """)
    let report = try await mirror.sync.run().get()
    #expect(report.saved == 2_499 && report.deleted == 1, "\(report)")
    let query = QueryRecords("Note", in: local, where: Field("status") == "active")
    let found = try await query.run().get()
    #expect(found.count == 2_499)
    #expect(try await mirror.sync.run().get().isEmpty)
    let untracked = RecordMirror(of: ["Note", "Other"], in: local, with: remote)
    let error = await recordError { _ = try await untracked.sync.run().get() }
    #expect(error?.description.contains("Other") == true, "\(error as Any)")
  }
}
