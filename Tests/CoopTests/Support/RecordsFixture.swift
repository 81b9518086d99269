import Foundation
import TestSupport

/// A schema of a PostgreSQL server, and a folder for files.
final class RecordsFixture: Sendable {
  let folder: TemporaryFolder
  let address: String
  let schema = "test_" + UUID().uuidString.prefix(8).lowercased()
  private let psql: String

  /// - Parameter sql: Statements that create tables of another program.
  init(
    _ sql: String = "", on server: Task<TestServer.Place, any Error> = TestServer.ofRecords
  ) async throws {
    folder = try TemporaryFolder()
    (address, psql) = try await server.value
    try await run("create schema \(schema)")
    try await run(sql)
  }

  /// Runs SQL as another program does.
  @discardableResult func run(_ sql: String) async throws -> [String] {
    let printed = try await Program(
      executable: URL(fileURLWithPath: psql),
      arguments: [
        "-XqAt", "-v", "ON_ERROR_STOP=1", address, "-c", "set search_path = \(schema)", "-c", sql,
      ]
    ).run()
    if printed.status != 0 { throw TestServer.Failure(description: printed.error) }
    return lines(printed)
  }

  /// `coop records`, where `PG` is the address and the schema.
  func program(_ arguments: [String]) -> Program {
    var program = Program.coop(in: folder.url)
    program.arguments =
      ["records"] + arguments.flatMap { $0 == "PG" ? [address, "--schema", schema] : [$0] }
    return program
  }

  func records(_ arguments: String...) async throws -> ProgramResult {
    try await program(arguments).run()
  }
}

/// The lines of the standard output.
func lines(_ printed: ProgramResult) -> [String] {
  printed.text.split(separator: "\n").map(String.init)
}
