import CompositeOperations
import CompositeOperationsTestKit
import PostgresOperations
import Testing

@Suite(.enabled(if: PrivateServer.missingServer == nil), .timeLimit(.minutes(10)))
struct PostgresPoolTests {
  static let create = PostgresStatement(
    "create",
    """
    CREATE TABLE t (i bigint PRIMARY KEY, transaction bigint NOT NULL DEFAULT txid_current(),
      backend int NOT NULL DEFAULT pg_backend_pid())
    """)
  static let insert = PostgresStatement(
    "insert", "INSERT INTO t (i) VALUES ($1::bigint) RETURNING i")
  static let count = PostgresStatement("count", "SELECT count(*) FROM t")
  private static let sleep = PostgresStatement("sleep", "SELECT pg_sleep(60)")
  private static let backend = PostgresStatement("backend", "SELECT pg_backend_pid()")

  private func pool(capacity: Int = 4) async throws -> PostgresPool {
    let pool = PostgresPool(to: try await PrivateServer.shared.freshSchema(), capacity: capacity)
    _ = try await pool.rows(Self.create, [], order: "")
    return pool
  }

  /// Occupies a connection until the gate opens.
  private func occupy(
    _ pool: PostgresPool, _ started: AsyncStream<Void>.Continuation, until semaphore: Semaphore
  ) async throws {
    try await pool.run { _ in
      started.yield()
      semaphore.wait()
    }
  }

  // MARK: Group commit

  @Test func `writes that wait for a connection share a transaction`() async throws {
    let pool = try await pool(capacity: 1)
    let (started, signal) = AsyncStream.makeStream(of: Void.self)
    let semaphore = Semaphore()
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await self.occupy(pool, signal, until: semaphore) }
      for await _ in started { break }
      for number in 1...100 {
        group.addTask {
          let rows = try await pool.rows(Self.insert, [.integer(Int64(number))], order: "t")
          #expect(rows.integer(0, 0) == Int64(number))
        }
      }
      // The writes are submitted by then; if one is late, there is one transaction more.
      try await Task.sleep(for: .milliseconds(200))
      semaphore.signal()
      try await group.waitForAll()
    }
    let rows = try await pool.rows(
      PostgresStatement("transactions", "SELECT count(*), count(DISTINCT transaction) FROM t"), [],
      order: "")
    #expect(rows.integer(0, 0) == 100)
    #expect((2...4).contains(rows.integer(0, 1) ?? 0), "\(rows.integer(0, 1) ?? 0) transactions")
  }

  @Test func `concurrent writes make fewer transactions than writes`() async throws {
    let pool = try await pool()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<64 {
        group.addTask {
          for number in 0..<10 {
            _ = try await pool.rows(Self.insert, [.integer(Int64(task * 10 + number))], order: "t")
          }
        }
      }
      try await group.waitForAll()
    }
    let rows = try await pool.rows(
      PostgresStatement(
        "transactions",
        "SELECT count(*), count(DISTINCT transaction), count(DISTINCT backend) FROM t"), [],
      order: "")
    #expect(rows.integer(0, 0) == 640)
    #expect(rows.integer(0, 1) ?? .max < 400)
    #expect(rows.integer(0, 2) ?? .max <= 4)
  }

  @Test func `a write does not wait while a connection is idle`() async throws {
    let pool = try await pool(capacity: 2)
    let (started, signal) = AsyncStream.makeStream(of: Void.self)
    let semaphore = Semaphore()
    async let busy: Void = occupy(pool, signal, until: semaphore)
    for await _ in started { break }
    _ = try await pool.rows(Self.insert, [.integer(1)], order: "")
    semaphore.signal()
    try await busy
  }

  @Test(arguments: [false, true])
  func `a write that is refused fails alone, and the others are executed once`(
    isNotPreparable: Bool
  ) async throws {
    let pool = try await pool(capacity: 1)
    let (started, signal) = AsyncStream.makeStream(of: Void.self)
    let semaphore = Semaphore()
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await self.occupy(pool, signal, until: semaphore) }
      for await _ in started { break }
      for number in 1...50 {
        group.addTask {
          let order = "\(number % 7)"
          guard number == 25 else {
            let rows = try await pool.rows(Self.insert, [.integer(Int64(number))], order: order)
            #expect(rows.integer(0, 0) == Int64(number))
            return
          }
          let statement = PostgresStatement(
            "bad", isNotPreparable ? "SELECT nothing" : "SELECT 1 / $1::bigint")
          let error = await postgresError {
            _ = try await pool.rows(
              statement, isNotPreparable ? [] : [.integer(0)], order: order)
          }
          #expect(error?.kind == .refused)
          #expect(error?.code == (isNotPreparable ? "42703" : "22012"))
          #expect(error?.description.hasPrefix("bad: ") == true)
        }
      }
      try await Task.sleep(for: .milliseconds(200))
      semaphore.signal()
      try await group.waitForAll()
    }
    let rows = try await pool.rows(Self.count, [], order: "")
    #expect(rows.integer(0, 0) == 49)
  }

  @Test func `writes of many connections that lock rows in any order do not deadlock`()
    async throws
  {
    let pool = try await pool()
    let update = PostgresStatement(
      "update",
      "INSERT INTO t (i, transaction) VALUES ($1::bigint, 1) "
        + "ON CONFLICT (i) DO UPDATE SET transaction = t.transaction + 1")
    var seed: UInt64 = 7
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<1_000 {
        seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        let row = Int64(seed >> 60)
        group.addTask { _ = try await pool.rows(update, [.integer(row)], order: "\(row)") }
      }
      try await group.waitForAll()
    }
    let rows = try await pool.rows(
      PostgresStatement("sum", "SELECT sum(transaction)::bigint FROM t"), [], order: "")
    #expect(rows.integer(0, 0) == 1_000)
    // Other tests use the server, too. A deadlock is logged with its statements.
    let deadlocks = try await PrivateServer.shared.log().split(separator: "deadlock detected")
      .dropFirst()
    #expect(!deadlocks.contains { $0.prefix(4_000).contains("INSERT INTO t (i, transaction)") })
  }

  @Test func `writes that conflict with concurrent transactions are repeated`() async throws {
    let pool = try await pool()
    // Fails twice, then succeeds.
    _ = try await pool.rows(PostgresStatement("s", "CREATE SEQUENCE s"), [], order: "")
    _ = try await pool.rows(
      PostgresStatement(
        "f",
        """
        CREATE FUNCTION f(code text) RETURNS bigint LANGUAGE plpgsql AS $$
        DECLARE n bigint := nextval('s');
        BEGIN
          IF n % 3 <> 0 THEN RAISE EXCEPTION USING ERRCODE = code; END IF;
          RETURN n;
        END $$
        """), [], order: "")
    let call = PostgresStatement("call", "SELECT f($1::text)")
    for code in ["40001", "40P01"] {
      let rows = try await pool.rows(call, [.text(code)], order: "")
      #expect((rows.integer(0, 0) ?? 1) % 3 == 0)
    }
    let always = PostgresStatement(
      "always", "SELECT f($1::text) FROM (SELECT setval('s', 3)) AS x, generate_series(1, 9)")
    let error = await postgresError {
      _ = try await pool.rows(always, [.text("40001")], order: "")
    }
    #expect(error?.code == "40001")
    #expect(error?.isTransient == true)
  }

  @Test func `a NUL in a value fails one write before it is sent`() async throws {
    let pool = try await pool()
    let text = PostgresStatement("text", "SELECT $1::text")
    async let other = pool.rows(text, [.text("b")], order: "")
    let error = await postgresError { _ = try await pool.rows(text, [.text("\0")], order: "") }
    #expect(error?.kind == .refused)
    #expect(try await other.text(0, 0) == "b")
  }

  // MARK: Connections

  @Test func `prepare is called once for a connection, and its error fails the request`()
    async throws
  {
    struct Wrong: Error {}
    let address = try await PrivateServer.shared.freshSchema()
    let calls = Counter()
    let pool = PostgresPool(to: address, capacity: 1) { connection in
      _ = try connection.rows(PostgresStatement("one", "SELECT 1"), [])
      if calls.increment() == 1 { throw Wrong() }
    }
    await #expect(throws: Wrong.self) { try await pool.run { _ in } }
    for _ in 1...3 { _ = try await pool.rows(Self.backend, [], order: "") }
    #expect(calls.value == 2)
    await pool.close()
    _ = try await pool.run { try $0.rows(Self.backend, []) }
    #expect(calls.value == 3)
  }

  @Test func `closing and releasing a pool ends its connections`() async throws {
    try await PrivateServer.shared.start()
    let observer = PostgresPool(to: PrivateServer.shared.address, capacity: 1)
    let name = "closing"
    let address = PrivateServer.shared.address + "&application_name=\(name)"
    let clients = PostgresStatement(
      "clients", "SELECT count(*) FROM pg_stat_activity WHERE application_name = $1")
    for isClosed in [true, false] {
      var pool: PostgresPool? = PostgresPool(to: address)
      _ = try await pool?.rows(Self.backend, [], order: "")
      if isClosed { await pool?.close() } else { pool = nil }
      let deadline = ContinuousClock.now + .seconds(20)
      while try await observer.rows(clients, [.text(name)], order: "").integer(0, 0) != 0 {
        try #require(ContinuousClock.now < deadline, "the connection stays open")
        try await Task.sleep(for: .milliseconds(5))
      }
      _ = pool
    }
  }

  @Test func `a refused connection attempt fails every waiting request`() async {
    let pool = PostgresPool(to: "host=/nowhere", capacity: 1)
    await withTaskGroup(of: Void.self) { group in
      for _ in 1...50 {
        group.addTask {
          let error = await postgresError { _ = try await pool.rows(Self.count, [], order: "") }
          #expect(error?.kind == .notConnected)
        }
      }
    }
  }

  // MARK: Cancellation

  @Test func `a cancelled request throws at once, and its statement ends on the server`()
    async throws
  {
    let pool = try await pool(capacity: 2)
    let (started, signal) = AsyncStream.makeStream(of: Int64.self)
    let task = Task {
      try await pool.runCancellable { connection in
        signal.yield(try connection.rows(Self.backend, []).integer(0, 0) ?? 0)
        _ = try connection.rows(Self.sleep, [])
      }
    }
    var backend: Int64 = 0
    for await number in started {
      backend = number
      break
    }
    // The statement begins.
    try await Task.sleep(for: .milliseconds(50))
    let time = await ContinuousClock().measure {
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
    }
    #expect(time < .seconds(5))
    let isActive = PostgresStatement(
      "active", "SELECT count(*) FROM pg_stat_activity WHERE pid = $1::int")
    let deadline = ContinuousClock.now + .seconds(20)
    while try await pool.rows(isActive, [.integer(backend)], order: "").integer(0, 0) != 0 {
      try #require(ContinuousClock.now < deadline, "the statement continues on the server")
      try await Task.sleep(for: .milliseconds(10))
    }
  }

  @Test func `cancellation never fails another request`() async throws {
    let pool = try await pool(capacity: 2)
    let tick = PostgresStatement("tick", "SELECT pg_sleep(0.001)")
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<60 {
        group.addTask {
          let task = Task { try await pool.runCancellable { _ = try $0.rows(tick, []) } }
          try await Task.sleep(for: .microseconds(number * 97 % 4_000))
          task.cancel()
          do { try await task.value } catch is CancellationError {}
        }
        group.addTask { _ = try await pool.rows(Self.insert, [.integer(Int64(number))], order: "") }
      }
      try await group.waitForAll()
    }
    #expect(try await pool.rows(Self.count, [], order: "").integer(0, 0) == 60)
  }

  @Test func `a request that waits for a connection is cancelled without running`() async throws {
    let pool = try await pool(capacity: 1)
    let (started, signal) = AsyncStream.makeStream(of: Void.self)
    let semaphore = Semaphore()
    async let busy: Void = occupy(pool, signal, until: semaphore)
    for await _ in started { break }
    let task = Task { try await pool.runCancellable { _ in Issue.record("it ran") } }
    await Task.yield()
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    semaphore.signal()
    try await busy
    try await pool.run { _ in }
  }

  @Test func `a write and a body run although the task is cancelled`() async throws {
    let pool = try await pool()
    let task = Task {
      unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
      _ = try await pool.rows(Self.insert, [.integer(1)], order: "")
      return try await pool.run { try $0.rows(Self.count, []).integer(0, 0) }
    }
    #expect(try await task.value == 1)
  }
}
