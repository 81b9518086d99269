internal import Testing

/// Runs the random programs of mirrors with a remote database in PostgreSQL.
@Suite(.enabled(if: PrivateServer.missingServer == nil)) struct MirrorModelTests {
  /// On a server of its own, because open transactions of other tests would delay the changes.
  @Test(.timeLimit(.minutes(60)))
  func `replicas of a PostgreSQL database end equal with cut connections, and no edit is lost`()
    async throws
  {
    let server = PrivateServer(settings: ["autovacuum=off"])
    let address = try await server.freshDatabase(hasSchema: false)
    try await BundleTests.run(
      ["RecordMirrorModelTests"], of: "RecordOperationsTests", at: address, width: 1, expecting: 1)
    let log = try await server.log()
    #expect(log.contains("terminating connection due to administrator command"))
  }
}
