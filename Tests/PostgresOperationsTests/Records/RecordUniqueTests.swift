import CompositeOperations
import Foundation
import PostgresOperations
import RecordOperations
import SQLiteSupport
import TestSupport
import Testing

/// Records of a PostgreSQL table that take unique values from one another.
@Suite(.serialized, .enabled(if: PrivateServer.missingServer == nil), .timeLimit(.minutes(10)))
struct RecordUniqueTests {
  // Open transactions of other tests would delay the changes.
  private static let server = PrivateServer(settings: ["autovacuum=off"])

  /// Records with the names 1 to 4, and these numbers as places.
  private static func schema(
    _ column: String = "place int not null unique"
  ) async throws -> RecordSchema {
    let schema = try await RecordSchema(on: server)
    try await schema.create("create table \"Book\" (id text primary key, \(column), title text)")
    try await schema.query(
      "insert into \"Book\" (id, place) select i::text, i from generate_series(1, 4) as i")
    try await schema.database().keepChanges(of: ["Book"])
    return schema
  }

  private static func places(_ schema: RecordSchema) async throws -> String {
    try await schema.query("select string_agg(place::text, ' ' order by id) from \"Book\"")
  }

  static let table: [(KeyValuePairs<Int, Int64>, String, String)] = [
    ([1: 2, 2: 1], "2 1", "2 1 3 4"),
    ([1: 2, 2: 3, 3: 1], "2 3 1", "2 3 1 4"),
    ([1: 2, 2: 3, 3: 9], "2 3 9", "2 3 9 4"),
    ([1: 2, 2: 1, 3: 4, 4: 3], "2 1 4 3", "2 1 4 3"),
    ([3: 1, 1: 2, 2: 1], "invalid 2 1", "2 1 3 4"),
    ([1: 2, 2: 1, 3: 1], "2 1 invalid", "2 1 3 4"),
    ([1: 2, 2: 3, 3: 4], "invalid invalid invalid", "1 2 3 4"),
    ([1: 2, 2: 3, 3: 4, 4: 4], "invalid invalid invalid 4", "1 2 3 4"),
  ]

  @Test(arguments: table, [false, true])
  func `D16: records of a request exchange their unique values in PostgreSQL`(
    row: (places: KeyValuePairs<Int, Int64>, replies: String, after: String), isAtomic: Bool
  ) async throws {
    let schema = try await Self.schema()
    let database = schema.database()
    let saved = try await database.lookup((1...4).map { RecordID("Book", "\($0)") }, keys: nil)
    let changes = try row.places.map { number, place in
      var record = try #require(saved[RecordID("Book", "\(number)")])
      record["place"] = .integer(place)
      return RecordChange.save(record, .ifUnchanged)
    }
    let replies = try await database.modify(RecordBatch(changes, isAtomic: isAtomic))
    let isPossible = !row.replies.contains("invalid")
    if isAtomic, !isPossible {
      #expect(replies.allSatisfy { $0.error != nil })
      #expect(try await Self.places(schema) == "1 2 3 4")
      return
    }
    let text = replies.map { reply in
      if case .saved(let record) = reply { return "\(record["place"])" }
      return reply.error?.name ?? ""
    }
    #expect(text.joined(separator: " ") == row.replies)
    #expect(try await Self.places(schema) == row.after)
    // The replies have the tags of the stored records.
    for case .saved(let record) in replies {
      #expect(try await database.record("Book", record.id.name)?.tag == record.tag)
    }
  }

  @Test(arguments: [
    "place int unique", "place smallint not null unique", "place numeric(10, 2) not null unique",
    "place varchar(20) not null unique",
    "shelf int not null default 1, place int not null, unique (shelf, place)",
    "place int not null unique deferrable initially immediate",
  ])
  func `M15: records that exchange unique values locally are stored in PostgreSQL`(
    column: String
  ) async throws {
    let schema = try await Self.schema(column)
    let folder = try TemporaryFolder()
    let local = SQLiteRecordDatabase(folder.url.appendingPathComponent("local.sqlite").path)
    let mirror = RecordMirror(of: ["Book"], in: local, with: schema.database())
    _ = try await mirror.sync.run().get()
    // In one request, because the local table has the constraint, too.
    let isText = column.contains("varchar") || column.contains("numeric")
    let saves = [("1", 2), ("2", 3), ("3", 1)].map { name, place -> RecordChange in
      let place: FieldValue = isText ? .string("\(place)") : .integer(Int64(place))
      return .save(record("Book", name, ["place": place]), .changedKeys)
    }
    #expect(try await local.modify(RecordBatch(saves)).allSatisfy { $0.error == nil })
    #expect(try await mirror.sync.run().get().sent == 3)
    #expect(try await mirror.rejections().isEmpty)
    let places = try await schema.query(
      "select string_agg(round(place::numeric)::text, ' ' order by id) from \"Book\"")
    #expect(places == "2 3 1 4")
    _ = try await mirror.sync.run().get()
    #expect(try await mirror.sync.run().get().isEmpty)
  }

  @Test func `M15: rows of PostgreSQL that exchange unique values are stored locally`()
    async throws
  {
    let schema = try await Self.schema()
    let folder = try TemporaryFolder()
    let local = SQLiteRecordDatabase(folder.url.appendingPathComponent("local.sqlite").path)
    try await local.write { connection in
      try connection.execute(
        "CREATE TABLE Book (id TEXT PRIMARY KEY NOT NULL, place INT NOT NULL UNIQUE, title TEXT)")
    }
    let mirror = RecordMirror(of: ["Book"], in: local, with: schema.database())
    _ = try await mirror.sync.run().get()
    try await schema.query(
      """
      begin; update "Book" set place = -1 where id = '1'; update "Book" set place = 1 where id = '2';
      update "Book" set place = 2 where id = '1'; commit
      """)
    #expect(try await mirror.sync.run().get().saved == 2)
    let found = try await local.lookup([RecordID("Book", "1"), RecordID("Book", "2")], keys: nil)
    #expect(found[RecordID("Book", "1")]?["place"] == 2)
    #expect(found[RecordID("Book", "2")]?["place"] == 1)
    #expect(try await mirror.sync.run().get().isEmpty)
  }
}
