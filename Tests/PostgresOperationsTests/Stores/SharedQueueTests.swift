internal import CompositeOperations
internal import DurableOperations
internal import Foundation
internal import PostgresOperations
internal import TestSupport
internal import Testing

@Suite(.enabled(if: PrivateServer.whatIsMissing == nil), .timeLimit(.minutes(10)))
struct SharedQueueTests {
  @Test func `K4: tasks that the worker does not know are given back, and never failed`()
    async throws
  {
    let queue = try await TestQueue()
    let store = queue.store()
    // One of another language, one of that with the name of a flow, and one of an unknown flow.
    try await queue.query(
      """
      select absurd.spawn_task('default', 'resize', '{"file": 1}');
      select absurd.spawn_task('default', 'Leaf', '{"file": 2}');
      """)
    try await store.start(Crowd(count: 1), named: "unknown")
    let worker = DurableWorker(in: store, running: [Leaf.self]).start()
    #expect(try await store.start(Leaf(name: "a"), named: "r").outcome.result == "a")
    while try await queue.query("select count(*) from absurd.r_default where state = 'sleeping'")
      != "3"
    { try await Task.sleep(for: .milliseconds(20)) }
    worker.cancel()
    _ = await worker.outcome
    let rows = try await queue.query(
      """
      select count(*), min(attempt), max(attempt),
        min(available_at - started_at) > interval '4 s',
        max(available_at - started_at) < interval '16 s'
      from absurd.r_default where state = 'sleeping'
      """)
    #expect(rows == "3|1|1|t|t")
    // Those of other programs are not runs.
    #expect(try await store.runs().map(\.id.text).sorted() == ["r", "unknown"])
  }

  @Test(.enabled(if: PythonWorker.isAvailable), .timeLimit(.minutes(10)))
  func `K4: a worker in Python and one in Swift share a queue`() async throws {
    let queue = try await TestQueue()
    let python = try PythonWorker(queue.address).start()
    let store = queue.store()
    // Each gives back what the other knows, for some seconds.
    let worker = DurableWorker(in: store, running: [Leaf.self], width: .limited(to: 2)).start()
    for number in 0..<5 {
      try await queue.query(
        "select absurd.spawn_task('default', 'double', '{\"number\": \(number)}')")
      try await store.start(Leaf(name: "leaf \(number)"), named: "run-\(number)")
    }
    while try await queue.query("select count(*) from absurd.t_default where state <> 'completed'")
      != "0"
    {
      // Without the wait, which may be repeated for a task that the wrong worker claims again.
      try await queue.query(
        "update absurd.r_default set available_at = absurd.current_time() where state = 'sleeping'")
      try await Task.sleep(for: .milliseconds(50))
    }
    let sum = try await queue.query(
      """
      select sum((completed_payload)::int), count(*) from absurd.t_default
      where task_name = 'double'
      """)
    #expect(sum == "20|5")
    let runs = try await store.runs()
    #expect(runs.count == 5 && runs.allSatisfy { $0.state == .result })
    #expect(try await queue.query("select max(attempt) from absurd.r_default") == "1")
    worker.cancel()
    _ = await worker.outcome
    kill(python.processIdentifier, SIGKILL)
    _ = await python.end()
  }
}

/// A worker of the SDK that Absurd's makers publish for Python.
private struct PythonWorker {
  private static let package = URL(fileURLWithPath: #filePath).pathComponents.dropLast(4)
    .joined(separator: "/")
  private static let library = "\(package)/.build/absurd"

  static var isAvailable: Bool {
    FileManager.default.fileExists(atPath: "\(library)/absurd_sdk")
      && FileManager.default.isExecutableFile(atPath: "/usr/bin/env")
  }

  private let address: String

  init(_ address: String) { self.address = address }

  func start() throws -> RunningProgram {
    var environment = ProcessInfo.processInfo.environment
    environment["PYTHONPATH"] = Self.library
    return try TestProgram(
      "/usr/bin/env",
      [
        "python3", "-c",
        """
        import sys
        from absurd_sdk import Absurd
        app = Absurd(sys.argv[1], queue_name="default")

        @app.register_task(name="double")
        def double(params, ctx):
            return ctx.step("double", lambda: params["number"] * 2)

        app.start_worker(claim_timeout=30, poll_interval=0.3)
        """, address,
      ], environment: environment
    ).start()
  }
}
