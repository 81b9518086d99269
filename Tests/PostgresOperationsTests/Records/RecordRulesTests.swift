internal import Testing

/// Runs the tests that all record databases pass on PostgreSQL.
///
/// Each on a server of its own, because open transactions of other tests would delay the changes.
@Suite(.enabled(if: PrivateServer.missingServer == nil)) struct RecordRulesTests {
  private static let suites = [
    "RecordDatabaseTests", "RecordPredicateTests", "QueryDifferentialTests",
    "ContextOperationTests", "SaveIfNewTests", "BackgroundImportTests",
  ]

  @Test(.timeLimit(.minutes(10)))
  func `the tests of the rules D pass on PostgreSQL`() async throws {
    try await run(Self.suites, expecting: 44, schemas: 100)
  }

  @Test(.timeLimit(.minutes(10)), arguments: 1...4)
  func `random programs on PostgreSQL lose no change and make none twice`(
    part: Int
  ) async throws {
    try await run(["RecordModelTests"], expecting: 1, schemas: 20)
  }

  private func run(_ suites: [String], expecting count: Int, schemas: Int) async throws {
    let server = PrivateServer(settings: ["autovacuum=off"])
    let address = try await server.freshDatabase(hasSchema: false)
    try await BundleTests.run(
      suites, of: "RecordOperationsTests", at: address, width: 1, expecting: count)
    // That they have run on the server. Each database has a schema.
    let found = try await server.query(
      "select count(*) from pg_namespace where nspname like 'test\\_%'", at: address)
    #expect(Int(found) ?? 0 > schemas, "\(found)")
  }
}
