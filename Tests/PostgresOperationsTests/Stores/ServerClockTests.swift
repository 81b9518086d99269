internal import CompositeOperations
internal import DurableOperations
internal import Foundation
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

  @Test func `K11: a slow server clock is the clock of a new connection, and of stored times`()
    async throws
  {
    let queue = try await TestQueue()
    try await set(queue, ahead: "-1 day")
    let store = queue.store()
    // No run is read that would show the time.
    #expect(try await store.runs(limit: 1).isEmpty)
    let yesterday = Date() - 86_400
    #expect(abs(store.now.timeIntervalSince(yesterday)) < 600)
    let worker = DurableWorker(in: store, running: [Everything.self, Leaf.self]).start()
    let run = try await store.start(Everything(), named: "r")
    try await store.send(7, as: "go", to: "r")
    #expect(try await run.outcome.get() == Everything.log)
    worker.cancel()
    _ = await worker.outcome
    for step in try #require(try await store.run("r")).steps {
      #expect(abs(step.ended.timeIntervalSince(yesterday)) < 600, "\(step.ended)")
    }
    await store.close()
  }

  @Test func `K11: runs are forgotten by the clock of the server`() async throws {
    let queue = try await TestQueue()
    let store = queue.store()
    try await store.start(Leaf(name: "leaf"), named: "r")
    try await store.cancel("r")
    try await set(queue, ahead: "59 minutes")
    #expect(try await queue.store().forget(olderThan: .seconds(3_600)) == 0)
    // Longer than any interval of the server.
    #expect(try await queue.store().forget(olderThan: .seconds(Int64.max / 1_000)) == 0)
    try await set(queue, ahead: "61 minutes")
    #expect(try await queue.store().forget(olderThan: .seconds(3_600)) == 1)
  }

  @Test func `K11: a slow answer, or a clock of the machine that is set, changes no time`() {
    let options = RunStoreOptions()
    let start = ContinuousClock.now
    func machine(_ elapsed: Int64, set: Int64 = 0) -> ServerClock.MachineTime {
      ServerClock.MachineTime(
        clock: 50_000 + elapsed + set, elapsed: start + .milliseconds(elapsed))
    }
    let clock = ServerClock(options)
    func now(_ elapsed: Int64, set: Int64 = 0) -> Int64 {
      clock.now(at: machine(elapsed, set: set), machine(elapsed, set: set).clock)
    }
    #expect(now(0) == 50_000)
    // Less than a second is no difference.
    clock.compare(50_900, asked: machine(0), answered: machine(10))
    #expect(now(10) == 50_010)
    let hour: Int64 = 3_600_000
    clock.compare(50_020 + hour, asked: machine(10), answered: machine(30))
    #expect(now(30) == 50_030 + hour)
    // The server may have read its clock at any time between.
    for time: Int64 in [50_100, 55_000, 60_100] {
      clock.compare(time + hour, asked: machine(100), answered: machine(10_100))
      #expect(now(10_100) == 60_100 + hour)
    }
    for set in [-hour, hour] {
      #expect(now(10_200, set: set) == 60_200 + hour)
      // Between a request and its answer.
      clock.compare(60_300 + hour, asked: machine(10_300), answered: machine(10_310, set: set))
      #expect(now(10_310, set: set) == 60_310 + hour)
    }
    clock.compare(
      60_400 + hour, asked: machine(10_400, set: hour), answered: machine(10_400, set: hour))
    #expect(now(10_500, set: hour) == 60_500 + hour)
    #expect(now(10_500, set: 2 * hour) == 60_500 + hour)
    // The clock of the server is corrected.
    clock.compare(60_600, asked: machine(10_600, set: hour), answered: machine(10_600, set: hour))
    #expect(now(10_600, set: hour) == 60_600)
  }
}
