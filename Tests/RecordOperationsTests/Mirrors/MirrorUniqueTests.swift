import CompositeOperations
import RecordOperations
import SQLiteSupport
import Testing

/// Records that take unique values from one another.
@Suite struct MirrorUniqueTests {
  static let tables = [
    // The unique column takes null, or any number, or only bytes.
    "CREATE TABLE Book (id TEXT PRIMARY KEY NOT NULL, place INTEGER UNIQUE, title TEXT)",
    "CREATE TABLE Book (id TEXT PRIMARY KEY NOT NULL, place INTEGER NOT NULL UNIQUE, title TEXT)",
    """
    CREATE TABLE Book (id TEXT PRIMARY KEY NOT NULL, shelf TEXT NOT NULL DEFAULT 'a', \
    place INTEGER NOT NULL, title TEXT, UNIQUE (shelf, place))
    """,
  ]
  /// The places after the exchange, in the order of the names of the records, which had 1, 2, 3, ….
  static let exchanges: [[Int64]] = [
    [2, 1], [2, 3, 1], [3, 1, 2], [2, 3, 4], [4, 1, 2, 3], [2, 1, 4, 3], [2, 3, 1, 5, 4],
  ]

  private static func places(_ database: some RecordDatabase) async throws -> [FieldValue] {
    try await database.all(RecordQuery("Book")).sorted { $0.id.name < $1.id.name }
      .map { $0["place"] }
  }

  private static func saves(_ places: [Int64]) -> [DatabaseRecord] {
    places.enumerated().map { record("\($0 + 1)", ["place": .integer($1)]) }
  }

  private static func save(
    _ places: [Int64], in database: some RecordDatabase
  ) async throws -> [RecordReply] {
    try await database.modify(RecordBatch(saves(places).map { .save($0, .changedKeys) }))
  }

  private static func values(_ places: [Int64]) -> [FieldValue] { places.map { .integer($0) } }

  @Test(arguments: tables, exchanges)
  func `M15: records that exchange unique values remotely are stored locally`(
    table: String, places: [Int64]
  ) async throws {
    // In one transaction, and in a transaction for each record.
    for size in [10_000, 1] {
      let pair = try MirrorPair(
        types: ["Book"], limits: RecordLimits(page: size == 1 ? 1 : 100), transactionSize: size)
      try await pair.execute(table)
      _ = try await Self.save(Array(1...Int64(places.count)), in: pair.base)
      try await pair.sync()
      _ = try await Self.save(places, in: pair.base)
      let report = try await pair.sync()
      #expect(report.description == "\(places.count) saved")
      #expect(try await Self.places(pair.local) == Self.values(places))
      #expect(try await pair.sync().isEmpty)
      #expect(try await pair.mirror.rejections().isEmpty)
    }
  }

  @Test(arguments: tables, exchanges)
  func `M15: records that exchange unique values locally are stored in a remote file`(
    table: String, places: [Int64]
  ) async throws {
    let folder = try TemporaryFolder()
    let local = SQLiteRecordDatabase(folder.file("local.sqlite"))
    let remote = SQLiteRecordDatabase(folder.file("remote.sqlite"))
    for database in [local, remote] {
      try await database.write { connection in try connection.execute(table) }
    }
    _ = try await Self.save(Array(1...Int64(places.count)), in: local)
    try await remote.keepChanges(of: ["Book"])
    let mirror = RecordMirror(of: ["Book"], in: local, with: remote)
    _ = try await mirror.sync.run().get()
    try await local.write { connection in
      try connection.execute("UPDATE Book SET place = place + 100")
      for (index, place) in places.enumerated() {
        try connection.execute("UPDATE Book SET place = \(place) WHERE id = '\(index + 1)'")
      }
    }
    let report = try await mirror.sync.run().get()
    #expect(report.description == "\(places.count) sent")
    #expect(try await Self.places(remote) == Self.values(places))
    #expect(try await mirror.sync.run().get().isEmpty)
  }

  @Test func `M15: a unique value of a record that does not change is rejected as before`()
    async throws
  {
    let pair = try MirrorPair(types: ["Book"])
    try await pair.execute(Self.tables[1])
    _ = try await Self.save([1, 2, 3, 4], in: pair.base)
    try await pair.sync()
    // A local record has the place that the third one needs.
    try await pair.local.save(record("5", ["place": 9]), policy: .allKeys)
    try await pair.execute("UPDATE Book SET title = 'here' WHERE id = '4'")
    _ = try await Self.save([2, 1, 9], in: pair.base)
    let report = try await pair.sync()
    #expect(report.saved == 2 && report.rejected == 1)
    #expect(try await Self.places(pair.local) == Self.values([2, 1, 3, 4, 9]))
    let rejections = try await pair.mirror.rejections()
    #expect(rejections.keys.map { "\($0)" } == ["Book/3"])
    #expect(rejections.values.first?.contains("another record has the same Book.place") == true)
    try await pair.execute("UPDATE Book SET place = 10 WHERE id = '5'")
    try await pair.sync()
    #expect(try await Self.places(pair.local) == Self.values([2, 1, 9, 4, 10]))
  }

  @Test func `M15: a record keeps its value if its edit wins over the remote one`() async throws {
    let pair = try MirrorPair(types: ["Book"], conflicts: .localWins)
    try await pair.execute(Self.tables[0])
    _ = try await Self.save([1, 2, 3], in: pair.base)
    try await pair.sync()
    try await pair.execute("UPDATE Book SET place = 7 WHERE id = '2'")
    try await pair.execute("UPDATE Book SET place = 2 WHERE id = '3'")
    // The first record needs 2, which the third one keeps.
    _ = try await Self.save([2, 4, 1], in: pair.base)
    try await pair.sync()
    #expect(try await Self.places(pair.local) == Self.values([1, 7, 2]))
    #expect(try await pair.mirror.rejections().keys.map { "\($0)" } == ["Book/1"])
  }

  @Test func `M15: the triggers of a table see each value of an exchange`() async throws {
    let pair = try MirrorPair(types: ["Book"])
    try await pair.execute(
      Self.tables[0], "CREATE TABLE Found (place INTEGER PRIMARY KEY, book TEXT)",
      "CREATE TRIGGER a AFTER INSERT ON Book BEGIN INSERT INTO Found VALUES (NEW.place, NEW.id); END",
      """
      CREATE TRIGGER b AFTER UPDATE OF place ON Book BEGIN DELETE FROM Found WHERE book = OLD.id \
      AND place IS OLD.place; INSERT INTO Found SELECT NEW.place, NEW.id WHERE NEW.place > 0; END
      """,
      """
      CREATE TRIGGER c AFTER UPDATE ON Book BEGIN \
      UPDATE Book SET title = NEW.place WHERE id = NEW.id; END
      """)
    _ = try await Self.save([1, 2, 3], in: pair.base)
    try await pair.sync()
    _ = try await Self.save([2, 3, 1], in: pair.base)
    try await pair.sync()
    let found = try await pair.local.read { connection in
      try connection.fetchAll("SELECT place || book FROM Found ORDER BY 1") { $0.text(at: 0) ?? "" }
    }
    #expect(found == ["13", "21", "32"])
  }
}
