import CompositeOperations
import CompositeOperationsTestKit
import DurableOperations
import DurableOperationsTestKit
import DurableTestSupport
import Foundation
import Testing

@Suite(.timeLimit(.minutes(10))) struct WaitingTests {
  // The clock of a server advances, and the clock of the test does not.
  @Test(.enabled(if: TestServer.isAbsent))
  func `J18: a long sleep parks the run until its time, which is fixed once`() async throws {
    let test = TestStore()
    let wake = Int64(test.time.now.timeIntervalSince1970 + 60) * 1_000
    #expect(try await test.run(Single(.sleep)).state == .parked)
    #expect(test.isEqual(try await test.row().wake, wake))
    test.time.pass(.seconds(59))
    #expect(try await test.run(Single(.sleep)).state == .parked)
    #expect(test.isEqual(try await test.row().wake, wake))
    test.time.pass(.seconds(1))
    #expect(try await test.run(Single(.sleep)).state == .result)
  }

  @Test func `J18: a time that has passed while no process ran causes no wait`() async throws {
    let test = TestStore()
    #expect(try await test.run(Single(.sleep)).state == .parked)
    test.time.pass(.seconds(86_400))
    #expect(try await test.run(Single(.sleep)).state == .result)
  }

  @Test func `J18: a short sleep does not park the run`() async throws {
    let test = TestStore(nil, RunStoreOptions(parkingThreshold: .seconds(120)))
    // The wait is on the clock of the environment, which passes with that of the store.
    let flow = DurableOperation(Single(.sleep), named: "r", in: test.store)
    let clock = ManualClock()
    let run = flow.start(in: OperationEnvironment(clock: clock))
    await clock.waitForSleepers(1)
    #expect(try await test.row().state == .running)
    test.time.pass(.seconds(60))
    clock.advance(by: .seconds(60))
    #expect(await run.outcome.result != nil)
  }

  @Test func `J18: outside a durable run, a sleep waits on the clock of the environment`()
    async throws
  {
    let clock = ManualClock()
    let run = DurableSleep(for: .seconds(5)).start(in: OperationEnvironment(clock: clock))
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(5))
    #expect(await run.outcome.result != nil)
  }

  @Test(arguments: [0, -5, Int64.max])
  func `J18: zero, negative and endless sleeps`(seconds: Int64) async throws {
    let test = TestStore()
    let run = try await test.run(SleepFlow(seconds: seconds))
    #expect(run.state == (seconds > 0 ? .parked : .result))
  }

  @Test(arguments: [true, false])
  func `J19: an event that was sent before or after the wait began is returned`(isEarly: Bool)
    async throws
  {
    let test = TestStore()
    try await test.store.start(Single(.event), named: "r")
    if isEarly { try await test.store.send(5, as: "go", to: "r") }
    #expect(try await test.run(Single(.event)).state == (isEarly ? .result : .parked))
    if !isEarly {
      try await test.store.send(5, as: "go", to: "r")
      #expect(try await test.row().state == .ready)
      #expect(try await test.run(Single(.event)).state == .result)
    }
    #expect(try await test.outcome(of: Single.self).get() == 5)
  }

  @Test func `J19: the first event of a name counts, and other names do not`() async throws {
    let test = TestStore()
    try await test.store.start(Single(.event), named: "r")
    try await test.store.send(1, as: "other", to: "r")
    #expect(try await test.run(Single(.event)).state == .parked)
    try await test.store.send(2, as: "other", to: "r")
    #expect(try await test.row().state == .parked)
    try await test.store.send(5, as: "go", to: "r")
    try await test.store.send(6, as: "go", to: "r")
    #expect(try await test.run(Single(.event)).state == .result)
    #expect(try await test.outcome(of: Single.self).get() == 5)
  }

  @Test func `J19: after its limit, the wait for an event ends in a timeout error`() async throws {
    let test = TestStore()
    #expect(try await test.run(Single(.limitedEvent)).state == .parked)
    test.time.pass(.seconds(60))
    #expect(try await test.run(Single(.limitedEvent)).state == .error)
    let error = try await test.outcome(of: Single.self).error as? SequentialOperationError
    #expect(
      error?.cause as? TimeoutError == TimeoutError(name: "AwaitedEvent(go)", limit: .seconds(60)))
  }

  @Test func `J19: an event that is sent after the limit does not count`() async throws {
    let test = TestStore()
    #expect(try await test.run(Single(.limitedEvent)).state == .parked)
    test.time.pass(.seconds(61))
    #expect(try await !test.store.send(5, as: "go", to: "r"))
    #expect(try await test.run(Single(.limitedEvent)).state == .error)
    // It was sent in time, and a process reads it after the limit.
    let other = TestStore()
    #expect(try await other.run(Single(.limitedEvent)).state == .parked)
    other.time.pass(.seconds(59))
    #expect(try await other.store.send(5, as: "go", to: "r"))
    other.time.pass(.seconds(60))
    // The time of the first one stays.
    #expect(try await other.store.send(6, as: "go", to: "r", replacing: true))
    #expect(try await other.run(Single(.limitedEvent)).state == .result)
    #expect(try await other.outcome(of: Single.self).get() == 6)
  }

  @Test(.enabled(if: TestServer.isAbsent))
  func `J19: an event that was sent late to a run that is not parked does not count`() async throws
  {
    try await withTemporaryFile { file in
      let test = TestStore(file)
      try await test.interrupt(
        Single(.limitedEvent), afterStoring: "\(test.store.backend.options.milliseconds + 60_000)",
        as: .wake, under: "@event:go", ofStep: "AwaitedEvent(go)")
      // No process runs it.
      test.time.pass(.seconds(60))
      #expect(try await test.store.send(4, as: "other", to: "r"))
      test.time.pass(.seconds(1))
      #expect(try await !test.store.send(5, as: "go", to: "r"))
      #expect(try await test.store.events(of: "r").map(\.name) == ["other"])
      // A process that runs it decides by itself.
      guard case .claimed(let claim) = try await test.store.backend.claim("r") else {
        Issue.record("the run was not claimed")
        return
      }
      #expect(try await test.store.send(5, as: "go", to: "r"))
      try await test.store.backend.release(by: claim.token)
      #expect(try await test.run(Single(.limitedEvent)).state == .error)
    }
  }

  @Test func `J19: send says whether the event counts, and replaces one that no step has received`()
    async throws
  {
    let test = TestStore()
    try await test.store.start(Single(.event), named: "r")
    #expect(try await test.store.send("wrong", as: "go", to: "r"))
    #expect(try await !test.store.send(4, as: "go", to: "r"))
    #expect(try await test.run(Single(.event)).state == .error)
    // The retry gives the event back.
    try await test.store.retry("r", from: 0)
    #expect(try await test.store.send(5, as: "go", to: "r", replacing: true))
    #expect(try await test.run(Single(.event)).state == .result)
    #expect(try await test.outcome(of: Single.self).get() == 5)
  }

  @Test func `J19: an event that has failed the last step is replaced before the retry`()
    async throws
  {
    let test = TestStore()
    try await test.store.start(Single(.event), named: "r")
    try await test.store.send("wrong", as: "go", to: "r")
    #expect(try await test.run(Single(.event)).state == .error)
    // A worker would take the old one right after the retry.
    #expect(try await test.store.send(5, as: "go", to: "r", replacing: true))
    for (event, replaces) in [("go", false), ("other", true)] {
      let error = await #expect(throws: RunStoreError.self) {
        try await test.store.send(6, as: event, to: "r", replacing: replaces)
      }
      #expect(error?.reason == .wrongState)
    }
    try await test.store.retry("r")
    #expect(try await test.run(Single(.event)).state == .result)
    #expect(try await test.outcome(of: Single.self).get() == 5)
    await #expect(throws: RunStoreError.self) {
      try await test.store.send(6, as: "go", to: "r", replacing: true)
    }
  }

  @Test func `J19: an event that a finished step has received is not replaced before a retry`()
    async throws
  {
    let test = TestStore()
    try await test.store.start(WithoutOutput(), named: "r")
    try await test.store.send(1, as: "go", to: "r")
    #expect(try await test.run(WithoutOutput()).state == .error)
    // The retry begins after the wait.
    #expect(try await !test.store.send(2, as: "go", to: "r", replacing: true))
    #expect(try await test.store.events(of: "r").map(\.payload) == ["1"])
  }

  @Test func `J19: an event of another type is an error that names event and run`() async throws {
    let test = TestStore()
    try await test.store.start(Single(.event), named: "r")
    try await test.store.send("text", as: "go", to: "r")
    #expect(try await test.run(Single(.event)).state == .error)
    let error = try await test.outcome(of: Single.self).error as? SequentialOperationError
    let description = (error?.cause).map { "\($0)" } ?? ""
    #expect(description.contains("the event 'go' of run r is not a Int"), "\(description)")
  }

  @Test func `J19: an ended run receives no events`() async throws {
    let test = TestStore()
    _ = try await test.run(Single(.note))
    let error = await #expect(throws: RunStoreError.self) {
      try await test.store.send(1, as: "go", to: "r")
    }
    #expect(error?.reason == .wrongState)
  }

  @Test func `J18, J19: parked runs survive a crash at any write`() async throws {
    try await CrashHunt().run(Single(.sleep)) { try await $0.outcome.isCancelled }
    try await CrashHunt().run(Single(.event)) { trial in
      try await trial.store.start(Single(.event), named: trial.id)
      try await trial.store.send(5, as: "go", to: trial.id)
      return try await trial.outcome.get()
    }
    try await CrashHunt().run(Single(.limitedEvent)) { try await "\($0.outcome)" }
  }
}

private struct SleepFlow: DurableSequence {
  let seconds: Int64

  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    previous == nil ? DurableSleep(for: .seconds(seconds)) : nil
  }
  func output(of steps: FinishedSteps) {}
}

/// A flow whose output is an error.
private struct WithoutOutput: DurableSequence {
  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    previous == nil ? AwaitedEvent("go", as: Int.self) : nil
  }

  func output(of steps: FinishedSteps) throws -> Int { throw CocoaError(.fileNoSuchFile) }
}
