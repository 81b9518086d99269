import SQLiteSupport
import Testing

@Suite struct SQLiteStatementTests {
  static let values: [SQLiteValue] = [
    .null, .integer(.min), .integer(0), .integer(.max), .real(2.5), .real(-.infinity), .text(""),
    .text("a\0é\u{1F600}"), .illFormedText([0xFF, 0x41]), .blob([]), .blob([0, 255]),
  ]

  @Test func `every value that is bound is returned unchanged`() throws {
    let file = try TemporaryFile()
    let connection = try file.connect()
    for value in Self.values {
      let found = try connection.fetchOne("SELECT ?1", [value]) { $0.value(at: 0) }
      #expect(found == value)
    }
  }

  @Test func `columns are read as integers, doubles, text, bytes and null`() throws {
    let file = try TemporaryFile()
    let connection = try file.connect()
    try connection.withCachedStatement("SELECT 7, 2.5, 'é', x'00FF', NULL, CAST(x'FF' AS TEXT)") {
      row in
      let hasRow = try row.step()
      #expect(hasRow)
      #expect(row.columnCount == 6)
      #expect(row.integer(at: 0) == 7)
      #expect(row.double(at: 1) == 2.5)
      #expect(row.text(at: 2) == "é")
      #expect(row.bytes(at: 3) == [0, 255])
      #expect(row.isNull(at: 4) && row.text(at: 4) == nil && row.bytes(at: 4) == [])
      #expect(row.text(at: 5) == nil && row.bytes(at: 5) == [0xFF])
      #expect(row.withBytes(at: 2) { $0.byteCount } == 2)
      let hasNext = try row.step()
      #expect(!hasNext)
    }
  }

  @Test func `a cached statement can be used while it is in use`() throws {
    let file = try TemporaryFile()
    let connection = try file.connectWithTable()
    for i in 1...3 { try connection.execute("INSERT INTO T VALUES (?1, ?1)", [.integer(Int64(i))]) }
    let sql = "SELECT i FROM T WHERE i > ?1 ORDER BY i"
    let pairs = try connection.fetchAll(sql, [.integer(0)]) { row in
      let after = try connection.fetchAll(sql, [.integer(row.integer(at: 0))]) { $0.integer(at: 0) }
      return [row.integer(at: 0)] + after
    }
    #expect(pairs == [[1, 2, 3], [2, 3], [3]])
  }

  @Test func `a cached statement has no values of its last use`() throws {
    let file = try TemporaryFile()
    let connection = try file.connect()
    let sql = "SELECT ?1"
    #expect(try connection.fetchOne(sql, [.integer(7)]) { $0.value(at: 0) } == .integer(7))
    #expect(try connection.fetchOne(sql) { $0.value(at: 0) } == .null)
  }

  @Test(arguments: ["", "-- nothing", "SELECT 1; SELECT 2"])
  func `a statement must be a single one`(sql: String) throws {
    let file = try TemporaryFile()
    let connection = try file.connect()
    #expect(failure { try connection.execute(sql) } != nil)
  }

  @Test func `names and text are quoted, and bytes are literals`() throws {
    let file = try TemporaryFile()
    let connection = try file.connect()
    let name = try SQLiteName.quoted("a\"b'c")
    try connection.execute("CREATE TABLE \(name) (x)")
    #expect(
      try connection.fetchOne("SELECT name FROM sqlite_schema") { $0.text(at: 0) } == "a\"b'c")
    let text = try SQLiteName.literal("it's \"x\"")
    #expect(try connection.fetchOne("SELECT \(text)") { $0.text(at: 0) } == "it's \"x\"")
    let blob = SQLiteName.literal([0, 0xAB])
    #expect(try connection.fetchOne("SELECT \(blob)") { $0.bytes(at: 0) } == [0, 0xAB])
  }
}
