import Foundation
import RecordOperations
import SQLiteSupport
import Testing

@Suite struct SQLiteFileTests {
  /// Creates a file with a table of a thousand rows.
  private func make(_ folder: TemporaryFolder, log: Bool = true) throws {
    let connection = try otherConnection(folder.file())
    if !log { try connection.execute("PRAGMA journal_mode = DELETE") }
    try connection.execute("CREATE TABLE Book (id TEXT PRIMARY KEY NOT NULL, text TEXT)")
    try connection.execute(
      """
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
      INSERT INTO Book SELECT i, printf('%100d', i) FROM n
      """)
  }

  private func bytes(_ folder: TemporaryFolder) throws -> Data {
    try Data(contentsOf: URL(fileURLWithPath: folder.file()))
  }

  enum Damage: String, CaseIterable {
    case missing, folder, noDatabase, truncated, overwritten, empty
  }

  static let damages: [(Damage, code: String, part: String, AccountStatus)] = [
    (.missing, "storage", "file not found", .noAccount),
    (.folder, "storage", "is a folder", .couldNotDetermine),
    (.noDatabase, "storage", "is not an SQLite database", .couldNotDetermine),
    (.truncated, "storage", "is damaged", .couldNotDetermine),
    (.overwritten, "storage", "is damaged", .available),
    (.empty, "invalid", "no such table: Book", .available),
  ]

  @Test(arguments: damages)
  func `the error for an unusable file contains the reason`(
    damage: Damage, code: String, part: String, status: AccountStatus
  ) async throws {
    let folder = try TemporaryFolder()
    try make(folder)
    var data = try bytes(folder)
    switch damage {
    case .missing: break
    case .folder:
      try FileManager.default.createDirectory(
        atPath: folder.file("f"), withIntermediateDirectories: false)
    case .noDatabase: data = Data(String(repeating: "no database ", count: 1_000).utf8)
    case .truncated: data = data.prefix(data.count / 2)
    case .overwritten:
      data.replaceSubrange(4_096..., with: Data(repeating: 0xA5, count: data.count - 4_096))
    case .empty: data = Data()
    }
    let path = folder.file("f")
    if damage != .missing, damage != .folder { try data.write(to: URL(fileURLWithPath: path)) }
    for access in [SQLiteOptions.Access.existing, .readOnly] {
      let database = SQLiteRecordDatabase(path, SQLiteOptions(access: access))
      let (found, text) = await failure { _ = try await database.all(RecordQuery("Book")) }
      #expect(found == code && text.contains(part), "\(access): \(text)")
      if found == "storage" { #expect(text.contains(path)) }
      #expect(try await database.accountStatus() == status)
    }
    if damage == .missing { #expect(try !folder.names.contains("f")) }
  }

  @Test func `a read-only file remains unchanged, with no files beside it`() async throws {
    for log in [true, false] {
      let folder = try TemporaryFolder()
      try make(folder, log: log)
      let before = try bytes(folder)
      let database = SQLiteRecordDatabase(folder.file(), SQLiteOptions(access: .readOnly))
      #expect(try await database.all(RecordQuery("Book"), page: 100).count == 1_000)
      #expect(try await database.accountStatus() == .available)
      for change in [
        RecordChange.delete(RecordID("Book", "1"), ifTagged: nil),
        .save(DatabaseRecord("Book", "new"), .ifUnchanged),
      ] {
        let (code, text) = await failure { _ = try await database.modify(RecordBatch([change])) }
        #expect(code == "notPermitted" && text.contains(folder.file()))
      }
      await database.close()
      #expect(try folder.names == ["records.sqlite"])
      #expect(try bytes(folder) == before)
    }
  }

  @Test func `a query leaves the journal mode unchanged, and a save switches it to WAL`()
    async throws
  {
    let folder = try TemporaryFolder()
    try make(folder, log: false)
    let before = try bytes(folder)
    let database = SQLiteRecordDatabase(folder.file(), SQLiteOptions(access: .existing))
    #expect(try await database.all(RecordQuery("Book")).count == 1_000)
    await database.close()
    #expect(try bytes(folder) == before)
    try await database.save(DatabaseRecord("Book", "new"))
    let journal = try await database.read { connection in
      try connection.fetchOne("PRAGMA journal_mode") { $0.text(at: 0) }
    }
    #expect(journal == "wal")
  }

  @Test func `a read-only file in a read-only folder can be read`()
    async throws
  {
    let folder = try TemporaryFolder()
    try make(folder)
    let manager = FileManager.default
    try manager.setAttributes([.posixPermissions: 0o444], ofItemAtPath: folder.file())
    try manager.setAttributes([.posixPermissions: 0o555], ofItemAtPath: folder.path)
    let database = SQLiteRecordDatabase(folder.file(), SQLiteOptions(access: .readOnly))
    #expect(try await database.all(RecordQuery("Book"), page: 100).count == 1_000)
    // Root could create files there. That none exist while it is open shows that none are needed.
    #expect(try folder.names == ["records.sqlite"])
    await database.close()
  }

  @Test func `names with a special meaning in SQLite are file names`() async throws {
    let folder = try TemporaryFolder()
    for name in ["file:a?mode=memory", ":memory:", "a%20?b#c"] {
      let path = folder.file(name)
      let database = SQLiteRecordDatabase(path)
      try await database.save(DatabaseRecord("Book", "1"))
      await database.close()
      #expect(try folder.names.contains(name))
      let reader = SQLiteRecordDatabase(path, SQLiteOptions(access: .readOnly))
      #expect(try await reader.all(RecordQuery("Book")).count == 1)
    }
  }

  @Test func `a relative path with a special meaning in SQLite is a file name`() async throws {
    let name = ":memory:"
    defer { try? FileManager.default.removeItem(atPath: name) }
    let database = SQLiteRecordDatabase(name)
    try await database.save(DatabaseRecord("Book", "1"))
    await database.close()
    #expect(FileManager.default.fileExists(atPath: name))
    #expect(try await database.all(RecordQuery("Book")).count == 1)
    await database.close()
  }

  @Test func `a connection has the configured durability and the required settings`() async throws {
    for (durability, expected) in [(SQLiteOptions.Durability.normal, 1), (.full, 2)] {
      let folder = try TemporaryFolder()
      let database = SQLiteRecordDatabase(
        folder.file(), SQLiteOptions(durability: durability))
      let settings = try await database.write { connection in
        try ["synchronous", "foreign_keys", "recursive_triggers", "trusted_schema"].map { name in
          try connection.fetchOne("PRAGMA \(name)") { $0.integer(at: 0) }
        }
      }
      #expect(settings == [Int64(expected), 1, 1, 0])
    }
  }

  @Test func `functions in the schema of a file run only if the schema is trusted`() async throws {
    let folder = try TemporaryFolder()
    let creator = try SQLiteConnection.open(
      folder.file(), for: .writing, SQLiteConfiguration(trustsSchema: true))
    try creator.execute("CREATE TABLE T (id TEXT PRIMARY KEY, a TEXT CHECK (json_valid(a)))")
    var record = DatabaseRecord("T", "1")
    record["a"] = "x"
    let strict = SQLiteRecordDatabase(folder.file())
    let (code, text) = await strict.refusal(of: record)
    let isHarmless = try creator.fetchOne(
      "SELECT max(flags & 0x200000) FROM pragma_function_list WHERE name = 'json_valid'"
    ) { $0.integer(at: 0) != 0 }
    if isHarmless == false {
      #expect(code == "notPermitted" && text.contains("json_valid") && text.contains("trust"))
    }
    let trusting = SQLiteRecordDatabase(folder.file(), SQLiteOptions(trustsSchema: true))
    #expect(await trusting.refusal(of: record).code == "invalid")
    record["a"] = "[]"
    #expect(await trusting.refusal(of: record).code == "none")
  }

  @Test func `a full disk fails the request as a whole`() async throws {
    let folder = try TemporaryFolder()
    let database = SQLiteRecordDatabase(folder.file())
    try await database.save(DatabaseRecord("Book", "1"))
    _ = try await database.write { try $0.fetchOne("PRAGMA max_page_count = 20") { _ in } }
    let records = (0..<100).map { number in
      var record = DatabaseRecord("Book", "new \(number)")
      record["text"] = .string(String(repeating: "x", count: 4_000))
      return RecordChange.save(record, .ifUnchanged)
    }
    let (code, text) = await failure { _ = try await database.modify(RecordBatch(records)) }
    #expect(code == "storage" && text.contains("is full"))
    #expect(try await database.all(RecordQuery("Book")).count == 1)
    try await database.save(DatabaseRecord("Book", "2"))
  }
}
