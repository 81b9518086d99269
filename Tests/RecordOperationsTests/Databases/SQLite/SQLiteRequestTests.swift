import CompositeOperationsTestKit
import Foundation
import RecordOperations
import SQLiteSupport
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(10))) struct SQLiteRequestTests {
  /// A statement that runs until it is interrupted.
  private static let endless =
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"

  @Test func `a cancelled statement ends, and the connection remains usable`() async throws {
    let folder = try TemporaryFolder()
    let database = SQLiteRecordDatabase(folder.file(), SQLiteOptions(readers: 1))
    try await database.save(DatabaseRecord("Book", "1"))
    for _ in 0..<20 {
      let (started, signal) = AsyncStream.makeStream(of: Void.self)
      let task = Task {
        try await database.read { connection in
          signal.yield()
          try connection.execute(Self.endless)
        }
      }
      for await _ in started { break }
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
      #expect(try await database.all(RecordQuery("Book")).count == 1)
    }
  }

  @Test func `a request that is cancelled before its statement does not run the statement`()
    async throws
  {
    let folder = try TemporaryFolder()
    let database = SQLiteRecordDatabase(folder.file(), SQLiteOptions(readers: 1))
    let (started, signal) = AsyncStream.makeStream(of: Void.self)
    let task = Task {
      try await database.write { connection in
        signal.yield()
        // SQLite ignores an interrupt between statements.
        while !connection.isCancelled {}
        try connection.execute("CREATE TABLE never (a)")
      }
    }
    for await _ in started { break }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(try await database.read { try $0.tables() } == [])
  }

  @Test func `a queued request ends immediately when it is cancelled`() async throws {
    let folder = try TemporaryFolder()
    let database = SQLiteRecordDatabase(folder.file())
    let (started, signal) = AsyncStream.makeStream(of: Void.self)
    let first = Task {
      try await database.write { connection in
        signal.yield()
        try connection.execute(Self.endless)
      }
    }
    for await _ in started { break }
    let record = DatabaseRecord("Book", "never")
    // An immediate task is queued before it is cancelled.
    let second = Task.immediate { try await database.save(record) }
    second.cancel()
    // The first request is still running.
    await #expect(throws: CancellationError.self) { try await second.value }
    first.cancel()
    await #expect(throws: CancellationError.self) { try await first.value }
    #expect(try await database.all(RecordQuery("Book")) == [])
  }

  @Test func `only the cancelled request is interrupted`() async throws {
    let folder = try TemporaryFolder()
    let database = SQLiteRecordDatabase(folder.file(), SQLiteOptions(readers: 1))
    let count =
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300) SELECT count(*) FROM n"
    // All requests share a connection, and some are cancelled between the end of one and the start
    // of the next.
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<400 {
        group.addTask {
          let task = Task {
            try await database.read { try $0.fetchOne(count) { $0.integer(at: 0) } }
          }
          if number.isMultiple(of: 2) {
            if number.isMultiple(of: 4) { await Task.yield() }
            task.cancel()
            _ = await task.result
          } else {
            let result = await task.result
            #expect(throws: Never.self, "request \(number)") { try result.get() }
          }
        }
      }
    }
  }

  @Test func `a request that waits for another connection's lock is cancelled immediately`()
    async throws
  {
    let folder = try TemporaryFolder()
    let database = SQLiteRecordDatabase(
      folder.file(), SQLiteOptions(busyTimeout: .seconds(3_600)))
    try await database.save(DatabaseRecord("Book", "1"))
    let other = try otherConnection(folder.file())
    try other.execute("BEGIN IMMEDIATE")
    let worker = database.worker(for: .writing)
    // Some of the requests are already waiting for the lock when they are cancelled.
    for _ in 0..<10 {
      let (started, signal) = AsyncStream.makeStream(of: Void.self)
      let task = Task {
        try await worker.run { connection in
          signal.yield()
          try connection.execute("BEGIN IMMEDIATE")
        }
      }
      for await _ in started { break }
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
    }
    try other.execute("COMMIT")
    try await database.save(DatabaseRecord("Book", "3"))
  }

  @Test func `a file that is locked beyond the busy timeout is unavailable`() async throws {
    let folder = try TemporaryFolder()
    let options = SQLiteOptions(busyTimeout: .milliseconds(1))
    let database = SQLiteRecordDatabase(folder.file(), options)
    try await database.save(DatabaseRecord("Book", "1"))
    let other = try otherConnection(folder.file())
    try other.execute("BEGIN IMMEDIATE")
    let (code, text) = await database.refusal(of: DatabaseRecord("Book", "2"))
    #expect(code == "unavailable" && text.contains(folder.file()))
    // Readers do not wait for the lock.
    #expect(try await database.all(RecordQuery("Book")).count == 1)
  }

  @Test func `tasks read and write in parallel`() async throws {
    let folder = try TemporaryFolder()
    let database = SQLiteRecordDatabase(folder.file())
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<8 {
        group.addTask {
          for number in 0..<25 {
            var record = DatabaseRecord("Book", "\(task).\(number)")
            record["task"] = .integer(Int64(task))
            let saved = try await database.save(record)[0]
            #expect(try await database.record(record.id) == saved)
            let own = RecordQuery("Book", where: Field<Int>("task") == task)
            #expect(try await database.all(own, page: 7).count == number + 1)
          }
        }
      }
      try await group.waitForAll()
    }
    let all = try await database.allChanges(since: nil).changed
    #expect(Set(all.map(\.id)).count == 200 && all.count == 200)
  }

  @Test func `two databases on one file see each other's changes and conflicts`() async throws {
    let folder = try TemporaryFolder()
    let (one, other) = (SQLiteRecordDatabase(folder.file()), SQLiteRecordDatabase(folder.file()))
    var record = DatabaseRecord("Book", "1")
    record["title"] = "Emma"
    let first = try await one.save(record)[0]
    var second = try #require(try await other.record(record.id))
    #expect(second == first)
    // A column that the first database has not seen.
    second["pages"] = 249
    second = try await other.save(second)[0]
    var third = first
    third["title"] = "Persuasion"
    let reply = try await one.modify(RecordBatch([.save(third, .ifUnchanged)]))[0]
    guard case .failed(let error) = reply, case .conflict(let now) = error.reason else {
      Issue.record("unexpected reply: \(reply.code)")
      return
    }
    #expect(now == second && now["pages"] == 249)
  }

  @Test func `a released database is deallocated after its queued requests have ended`()
    async throws
  {
    let folder = try TemporaryFolder()
    var database: SQLiteRecordDatabase? = SQLiteRecordDatabase(folder.file())
    weak let gone = database
    try await database?.save(DatabaseRecord("Book", "0"))
    let tasks = (1...8).map { number in
      Task { [database] in try await database?.save(DatabaseRecord("Book", "\(number)")) }
    }
    database = nil
    for task in tasks { _ = await task.result }
    #expect(gone == nil)
    let reopened = SQLiteRecordDatabase(folder.file())
    #expect(try await reopened.all(RecordQuery("Book")).count == 9)
    await reopened.close()
  }

  @Test func `a closed file has no files beside it, and is reopened by the next request`()
    async throws
  {
    let folder = try TemporaryFolder()
    let database = SQLiteRecordDatabase(folder.file())
    let saved = try await database.save(DatabaseRecord("Book", "1"))[0]
    #expect(try folder.names.contains("records.sqlite-wal"))
    _ = try await database.record(saved.id)
    await database.close()
    #expect(try folder.names == ["records.sqlite"])
    #expect(try await database.record(saved.id) == saved)
    await database.close()
    #expect(try folder.names == ["records.sqlite"])
  }
}
