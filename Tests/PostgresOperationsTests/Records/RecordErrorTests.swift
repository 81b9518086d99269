import PostgresOperations
import RecordOperations
import Testing

@Suite(.timeLimit(.minutes(10))) struct RecordErrorTests {
  @Test(arguments: [
    ("40001", "unavailable"), ("40P01", "unavailable"), ("55P03", "unavailable"),
    ("57014", "unavailable"), ("57P01", "unavailable"), ("57P03", "unavailable"),
    ("53100", "unavailable"), ("53300", "unavailable"), ("42501", "notPermitted"),
    ("25006", "notPermitted"), ("28P01", "notPermitted"), ("58030", "storage"),
    ("XX001", "storage"), ("23505", "invalid"), ("23514", "invalid"), ("22003", "invalid"),
    ("42601", "invalid"), ("P0001", "invalid"),
  ])
  func `an error of the server has a reason of its own`(code: String, reason: String) {
    let error = PostgresError(.refused, code: code, "text").translated(isAfterCommit: true)
    #expect(error.name == reason)
    #expect(error.description.contains("text"))
    #expect(error.isRetriable == (reason == "unavailable"))
  }

  @Test func `a lost connection is unavailable before the commit, and a lost reply after it`() {
    let lost = PostgresError(.lost, "text")
    #expect(lost.translated(isAfterCommit: false).name == "unavailable")
    #expect(lost.translated(isAfterCommit: true).name == "replyLost")
    let refused = PostgresError(.notConnected, code: "28P01", "text")
    #expect(refused.translated(isAfterCommit: false).name == "notPermitted")
    #expect(
      PostgresError(.notConnected, "text").translated(isAfterCommit: false).name == "unavailable")
  }
}

@Suite(.enabled(if: PrivateServer.missingServer == nil), .timeLimit(.minutes(10)))
struct RecordFailureTests {
  @Test func `a refused change does not affect the others of its batch`() async throws {
    let schema = try await RecordSchema()
    try await schema.create(
      """
      create table t (id text primary key, n int check (n > 0), u text unique, r text not null);
      create table p (id text primary key);
      create table c (id text primary key, p text references p on delete no action)
      """)
    let database = schema.database()
    func row(_ name: String, _ n: FieldValue, _ u: FieldValue) -> RecordChange {
      .save(record("t", name, ["n": n, "u": u, "r": "x"]), .allKeys)
    }
    let missing = FieldValue.reference(RecordReference(RecordID("p", "none"), onDelete: .deny))
    let there = FieldValue.reference(RecordReference(RecordID("p", "there"), onDelete: .deny))
    let batch = RecordBatch([
      row("1", 1, "a"), row("2", -1, "b"), row("3", 3, "a"), row("4", 4, "d"),
      .save(record("t", "5", ["n": 5]), .allKeys),
      .save(record("c", "6", ["p": missing]), .allKeys),
      // A reference to a later record of the batch.
      .save(record("c", "7", ["p": there]), .allKeys), .save(record("p", "there"), .allKeys),
      .delete(RecordID("t", "none"), ifTagged: nil), row("8", 8, "h"),
    ])
    let names = try await database.modify(batch).map { $0.error?.name }
    // The references of each change are checked by themselves, because one has failed.
    #expect(
      names == [
        nil, "invalid", "invalid", nil, "invalid", "referenceViolated", "referenceViolated", nil,
        "unknownRecord", nil,
      ])
    #expect(try await database.names(RecordQuery("t")) == ["1", "4", "8"])
    let replies = try await database.modify(batch)
    #expect("\(replies[1])".contains("t_n_check"))
    #expect("\(replies[4])".contains("\"r\""))
    guard case .referenceViolated(let id)? = replies[5].error?.reason else {
      Issue.record("\(replies[5])")
      return
    }
    #expect(id == RecordID("p", "none"))
  }

  @Test func `a batch can refer to its later records`() async throws {
    let database = try await RecordSchema().database()
    let author = FieldValue.reference(RecordReference(RecordID("Author", "a"), onDelete: .deny))
    try await database.save(record("Book", "1", ["author": author]), record("Author", "a"))
    #expect(try await database.record("Book", "1")?["author"] == author)
  }

  @Test func `an atomic batch with a refused change saves nothing and names it`() async throws {
    let schema = try await RecordSchema()
    try await schema.create("create table t (id text primary key, n int check (n > 0))")
    let database = schema.database()
    let changes = [1, 2, -3, 4].map { RecordChange.save(record("t", "\($0)", ["n": $0]), .allKeys) }
    let replies = try await database.modify(RecordBatch(changes, isAtomic: true))
    #expect(
      replies.map { $0.error?.name } == ["batchFailed", "batchFailed", "invalid", "batchFailed"])
    #expect(try await database.names(RecordQuery("t")) == [])
  }

  @Test func `a save that a trigger drops is an error`() async throws {
    let schema = try await RecordSchema()
    try await schema.create(
      """
      create table t (id text primary key, n int);
      create function nothing() returns trigger language plpgsql as 'begin return null; end';
      create trigger dropped before insert on t for each row when (new.id = '2')
        execute function nothing()
      """)
    let database = schema.database()
    let batch = RecordBatch(["1", "2", "3"].map { .save(record("t", $0), .allKeys) })
    let replies = try await database.modify(batch)
    #expect(replies.map { $0.error?.name } == [nil, "invalid", nil])
    #expect("\(replies[1])".contains("prevented the change"))
    #expect(try await database.names(RecordQuery("t")) == ["1", "3"])
  }

  @Test func `an error in a trigger that looks like a changed table is reported`() async throws {
    let schema = try await RecordSchema()
    try await schema.create(
      """
      create table t (id text primary key, n int);
      create function broken() returns trigger language plpgsql
        as 'begin perform missing_function(); return new; end';
      create trigger broken before insert on t for each row execute function broken()
      """)
    let error = await recordError { try await schema.database().save(record("t", "1", ["n": 1])) }
    #expect(error?.name == "invalid")
    #expect(error?.description.contains("missing_function") == true, "\(error as Any)")
  }

  @Test func `concurrent requests create a table once, and one of them a record`() async throws {
    let schema = try await RecordSchema()
    let names = try await withThrowingTaskGroup(of: String.self) { group in
      for number in 0..<8 {
        group.addTask {
          let database = schema.database(connections: 1)
          let new = record("Book", "same", ["n": .integer(Int64(number)), "f\(number)": 1])
          let reply = try await database.modify(RecordBatch([.save(new, .ifUnchanged)]))[0]
          return reply.error?.name ?? "saved"
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(names.sorted() == Array(repeating: "conflict", count: 7) + ["saved"])
    // The columns of refused saves were not created.
    let columns = try await schema.query(
      "select count(*) from information_schema.columns where table_schema = '\(schema.name)' "
        + "and table_name = 'Book'")
    #expect(columns == "3")
  }

  @Test func `a role without the privilege may read, and not write`() async throws {
    let schema = try await RecordSchema()
    try await schema.database().save(record("Book", "1", ["a": 1]))
    let role = "reader_\(schema.name.suffix(12))"
    try await schema.query(
      """
      create role "\(role)" login; grant usage on schema "\(schema.name)" to "\(role)";
      grant select on all tables in schema "\(schema.name)" to "\(role)"
      """)
    let database = schema.database(
      at: schema.address.replacing("postgres@", with: "\(role)@"))
    #expect(try await database.record("Book", "1")?["a"] == 1)
    let error = await recordError { try await database.save(record("Book", "2", ["a": 1])) }
    #expect(error?.name == "notPermitted")
    // Another program's role may write without access to the states.
    try await schema.query("grant insert on \"Book\" to \"\(role)\"")
    try await schema.query("set role \"\(role)\"; insert into \"Book\" values ('3', 3)")
    #expect(try await schema.database().record("Book", "3")?.tag != nil)
  }
}

extension RecordError {
  /// The name of the reason, without its associated value.
  var name: String {
    switch reason {
    case .conflict: "conflict"
    case .unknownRecord: "unknownRecord"
    case .limitExceeded: "limitExceeded"
    case .referenceViolated: "referenceViolated"
    case .batchFailed: "batchFailed"
    case .invalid: "invalid"
    case .unsupported: "unsupported"
    case .unavailable: "unavailable"
    case .replyLost: "replyLost"
    case .notPermitted: "notPermitted"
    case .tokenExpired: "tokenExpired"
    case .otherDatabase: "otherDatabase"
    case .storage: "storage"
    case .other: "other"
    }
  }
}
