import Foundation
import SQLiteSupport
import Testing

@Suite struct SQLiteErrorTests {
  /// A result code, with the kind and a part of the description that callers get.
  static let codes: [(code: Int32, message: String, SQLiteError.Kind, part: String)] = [
    (5, "database is locked", .busy, "locked by another connection"),
    (6, "table is locked", .busy, "locked by another connection"),
    (15, "locking protocol", .busy, "too many connections"),
    (13, "full", .diskFull, "is full, or the file has reached its maximum size: free some space"),
    (
      10 | 19 << 8, "disk I/O error", .diskFull,
      "is full, or the file has reached its maximum size: free"
    ),
    (10 | 3 << 8, "disk I/O error", .inputOutput, "(disk I/O error, 778): check its disk"),
    (11, "malformed", .corrupt, "damaged (malformed): restore a backup"),
    (26, "file is not a database", .notADatabase, "is encrypted: check the path"),
    (7, "out of memory", .outOfMemory, "out of memory for"),
    (8, "attempt to write", .notPermitted, "cannot be written (attempt to write)"),
    (8 | 3 << 8, "", .notPermitted, "not writable. Open the file once where it can be written"),
    (8 | 6 << 8, "", .readOnlyFolder, "SQLite must create files in its folder"),
    (9, "interrupted", .interrupted, "SQLite 9: interrupted"),
    (18, "string or blob too big", .tooLarge, "too large for SQLite"),
    (20, "datatype mismatch", .typeMismatch, "does not match the type of its column"),
    (19 | 5 << 8, "NOT NULL constraint failed: T.t", .constraint, "T.t must not be null"),
    (1, "unsafe use of load_extension()", .untrustedSchema, "set trustsSchema"),
    (1, "no such module: geo", .invalidStatement, "the module geo, which is part of the program"),
    (1, "syntax error", .invalidStatement, "SQLite 1: syntax error"),
    (21, "bad parameter", .other, "SQLite 21: bad parameter"),
  ]

  @Test(arguments: codes)
  func `an error has a kind, what failed and what to do`(
    code: Int32, message: String, kind: SQLiteError.Kind, part: String
  ) {
    let error = SQLiteError(code: code, message: message, file: "/tmp")
    #expect(error.kind == kind)
    #expect(error.description.contains(part), "\(error)")
    #expect(error.code == code && error.primaryCode == code & 0xFF)
  }

  @Test func `an error of a file names the file, and its advice is a part of the description`() {
    for (code, message, kind, _) in Self.codes where kind == .diskFull || kind == .corrupt {
      let error = SQLiteError(code: code, message: message, file: "/a/b.sqlite")
      #expect(error.problem.contains("/a/b.sqlite"))
      #expect(error.advice.map { error.description.hasSuffix($0) } == true)
    }
  }

  @Test func `a long statement is cut off in the description`() {
    let error = SQLiteError(
      code: 1, message: "m", sql: String(repeating: "x", count: 1_000), file: "f")
    #expect(error.sql.count == 121 && error.description.count < 200)
  }

  @Test func `errors of statements have the kinds by which callers continue`() throws {
    let file = try TemporaryFile()
    let connection = try file.connectWithTable()
    try connection.execute("CREATE TABLE U (i INTEGER REFERENCES T)")
    try connection.execute("INSERT INTO T VALUES (1, 'a')")
    let duplicate = try #require(
      failure { try connection.execute("INSERT INTO T VALUES (1, 'b')") })
    #expect(duplicate.isPrimaryKeyViolation && duplicate.isOfStatement)
    let unique = try #require(failure { try connection.execute("INSERT INTO T VALUES (2, 'a')") })
    #expect(unique.kind == .constraint && !unique.isPrimaryKeyViolation)
    #expect(unique.description == "another record has the same T.t")
    let orphan = try #require(failure { try connection.execute("INSERT INTO U VALUES (7)") })
    #expect(orphan.isForeignKeyViolation && orphan.isOfStatement)
    let missing = try #require(failure { try connection.execute("SELECT * FROM V") })
    #expect(missing.kind == .invalidStatement && missing.isOfStatement)
    let name = try #require(failure { _ = try SQLiteName.quoted("a\0b") })
    #expect(name.kind == .invalidName && name.isOfStatement)
  }

  @Test func `a file that cannot be opened has the reason as its kind`() throws {
    let file = try TemporaryFile()
    func kind(_ path: String, _ access: SQLiteConfiguration.Access) -> SQLiteError.Kind? {
      failure {
        _ = try SQLiteConnection.open(path, for: .writing, SQLiteConfiguration(access: access))
      }?.kind
    }
    #expect(kind(file.path, .existing) == .fileNotFound)
    #expect(kind(file.path, .readOnly) == .notPermitted)
    #expect(kind("/tmp", .create) == .cannotOpen)
    #expect(kind("a\0b", .create) == .cannotOpen)
    #expect(kind(file.folder + "/missing/x.sqlite", .create) == .fileNotFound)
    try Data(String(repeating: "no database ", count: 1_000).utf8)
      .write(to: URL(fileURLWithPath: file.path))
    #expect(kind(file.path, .create) == .notADatabase)
  }
}
