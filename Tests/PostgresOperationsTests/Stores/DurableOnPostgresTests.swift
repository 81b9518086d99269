internal import Testing

/// Runs the tests of durable flows on a queue in place of SQLite.
@Suite(.enabled(if: PrivateServer.whatIsMissing == nil)) struct DurableOnPostgresTests {
  private static let suites = [
    "ValueTests", "NameTests", "ResumingTests", "JournaledTests", "RetryingTests", "StuckTests",
    "WaitingTests", "CancellingTests", "ChildFlowTests", "WorkerTests", "DeploymentTests",
    "RenamingTests",
  ]

  @Test(.timeLimit(.minutes(10)))
  func `K1: the tests of the rules J pass on a queue`() async throws {
    let address = try await PrivateServer.shared.freshDatabase()
    try await BundleTests.run(
      Self.suites, of: "DurableOperationsTests", at: address, width: 4, expecting: 96)
    // That they have run on the queue.
    let queues = try await PrivateServer.shared.query(
      "select count(*) from absurd.queues", at: address)
    #expect(Int(queues) ?? 0 > 50)
  }
}
