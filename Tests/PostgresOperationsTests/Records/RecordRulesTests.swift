internal import Testing

/// Runs the tests that all record databases pass on PostgreSQL.
@Suite(.enabled(if: PrivateServer.missingServer == nil)) struct RecordRulesTests {
  private static let suites = [
    "RecordDatabaseTests", "RecordPredicateTests", "QueryDifferentialTests", "RecordModelTests",
    "ContextOperationTests", "SaveIfNewTests", "BackgroundImportTests",
  ]

  /// On a server of its own, because open transactions of other tests would delay the changes.
  @Test(.timeLimit(.minutes(10)))
  func `the tests of the rules D pass on PostgreSQL`() async throws {
    let server = PrivateServer(settings: ["autovacuum=off"])
    let address = try await server.freshDatabase(hasSchema: false)
    try await BundleTests.run(
      Self.suites, of: "RecordOperationsTests", at: address, width: 1, expecting: 45)
    // That they have run on the server. Each database has a schema.
    let schemas = try await server.query(
      "select count(*) from pg_namespace where nspname like 'test\\_%'", at: address)
    #expect(Int(schemas) ?? 0 > 200, "\(schemas)")
  }
}
