internal import CompositeOperations
internal import DurableOperations
internal import PostgresOperations
internal import Testing

/// A server whose clock differs from the clock of this machine.
@Suite(.enabled(if: PrivateServer.whatIsMissing == nil), .timeLimit(.minutes(10)))
struct ServerClockTests {
  /// A flow that sleeps for an hour.
  private struct Nap: DurableSequence {
    mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
      previous == nil ? DurableSleep(for: .seconds(3_600)) : nil
    }

    func output(of steps: FinishedSteps) -> Int { steps.count }
  }

  private struct Attempt: ComposableOperation {
    let driver: RunDriver

    func perform(in context: OperationContext) async throws -> RunProgress {
      try await driver.attempt(in: context)
    }
  }

  /// Sets the clock of the server of a queue.
  private func set(_ queue: TestQueue, ahead interval: String) async throws {
    try await queue.query(
      """
      create or replace function absurd.current_time() returns timestamptz language sql volatile
      as 'select clock_timestamp() + interval ''\(interval)'''
      """)
  }

  private func attempt(_ store: RunStore) async throws -> RunState? {
    _ = try await Attempt(driver: RunDriver("r", of: Nap.self, in: store.backend)).run().get()
    return try await store.summary(of: "r")?.state
  }

  @Test(arguments: [false, true])
  func `K11: a wait ends by the clock of the server`(isOtherProcess: Bool) async throws {
    let queue = try await TestQueue()
    var store = queue.store()
    try await store.start(Nap(), named: "r")
    #expect(try await attempt(store) == .parked)
    try await set(queue, ahead: "59 minutes")
    if isOtherProcess { store = queue.store() }
    #expect(try await attempt(store) == .parked)
    try await set(queue, ahead: "61 minutes")
    #expect(try await attempt(store) == .result)
  }

  @Test func `K11: a worker waits by the clock of a server that is behind`() async throws {
    let queue = try await TestQueue()
    try await set(queue, ahead: "-1 day")
    let store = queue.store()
    let worker = DurableWorker(in: store, running: [Everything.self, Leaf.self]).start()
    let run = try await store.start(Everything(), named: "r")
    try await store.send(7, as: "go", to: "r")
    #expect(try await run.outcome.get() == Everything.log)
    worker.cancel()
    _ = await worker.outcome
    await store.close()
  }
}
