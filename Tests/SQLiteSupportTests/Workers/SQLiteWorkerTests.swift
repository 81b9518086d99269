import CompositeOperationsTestKit
import SQLiteSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct SQLiteWorkerTests {
  private struct Converted: Error {
    let kind: SQLiteError.Kind
  }

  private static let endless =
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"

  private func worker(
    _ file: TemporaryFile, _ configuration: SQLiteConfiguration = SQLiteConfiguration()
  ) -> SQLiteWorker {
    let convert: @Sendable (SQLiteError) -> any Error = { Converted(kind: $0.kind) }
    return SQLiteWorker("test", convertingErrors: convert) {
      try file.connect(for: .writing, configuration)
    }
  }

  @Test func `errors of the body and of opening the file are converted`() async throws {
    let file = try TemporaryFile()
    let missing = worker(file, SQLiteConfiguration(access: .existing))
    await #expect { try await missing.run { _ in } } throws: {
      ($0 as? Converted)?.kind == .fileNotFound
    }
    let worker = worker(file)
    await #expect { try await worker.run { try $0.execute("SELECT * FROM T") } } throws: {
      ($0 as? Converted)?.kind == .invalidStatement
    }
    // The file exists now: the next request opens it.
    try await missing.run { _ in }
  }

  @Test func `a cancelled statement is interrupted, and the connection remains usable`()
    async throws
  {
    let file = try TemporaryFile()
    let worker = worker(file)
    let (started, signal) = AsyncStream.makeStream(of: Void.self)
    let task = Task {
      try await worker.run { connection in
        signal.yield()
        try connection.execute(Self.endless)
      }
    }
    for await _ in started { break }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(try await worker.run { try $0.fetchOne("SELECT 7") { $0.integer(at: 0) } } == 7)
  }

  @Test func `a body that ignores cancellation runs only if the file is open`() async throws {
    let file = try TemporaryFile()
    let worker = worker(file)
    await worker.runIfOpen { _ in Issue.record("the file is not open") }
    try await worker.run { try $0.execute("CREATE TABLE T (i)") }
    let gate = Gate()
    let task = Task {
      try? await gate.pass()
      await worker.runIfOpen { try? $0.execute("INSERT INTO T VALUES (7)") }
    }
    await gate.waitForArrivals(1)
    task.cancel()
    await task.value
    #expect(try await worker.run { try $0.integers } == [7])
    await worker.close()
    await worker.runIfOpen { _ in Issue.record("the file is closed") }
  }

  @Test func `a pool has at most as many workers as its capacity`() async throws {
    let file = try TemporaryFile()
    _ = try file.connectWithTable()
    let pool = SQLiteWorkerPool(capacity: 2) { index in
      SQLiteWorker("reader \(index)") { try file.connect(for: .reading) }
    }
    try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<20 { group.addTask { try await pool.run { try $0.integers.count } } }
      for try await count in group { #expect(count == 0) }
    }
    await pool.close()
  }
}
