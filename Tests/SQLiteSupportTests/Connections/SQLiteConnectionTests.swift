import SQLiteSupport
import SystemSupport
import Testing

@Suite struct SQLiteConnectionTests {
  private struct Failure: Error {}

  private final class Observer: SQLiteTransactionObserver {
    var events: [String] = []
    func transactionCommitted() { events.append("committed") }
    func transactionRolledBack() { events.append("rolled back") }
  }

  @Test func `a transaction commits its changes, or rolls all of them back`() throws {
    let file = try TemporaryFile()
    let connection = try file.connectWithTable()
    let observer = Observer()
    connection.transactionObserver = observer
    try connection.transaction(.immediate) {
      try connection.execute("INSERT INTO T VALUES (1, 'a')")
    }
    #expect(throws: Failure.self) {
      try connection.transaction(.immediate) {
        try connection.execute("INSERT INTO T VALUES (2, 'b')")
        throw Failure()
      }
    }
    #expect(try connection.integers == [1])
    #expect(!connection.isInTransaction)
    #expect(observer.events == ["committed", "rolled back"])
  }

  @Test func `a savepoint rolls back only its own changes`() throws {
    let file = try TemporaryFile()
    let connection = try file.connectWithTable()
    try connection.transaction(.immediate) {
      try connection.execute("INSERT INTO T VALUES (1, 'a')")
      try? connection.savepoint {
        try connection.execute("INSERT INTO T VALUES (2, 'b')")
        throw Failure()
      }
      try connection.savepoint { try connection.execute("INSERT INTO T VALUES (3, 'c')") }
    }
    #expect(try connection.integers == [1, 3])
    #expect(connection.changeCount == 1 && connection.lastInsertedRowID == 3)
  }

  @Test func `a reader sees its snapshot, and a changed data version after the commit`() throws {
    let file = try TemporaryFile()
    let writer = try file.connectWithTable()
    let reader = try file.connect(for: .reading)
    let before = try reader.dataVersion
    try reader.transaction(.deferred) {
      #expect(try reader.integers == [])
      try writer.execute("INSERT INTO T VALUES (1, 'a')")
      #expect(try reader.integers == [])
    }
    #expect(try reader.integers == [1])
    let after = try reader.dataVersion
    #expect(after != before)
    #expect(try reader.dataVersion == after)
    let own = try writer.dataVersion
    try writer.execute("INSERT INTO T VALUES (2, 'b')")
    #expect(try writer.dataVersion == own)
    #expect(failure { try reader.execute("DELETE FROM T") }?.kind == .notPermitted)
  }

  @Test func `a second writer fails when the busy timeout has passed`() throws {
    let file = try TemporaryFile()
    let one = try file.connectWithTable()
    let other = try file.connect(SQLiteConfiguration(busyTimeout: .zero))
    try one.transaction(.immediate) {
      #expect(failure { try other.transaction(.immediate) {} }?.kind == .busy)
    }
    try other.transaction(.immediate) {}
  }

  @Test func `the configuration determines durability, and the permissions of a new file`() throws {
    for (durability, synchronous) in [
      (SQLiteConfiguration.Durability.normal, Int64(1)), (.full, 2),
    ] {
      let file = try TemporaryFile()
      let connection = try file.connect(
        SQLiteConfiguration(durability: durability, permissions: 0o600))
      #expect(try connection.fetchOne("PRAGMA synchronous") { $0.integer(at: 0) } == synchronous)
      #expect(connection.isInWALMode && !connection.isReadOnly)
      #expect(try connection.isUTF8)
      #expect(try file.permissions == 0o600)
    }
  }

  @Test func `a checkpoint copies the WAL to the file, and a large WAL is truncated`() throws {
    let file = try TemporaryFile()
    let connection = try file.connectWithTable()
    let large = SQLiteValue.text(
      String(repeating: "x", count: SQLiteConnection.autocheckpointSize + 1))
    try connection.execute("INSERT INTO T VALUES (1, ?1)", [large])
    connection.checkpointWAL()
    #expect(try file.size > SQLiteConnection.autocheckpointSize)
    #expect(SQLiteFile(file.path).walSize > SQLiteConnection.autocheckpointSize)
    connection.truncateWAL()
    #expect(SQLiteFile(file.path).walSize == 0)
  }

  @Test func `a file with another application ID or a newer schema is refused`() throws {
    let file = try TemporaryFile()
    let connection = try file.connect()
    #expect(try connection.schemaVersion(applicationID: 7, latest: 2) == 0)
    try connection.transaction(.immediate) {
      try connection.execute("CREATE TABLE T (i)")
      try connection.setSchemaVersion(2, applicationID: 7)
    }
    #expect(try connection.schemaVersion(applicationID: 7, latest: 2) == 2)
    let newer = failure { _ = try connection.schemaVersion(applicationID: 7, latest: 1) }
    #expect(newer?.kind == .newerSchema)
    #expect(newer?.description.contains("version 2 of its schema") == true)
    let foreign = failure { _ = try connection.schemaVersion(applicationID: 8, latest: 2) }
    #expect(foreign?.kind == .foreignFile)
    try connection.setSchemaVersion(0, applicationID: 0)
    #expect(
      failure { _ = try connection.schemaVersion(applicationID: 7, latest: 2) }?.kind
        == .foreignFile)
  }

  @Test func `without triggers, foreign keys apply, and triggers run again after an error`() throws
  {
    let file = try TemporaryFile()
    let connection = try file.connectWithTable()
    try connection.execute("CREATE TABLE Log (number INTEGER PRIMARY KEY REFERENCES T)")
    try connection.execute(
      "CREATE TRIGGER inserted AFTER INSERT ON T BEGIN INSERT INTO Log VALUES (NEW.i); END")
    func insert(_ number: Int) throws {
      try connection.execute("INSERT INTO T VALUES (\(number), '\(number)')")
    }
    try insert(1)
    #expect(throws: SQLiteError.self) {
      try connection.withoutTriggers {
        try insert(2)
        try connection.execute("INSERT INTO Log VALUES (7)")
      }
    }
    try insert(3)
    let logged = try connection.fetchAll("SELECT number FROM Log") { $0.integer(at: 0) }
    #expect(logged == [1, 3])
    #expect(try connection.integers == [1, 2, 3])
  }
}
