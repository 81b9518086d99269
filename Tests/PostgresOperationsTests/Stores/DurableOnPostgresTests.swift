internal import Foundation
internal import TestSupport
internal import Testing

/// Runs the tests of durable flows on a queue in place of SQLite.
@Suite(.enabled(if: PrivateServer.whatIsMissing == nil)) struct DurableOnPostgresTests {
  private static let suites = [
    "ValueTests", "NameTests", "ResumingTests", "JournaledTests", "RetryingTests", "StuckTests",
    "WaitingTests", "CancellingTests", "ChildFlowTests", "WorkerTests", "DeploymentTests",
  ]

  @Test(.timeLimit(.minutes(10)))
  func `K1: the tests of the rules J pass on a queue`() async throws {
    let address = try await PrivateServer.shared.freshDatabase()
    var environment = ProcessInfo.processInfo.environment
    environment["COMPOSITE_TEST_STORE"] = address
    environment["SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH"] = "4"
    let folder = try TemporaryFolder()
    let path = folder.url.appendingPathComponent("output").path
    try Data().write(to: URL(fileURLWithPath: path))
    let output = try #require(FileHandle(forWritingAtPath: path))
    let tests = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().path
    let status = try await TestProgram(
      tests,
      [
        "--testing-library", "swift-testing", "--filter",
        "DurableOperationsTests\\.(\(Self.suites.joined(separator: "|")))",
      ], environment: environment
    ).start(output: output, error: output).end()
    try output.close()
    let text = try String(contentsOfFile: path, encoding: .utf8)
    let problems = text.split(separator: "\n").filter {
      $0.contains("recorded an issue") || $0.contains("Fatal error")
    }
    #expect(status == 0, "\(problems.joined(separator: "\n")) \(text.suffix(500))")
    // That they have run, and on the queue.
    let queues = try await PrivateServer.shared.query(
      "select count(*) from absurd.queues", at: address)
    #expect(Int(queues) ?? 0 > 50)
    let count = text.firstMatch(of: /run with (\d+) tests/).flatMap { Int($0.1) }
    #expect(count ?? 0 >= 90, "\(text.suffix(300))")
  }
}
