import CompositeOperations
import PostgresOperations
import SystemSupport
import TestSupport
import Testing

/// Tests that stop, pause or count the connections of a server.
@Suite(
  .serialized, .enabled(if: PrivateServer.missingServer == nil), .timeLimit(.minutes(10)))
struct PostgresFaultTests {
  private static let server = PrivateServer()
  private static let backend = PostgresStatement("backend", "SELECT pg_backend_pid()")
  private static let sleep = PostgresStatement("sleep", "SELECT pg_sleep(60)")
  private static let terminate = PostgresStatement(
    "terminate", "SELECT pg_terminate_backend($1::int, 10000)")

  /// Creates a pool with the table of ``PostgresPoolTests``.
  private func pool(timeout: Duration = .seconds(20)) async throws -> PostgresPool {
    let pool = PostgresPool(to: try await Self.server.freshSchema(), timeout: timeout)
    _ = try await pool.rows(PostgresPoolTests.create, [], order: "")
    return pool
  }

  private func count(_ pool: PostgresPool) async throws -> Int64? {
    try await pool.rows(PostgresPoolTests.count, [], order: "").integer(0, 0)
  }

  // MARK: Ended connections

  @Test func `a request whose connection is ended is lost, and the next one succeeds`()
    async throws
  {
    let pool = try await pool()
    let (started, signal) = AsyncStream.makeStream(of: Int64.self)
    async let error = postgresError {
      try await pool.run { connection in
        signal.yield(try connection.number(Self.backend) ?? 0)
        _ = try connection.rows(Self.sleep)
      }
    }
    for await backend in started {
      _ = try await pool.rows(Self.terminate, [.integer(backend)], order: "")
      break
    }
    #expect(await error?.kind == .lost)
    #expect(await error?.code == "57P01")
    #expect(await error?.description.contains("may have been executed") == true)
    for _ in 1...8 { #expect(try await count(pool) == 0) }
  }

  @Test func `a connection that was ended while it was idle is replaced`() async throws {
    let pool = try await pool()
    let backend = try await pool.rows(Self.backend, [], order: "").integer(0, 0) ?? 0
    let other = try await self.pool()
    _ = try await other.rows(Self.terminate, [.integer(backend)], order: "")
    #expect(try await pool.rows(Self.backend, [], order: "").integer(0, 0) != backend)
  }

  @Test func `a connection that is lost while it is prepared has sent no request`() async throws {
    let pool = PostgresPool(to: try await Self.server.freshSchema()) { connection in
      _ = try connection.rows(
        PostgresStatement("end", "SELECT pg_terminate_backend(pg_backend_pid())"))
    }
    let error = await postgresError { _ = try await count(pool) }
    #expect(error?.kind == .notConnected)
    #expect(error?.code == "57P01")
  }

  @Test func `a transaction whose connection is ended is not committed`() async throws {
    let pool = try await pool()
    let other = try await self.pool()
    let error = await postgresError {
      try await pool.run { connection in
        try connection.transaction {
          _ = try connection.rows(PostgresPoolTests.insert, [.integer(1)])
          let backend = try connection.number(Self.backend) ?? 0
          let ended = Semaphore()
          let task = Task {
            _ = try? await other.rows(Self.terminate, [.integer(backend)], order: "")
            ended.signal()
          }
          ended.wait()
          _ = task
        }
      }
    }
    #expect(error?.kind == .lost)
    #expect(try await count(pool) == 0)
  }

  @Test func `200 connections and 200 refused ones leave no socket open`() async throws {
    let server = Self.server
    try await server.start()
    let address = server.address
    let counts = await onNewThread { [folder = server.folder] in
      let connections = (1...3).map { _ in
        try? PostgresConnection(to: address, timeout: .seconds(20))
      }
      let before = socketCount(connectedTo: folder)
      for _ in 1...200 {
        let connection = try? PostgresConnection(to: address, timeout: .seconds(20))
        #expect(connection?.isUsable == true)
        _ = try? PostgresConnection(to: address + "&user=missing", timeout: .seconds(20))
      }
      return withExtendedLifetime(connections) {
        (before: before, after: socketCount(connectedTo: folder))
      }
    }
    // A connection of an earlier test may just be closing.
    #expect(counts.after <= counts.before)
  }

  // MARK: Stopped servers

  @Test func `a stopped server is an error with advice, and later a new connection`() async throws {
    let pool = try await pool()
    try await Self.server.stop(.fast)
    let error = await postgresError { _ = try await count(pool) }
    #expect(error?.kind == .notConnected)
    #expect(error?.isTransient == true)
    #expect(error?.description.contains("start the server") == true)
    try await Self.server.start()
    #expect(try await count(pool) == 0)
  }

  @Test func `no write whose rows arrived is missing after crashes of the server`() async throws {
    let pool = try await pool()
    let committed = Numbers()
    let sent = Counter()
    let ends = Counter()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<32 {
        group.addTask {
          while ends.value == 0 {
            let number = Int64(sent.increment())
            do {
              let rows = try await pool.rows(
                PostgresPoolTests.insert, [.integer(number)], order: "t")
              #expect(rows.integer(0, 0) == number)
              committed.insert(number)
            } catch let error as PostgresError {
              #expect(error.kind != .refused, "\(error)")
              if error.kind == .notConnected { try await Task.sleep(for: .milliseconds(10)) }
            }
          }
        }
      }
      for _ in 1...3 {
        try await Task.sleep(for: .milliseconds(150))
        try await Self.server.restart(.immediate)
      }
      let before = committed.all.count
      while committed.all.count < before + 100 { await Task.yield() }
      ends.increment()
      try await group.waitForAll()
    }
    let rows = try await pool.rows(PostgresStatement("all", "SELECT i FROM t"), [], order: "")
    let found = Set((0..<rows.count).compactMap { rows.integer($0, 0) })
    let missing = committed.all.subtracting(found)
    #expect(missing.isEmpty)
    #expect(found.count <= sent.value)
  }

  // MARK: Paused servers

  @Test func `a server that does not answer loses the request after the timeout`() async throws {
    let pool = try await pool(timeout: .seconds(1))
    #expect(try await count(pool) == 0)
    try await Self.server.pause()
    let clock = ContinuousClock()
    let time = await clock.measure {
      let error = await postgresError { _ = try await count(pool) }
      #expect(error?.kind == .lost)
      #expect(error?.description.contains("no answer within 1.00 s") == true)
    }
    #expect(time > .milliseconds(900))
    #expect(time < .seconds(20))
    let error = await postgresError { _ = try await count(pool) }
    #expect(error?.kind == .notConnected)
    #expect(error?.description.contains("no answer within 1.00 s") == true)
    try await Self.server.resume()
    #expect(try await count(pool) == 0)
  }

  @Test func `D14: a large value that was sent gets the time that a slow link needs for it`()
    async throws
  {
    let pool = try await pool(timeout: .seconds(1))
    // As if the value were in the buffers of a proxy.
    let slow = PostgresStatement("slow", "SELECT length($1::text) FROM pg_sleep(3)")
    let value = PostgresValue.text(String(repeating: "a", count: 1 << 20))
    #expect(try await pool.rows(slow, [value], order: "").integer(0, 0) == 1 << 20)
    let error = await postgresError { _ = try await pool.rows(slow, [.text("a")], order: "") }
    #expect(error?.kind == .lost)
    #expect(error?.description.contains("no answer within 1.00 s") == true)
  }

  @Test func `a large value to a server that does not receive is lost after the timeout`()
    async throws
  {
    let pool = try await pool(timeout: .seconds(1))
    #expect(try await count(pool) == 0)
    try await Self.server.pause()
    let error = await postgresError {
      _ = try await pool.rows(
        PostgresStatement("large", "SELECT length($1::text)"),
        [.text(String(repeating: "x", count: 8 << 20))], order: "")
    }
    #expect(error?.kind == .lost)
    try await Self.server.resume()
  }

  @Test func `a request to a server that does not answer is cancelled at once`() async throws {
    let pool = try await pool(timeout: .seconds(60))
    #expect(try await count(pool) == 0)
    try await Self.server.pause()
    let (began, beginning) = AsyncStream.makeStream(of: Void.self)
    let (failed, signal) = AsyncStream.makeStream(of: Void.self)
    for hasConnection in [true, false] {
      let task = Task {
        try await pool.runCancellable { connection in
          beginning.yield()
          defer { signal.yield() }
          _ = try connection.rows(Self.backend)
        }
      }
      // The second one waits for a new connection.
      if hasConnection { for await _ in began { break } }
      try await Task.sleep(for: .milliseconds(50))
      let time = await ContinuousClock().measure {
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
      }
      #expect(time < .seconds(20))
    }
    // The statement fails long before the timeout, which frees its connection.
    let time = await ContinuousClock().measure { for await _ in failed { break } }
    #expect(time < .seconds(20))
    try await Self.server.resume()
    #expect(try await count(pool) == 0)
  }
}

private final class Numbers: Sendable {
  private let numbers = Lock<Set<Int64>>([])

  var all: Set<Int64> { numbers.withLock { $0 } }

  func insert(_ number: Int64) { _ = numbers.withLock { $0.insert(number) } }
}

/// Returns how many sockets of this process are connected to a Unix socket in a folder.
private func socketCount(connectedTo folder: String) -> Int {
  (0..<4_096).count { file in
    var address = sockaddr_un()
    var size = socklen_t(MemoryLayout<sockaddr_un>.size)
    return unsafe withUnsafeMutableBytes(of: &address) { bytes in
      guard let start = bytes.baseAddress,
        unsafe getpeername(Int32(file), start.assumingMemoryBound(to: sockaddr.self), &size) == 0
      else { return false }
      let text = unsafe String(decoding: bytes.dropFirst(2).prefix { $0 != 0 }, as: UTF8.self)
      return text.hasPrefix(folder + "/")
    }
  }
}
