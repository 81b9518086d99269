import CompositeOperations
import Foundation
import SQLiteSupport
import TestSupport
import Testing

/// `coop records mirror` with two files.
@Suite(.timeLimit(.minutes(10))) struct RecordsMirrorTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Changes a file as another program does.
  private func edit(_ file: String, _ sql: String) throws {
    try Self.edit(path(file), sql)
  }

  private func path(_ file: String) -> String { folder.url.appendingPathComponent(file).path }

  private static func edit(_ path: String, _ sql: String) throws {
    let connection = try SQLiteConnection.open(path, for: .writing, SQLiteConfiguration())
    try connection.execute(sql)
  }

  private func program(_ arguments: String...) -> Program {
    var program = Program.coop(in: folder.url)
    program.arguments = ["records", "mirror", "x.sqlite", "y.sqlite"] + arguments
    return program
  }

  @Test func `a mirror of all tables of files names those that it leaves out`() async throws {
    try edit("x.sqlite", "CREATE TABLE note (text)")
    try edit("y.sqlite", "CREATE TABLE book (id TEXT PRIMARY KEY, title)")
    try edit("y.sqlite", "INSERT INTO book VALUES ('a', 'Emma')")
    try edit("y.sqlite", "CREATE TABLE author (name)")
    try edit("y.sqlite", "CREATE VIEW title AS SELECT title FROM book")
    try edit("y.sqlite", "CREATE VIRTUAL TABLE words USING fts5 (text)")
    let printed = try await program("--once").run()
    #expect(printed.status == 0)
    #expect(
      printed.error == """
        note of x.sqlite is left out: it has no primary key that can be the name of a record
        author of y.sqlite is left out: it has no primary key that can be the name of a record
        words of y.sqlite is left out: it is a virtual table, whose changes SQLite reports to no trigger
        1 saved

        """, "\(printed.error)")
  }

  @Test func `each round says which records are rejected, also those of earlier rounds`()
    async throws
  {
    try edit("y.sqlite", "CREATE TABLE book (id TEXT PRIMARY KEY, pages CHECK (pages > 0))")
    try edit("x.sqlite", "CREATE TABLE book (id TEXT PRIMARY KEY, pages)")
    try edit("x.sqlite", "INSERT INTO book VALUES ('a', 0), ('b', 1)")
    for (round, count) in [(1, 1), (2, 0)] {
      let printed = try await program("--once", "--json").run()
      #expect(printed.status == 1)
      #expect(printed.error.hasPrefix("rejected: book/a: "), "\(round): \(printed.error)")
      #expect(printed.error.split(separator: "\n").count == 1, "\(round): \(printed.error)")
      let json = try JSONSerialization.jsonObject(with: printed.output) as? [String: Any]
      #expect(json?["rejected"] as? Int == count, "\(round): \(printed.text)")
      let rejections = try #require(json?["rejections"] as? [String: String])
      #expect(Array(rejections.keys) == ["book/a"], "\(round): \(rejections)")
      #expect(rejections["book/a"]?.contains("CHECK") == true, "\(round): \(rejections)")
    }
    let printed = try await follow { path in
      try await eventually { Self.text(path).contains("rejected: ") }
    }
    let lines = printed.split(separator: "\n")
    #expect(lines.first?.hasPrefix("rejected: book/a: ") == true, "\(printed)")
    #expect(lines.filter { $0.hasPrefix("rejected") }.count == 1, "\(printed)")
    #expect(lines.last?.hasSuffix("; 1 record rejected") == true, "\(printed)")
  }

  @Test func `a mirror that follows names tables that are created later`() async throws {
    try edit("y.sqlite", "CREATE TABLE book (id TEXT PRIMARY KEY, title)")
    try edit("y.sqlite", "INSERT INTO book VALUES ('a', 'Emma')")
    let (output, remote) = (path("output"), path("y.sqlite"))
    let printed = try await follow { path in
      try await eventually { Self.text(output).contains("saved book/a") }
      try Self.edit(remote, "CREATE TABLE author (id TEXT PRIMARY KEY)")
      try Self.edit(remote, "CREATE TABLE note (text)")
      try await eventually { Self.text(path).contains("note of y.sqlite is left out: ") }
    }
    let new = "author is a new table; this command mirrors it when it is started again\n"
    #expect(printed.hasPrefix(new + "note of y.sqlite is left out: "), "\(printed)")
    #expect(printed.split(separator: "\n").count == 3, "\(printed)")
  }

  private static func text(_ path: String) -> String {
    (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
  }

  /// Runs rounds each second until a closure returns.
  ///
  /// - Parameter body: Receives the path of the file with the errors.
  /// - Returns: The errors.
  private func follow(_ body: @escaping @Sendable (String) async throws -> Void) async throws
    -> String
  {
    let path = path("errors")
    var program = program()
    program.arguments = [
      "-c", "exec \"$0\" records mirror x.sqlite y.sqlite --interval 1 >output 2>errors",
      program.executable.path,
    ]
    program.executable = URL(fileURLWithPath: "/bin/sh")
    let printed = try await program.run { process in
      try await body(path)
      kill(process, SIGINT)
    }
    #expect(printed.status == 130)
    return Self.text(path)
  }
}
