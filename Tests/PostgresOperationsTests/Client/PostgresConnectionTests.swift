import PostgresOperations
import SystemSupport
import TestSupport
import Testing

@Suite(.enabled(if: PrivateServer.missingServer == nil), .timeLimit(.minutes(10)))
struct PostgresConnectionTests {
  /// Runs a body with a connection.
  private func connected<Value: Sendable>(
    _ body: @escaping @Sendable (PostgresConnection) throws -> Value
  ) async throws -> Value {
    let server = PrivateServer.shared
    try await server.start()
    return try await ThreadExecutor.run {
      try body(PostgresConnection(to: server.address, timeout: .seconds(20)))
    }
  }

  @Test(.enabled(if: PrivateServer.whatIsMissing == nil))
  func `a new database has the schema of Absurd`() async throws {
    let pool = PostgresPool(to: try await PrivateServer.shared.freshDatabase())
    let rows = try await pool.rows(
      PostgresStatement("version", "SELECT absurd.get_schema_version()"), [], order: "")
    #expect(rows.text(0, 0) == "0.5.1")
  }

  // MARK: Values

  @Test(arguments: [
    "", " ", "'", "\"", "\\", "''\\'; DROP TABLE t; --", "Grüße 🧵\u{301}", "line\nline\r\n\ttab",
    "NULL", "{}", "{\"a\",b}", "\u{1}\u{7f}\u{ffff}\u{10ffff}",
  ])
  func `a text is received as it was sent, alone and in an array`(_ text: String) async throws {
    let rows = try await connected { connection in
      try connection.rows(
        PostgresStatement("echo", "SELECT $1::text, ($2::text[])[1], ($2::text[])[3]"),
        [.text(text), .texts([text, "-", text])])
    }
    #expect(rows.count == 1)
    for column in 0..<3 { #expect(rows.text(0, column).map { Array($0.utf8) } == Array(text.utf8)) }
  }

  @Test func `arrays have their elements, without nulls`() async throws {
    let length = PostgresStatement(
      "length", "SELECT cardinality($1::text[]), array_position($1::text[], NULL)")
    for texts in [[], [""], ["NULL", "null"], ["a,b", "{c}", " d ", "\\\"e"]] {
      let rows = try await connected { try $0.rows(length, [.texts(texts)]) }
      #expect(rows.integer(0, 0) == Int64(texts.count))
      #expect(rows.integer(0, 1) == nil)
    }
  }

  @Test func `integers, Booleans and nulls have their types`() async throws {
    let rows = try await connected { connection in
      try connection.rows(
        PostgresStatement(
          "types",
          """
          SELECT $1::bigint, $2::bigint, $3::text, true, false
          UNION ALL SELECT 1, 2, 'x', NULL, true
          """),
        [.integer(.min), .integer(.max), .null])
    }
    #expect(rows.count == 2)
    #expect(rows.integer(0, 0) == .min)
    #expect(rows.integer(0, 1) == .max)
    #expect(rows.text(0, 2) == nil)
    #expect(rows.integer(0, 2) == nil)
    #expect(rows.boolean(0, 3) == true)
    #expect(rows.boolean(0, 4) == false)
    #expect(rows.boolean(1, 3) == nil)
    #expect(rows.text(1, 2) == "x")
  }

  @Test func `a NUL in a value is refused, and nothing is executed`() async throws {
    try await connected { connection in
      let text = PostgresStatement("text", "SELECT $1::text")
      let error = failure { _ = try connection.rows(text, [.text("a\0b")]) }
      #expect(error?.kind == .refused)
      #expect(error?.description.contains("text: parameter 1 contains a NUL") == true)
      let array = PostgresStatement("array", "SELECT $1::text[], $2::text[]")
      let other = failure { _ = try connection.rows(array, [.texts(["a"]), .texts(["a", "\0"])]) }
      #expect(other?.description.contains("array: parameter 2 contains a NUL") == true)
      #expect(connection.isUsable)
    }
  }

  @Test func `a value of 64 MiB is sent and received`() async throws {
    let size = 64 << 20
    let rows = try await connected { connection in
      try connection.rows(
        PostgresStatement("large", "SELECT $1::text, length($1::text)"),
        [.text(String(repeating: "0123456789abcdef", count: size / 16))])
    }
    #expect(rows.integer(0, 1) == Int64(size))
    #expect(rows.text(0, 0)?.utf8.count == size)
    #expect(rows.text(0, 0)?.hasSuffix("abcdef") == true)
  }

  @Test func `a quoted name is a name, whatever its characters are`() async throws {
    let name = "t \"x\"; DROP TABLE t'\\"
    let rows = try await connected { connection in
      let quoted = PostgresName.quoted(name)
      _ = try connection.rows(PostgresStatement("create", "CREATE TEMP TABLE \(quoted) (i bigint)"))
      _ = try connection.rows(PostgresStatement("insert", "INSERT INTO \(quoted) VALUES (1)"))
      return try connection.rows(
        PostgresStatement("find", "SELECT count(*) FROM pg_class WHERE relname = $1"),
        [.text(name)])
    }
    #expect(rows.integer(0, 0) == 1)
  }

  @Test func `statements with the same name and other SQL are different`() async throws {
    try await connected { connection throws in
      #expect(try connection.number(PostgresStatement("a", "SELECT 1")) == 1)
      #expect(try connection.number(PostgresStatement("a", "SELECT 2")) == 2)
      #expect(try connection.number(PostgresStatement("a", "SELECT 1")) == 1)
      let count = PostgresStatement("count", "SELECT count(*) FROM pg_prepared_statements")
      #expect(try connection.number(count) == 3)
    }
  }

  // MARK: Transactions

  private static let create = PostgresStatement(
    "create", "CREATE TEMP TABLE t (i bigint PRIMARY KEY, j bigint)")
  private static let insert = PostgresStatement("insert", "INSERT INTO t VALUES ($1::bigint)")
  private static let count = PostgresStatement("count", "SELECT count(*) FROM t")

  @Test func `a transaction is committed, and rolled back if its body throws`() async throws {
    struct Stop: Error {}
    try await connected { connection in
      _ = try connection.rows(Self.create)
      try connection.transaction {
        for number in 1...3 { _ = try connection.rows(Self.insert, [.integer(Int64(number))]) }
      }
      #expect(throws: Stop.self) {
        try connection.transaction {
          _ = try connection.rows(Self.insert, [.integer(4)])
          throw Stop()
        }
      }
      try connection.transaction {}
      #expect(connection.isUsable)
      #expect(try connection.number(Self.count) == 3)
    }
  }

  @Test func `a refused statement fails its transaction, even if the body ignores it`()
    async throws
  {
    try await connected { connection in
      _ = try connection.rows(Self.create)
      let error = failure {
        try connection.transaction {
          for _ in 1...2 { _ = try? connection.rows(Self.insert, [.integer(1)]) }
        }
      }
      #expect(error?.kind == .refused)
      #expect(error?.code == "25P02")
      #expect(connection.isUsable)
      #expect(try connection.number(Self.count) == 0)
    }
  }

  @Test func `a constraint that is checked by the commit refuses the statement`() async throws {
    try await connected { connection in
      let table = "CREATE TEMP TABLE d (i bigint UNIQUE DEFERRABLE INITIALLY DEFERRED)"
      _ = try connection.rows(PostgresStatement("table", table))
      let twice = PostgresStatement("twice", "INSERT INTO d VALUES (1), (1)")
      #expect(failure { _ = try connection.rows(twice) }?.code == "23505")
      let error = failure { try connection.transaction { _ = try connection.rows(twice) } }
      #expect(error?.code == "23505")
      #expect(error?.kind == .refused)
      #expect(connection.isUsable)
      let count = PostgresStatement("count", "SELECT count(*) FROM d")
      #expect(try connection.number(count) == 0)
    }
  }

  // MARK: Failures

  @Test func `a refused statement has the code and the messages of the server`() async throws {
    try await connected { connection in
      _ = try connection.rows(Self.create)
      _ = try connection.rows(Self.insert, [.integer(1)])
      let unique = failure { _ = try connection.rows(Self.insert, [.integer(1)]) }
      #expect(unique?.code == "23505")
      #expect(unique?.kind == .refused)
      #expect(unique?.description.hasPrefix("insert: duplicate key value") == true)
      #expect(unique?.description.contains("Key (i)=(1) already exists") == true)
      let missing = failure { _ = try connection.rows(PostgresStatement("x", "SELECT absurd.f()")) }
      #expect(missing?.code == "3F000")
      #expect(missing?.description.contains("install the schema") == true)
      #expect(try connection.number(Self.count) == 1)
    }
  }

  @Test func `a role without a privilege is refused with advice`() async throws {
    let server = PrivateServer.shared
    let address = try await server.freshSchema()
    try await server.query("CREATE TABLE secret (i bigint)", at: address)
    try await server.query("CREATE ROLE guest LOGIN")
    let schema = address.split(separator: "%3D").last ?? ""
    try await server.query("GRANT USAGE ON SCHEMA \(schema) TO guest")
    let guest = PostgresPool(to: address.replacing("//postgres@", with: "//guest@"))
    let error = await postgresError {
      _ = try await guest.rows(PostgresStatement("read", "SELECT i FROM secret"), [], order: "")
    }
    #expect(error?.kind == .refused)
    #expect(error?.code == "42501")
    #expect(error?.description.contains("grant the role the privilege") == true)
  }

  @Test func `notices are not printed, and many of them do not disturb`() async throws {
    try await PrivateServer.shared.start()
    let address = PrivateServer.shared.address
    let result = await #expect(
      processExitsWith: .success, observing: [\.standardErrorContent, \.standardOutputContent]
    ) { [address = address as String] in
      let connection = try PostgresConnection(to: address, timeout: .seconds(20))
      _ = try connection.rows(
        PostgresStatement(
          "notices",
          "DO $$ BEGIN FOR i IN 1..2000 LOOP RAISE WARNING 'remark %', i; END LOOP; END $$"))
      #expect(try connection.number(PostgresStatement("one", "SELECT 1")) == 1)
    }
    for output in [result?.standardErrorContent, result?.standardOutputContent] {
      #expect(output.map { String(decoding: $0, as: UTF8.self).contains("remark") } == false)
    }
  }
}
