import CompositeOperations
import DurableOperations
import Foundation

/// A wall clock that a test sets.
final class TestTime: Sendable {
  private let lock = Lock(Date(timeIntervalSince1970: 1_800_000_000))

  private let server: TestServer?

  init(_ server: TestServer? = nil) { self.server = server }

  var now: Date { lock.withLock { $0 } }

  func pass(_ duration: Duration) {
    lock.withLock { $0 += duration / .seconds(1) }
    server?.pass(duration)
  }
}

/// A store with a wall clock that the test sets.
struct TestStore: Sendable {
  let store: RunStore
  let time: TestTime

  /// - Parameter file: The file; nil for a store in memory.
  init(_ file: String? = nil, _ options: RunStoreOptions = RunStoreOptions()) {
    var options = options
    let server = TestServer(forFile: file)
    let time = TestTime(server)
    self.time = time
    options.now = { time.now }
    store =
      server?.store(options) ?? file.map { .sqlite($0, options: options) }
      ?? .memory(options: options)
  }

  /// Claims a run, and runs it until it ends or has to wait.
  func attempt<Flow: DurableSequence>(
    _ id: RunID, of flow: Flow.Type
  ) async throws -> RunProgress {
    try await Attempt(driver: RunDriver(id, of: flow, in: store.backend)).run().get()
  }

  /// Runs a flow until it ends or has to wait, and returns its row.
  @discardableResult
  func run<Flow: DurableSequence>(
    _ flow: Flow, _ id: RunID = "r"
  ) async throws -> StoredRun {
    _ = try await store.backend.start(flow, named: id)
    _ = try await attempt(id, of: Flow.self)
    return try await row(id)
  }

  /// Starts the run `r`, which its first process leaves after it has stored a part of step 0.
  func interrupt<Flow: DurableSequence>(
    _ flow: Flow, afterStoring value: String, as kind: RunDetails.Kind, under key: String,
    ofStep name: String, attempts: Int = 1
  ) async throws {
    let backend = store.backend
    _ = try await backend.start(flow, named: "r")
    guard case .claimed(let claim) = try await backend.claim("r") else {
      throw CodableError(code: 409)
    }
    try await backend.store(
      key: StoredStep(
        position: 0, key: key, name: name, kind: kind, value: value, attempts: attempts, fence: 1,
        began: 0, ended: 0), by: claim.token)
    try await backend.release(by: claim.token)
  }

  func row(_ id: RunID = "r") async throws -> StoredRun {
    guard let run = try await store.backend.run(id) else { throw CodableError(code: 404) }
    return run
  }

  /// Whether two times in milliseconds are equal. A server has a clock of its own, which runs.
  func isEqual(_ time: Int64?, _ other: Int64) -> Bool {
    guard let time else { return false }
    return TestServer.isAbsent ? time == other : abs(time - other) < 20_000
  }

  func outcome<Flow: DurableSequence>(
    _ id: RunID = "r", of flow: Flow.Type
  ) async throws -> Outcome<Flow.Output> {
    try await store.backend.outcome(of: row(id), as: flow)
  }

  private struct Attempt: ComposableOperation {
    let driver: RunDriver

    func perform(in context: OperationContext) async throws -> RunProgress {
      try await driver.attempt(in: context)
    }
  }
}

extension RunStore {
  /// A new store in memory, or in a new queue on the server of the tests.
  static func test(options: RunStoreOptions = RunStoreOptions()) -> RunStore {
    TestServer(forFile: nil)?.store(options) ?? .memory(options: options)
  }

  /// A store in a file, or in a queue on the server of the tests that belongs to the file.
  static func test(_ file: String, options: RunStoreOptions = RunStoreOptions()) -> RunStore {
    TestServer(forFile: file)?.store(options) ?? .sqlite(file, options: options)
  }
}
