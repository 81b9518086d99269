import CompositeOperations
import DurableOperations
import DurableOperationsTestKit
import Testing

@Suite(.timeLimit(.minutes(10))) struct ValueTests {
  /// The error of the only step of a flow.
  private func stepError(
    _ flow: Single, _ options: RunStoreOptions = RunStoreOptions()
  ) async throws -> (any Error)? {
    let test = TestStore(nil, options)
    _ = try await test.run(flow)
    let error = try await test.outcome(of: Single.self).error
    return (error as? SequentialOperationError)?.cause
  }

  @Test func `J4: a step with a result that is not Codable fails before its body begins`()
    async throws
  {
    try await Effects.recorded { effects in
      let error = try await stepError(Single(.tuple))
      #expect(
        error.map { "\($0)" }
          == """
          run r, step 0, ParallelOperation: result type (Int, String) is not Codable; name the \
          children with `.journaled(as:)` and map the tuple to a Codable type
          """)
      #expect(effects.names.isEmpty)
    }
  }

  @Test func `J4: a step without a value is stored`() async throws {
    #expect(try await TestStore().run(Single(.void)).state == .result)
  }

  @Test
  func `J5: a result over the limit of the store is an error that names step, size and limit`()
    async throws
  {
    let error = try await stepError(Single(.large), RunStoreOptions(valueLimit: 1_024))
    #expect((error as? DurableStepError)?.reason == .tooLarge(size: 2_002, limit: 1_024))
    #expect(
      error.map { "\($0)" }
        == """
        run r, step 0, large: result of 2 KiB exceeds the limit of 1 KiB; store it in a file or a \
        database and return its name, or raise `valueLimit` of the store and retry the run
        """)
    // At the limit, quotes included.
    #expect(try await stepError(Single(.large), RunStoreOptions(valueLimit: 2_002)) == nil)
    #expect(try await stepError(Single(.large), RunStoreOptions(valueLimit: 2_001)) != nil)
  }

  @Test func `J5: an initial state over the limit is refused`() async throws {
    let store = RunStore.test(options: RunStoreOptions(valueLimit: 10))
    let error = await #expect(throws: RunStoreError.self) {
      try await store.start(Sum(count: 1_000), named: "r")
    }
    #expect(error?.reason == .tooLarge)
    #expect(try await store.run("r") == nil)
  }

  @Test
  func `J5: a state or an output over the limit makes the run stuck, and an event is refused`()
    async throws
  {
    for isOutput in [false, true] {
      let test = TestStore(nil, RunStoreOptions(valueLimit: 100))
      let run = try await test.run(GrowingFlow(isOutput: isOutput))
      #expect(run.state == .stuck)
      let value = isOutput ? "its output" : "its state"
      #expect(run.reason?.hasPrefix("\(value) of ") == true, "\(run.reason ?? "")")
    }
    let store = RunStore.test(options: RunStoreOptions(valueLimit: 100))
    try await store.start(Single(.event), named: "r")
    let error = await #expect(throws: RunStoreError.self) {
      try await store.send(String(repeating: "x", count: 200), as: "go", to: "r")
    }
    #expect(error?.reason == .tooLarge)
  }

  @Test func `J6: a Codable error is restored as itself`() async throws {
    #expect(try await stepError(Single(.failure)) as? CodableError == CodableError(code: 3))
  }

  @Test func `J6: any other error is restored with the name of its type and its description`()
    async throws
  {
    let error = try #require(try await stepError(Single(.plainFailure)) as? JournaledError)
    #expect(error.type.hasSuffix("PlainError"))
    #expect(error.description == "it is full")
  }

  @Test func `J6: the sequence sees the restored error in the first process, too`() async throws {
    let seen = try await TestStore().run(RecoveringFlow())
    #expect(seen.outcome == #"["JournaledError","JournaledError"]"#)
  }

  @Test func `J6: an error restored from a journal is stored again as it was`() async throws {
    let test = TestStore()
    _ = try await test.run(Rethrowing())
    let cause = (try await test.outcome(of: Rethrowing.self).error as? SequentialOperationError)?
      .cause
    #expect(cause as? JournaledError == JournaledError(type: "T", description: "d"))
  }

  @Test func `a step that cancels itself is cancelled in the journal, and so is its run`()
    async throws
  {
    let test = TestStore()
    #expect(try await test.run(Single(.cancelled)).state == .cancelled)
    #expect(try await test.store.run("r")?.steps.map(\.kind) == [.cancelled])
  }

  @Test func `an error that the sequence throws ends the run in it`() async throws {
    let test = TestStore()
    #expect(try await test.run(ThrowingFlow()).state == .error)
    let error = try #require(
      try await test.outcome(of: ThrowingFlow.self).error as? SequentialOperationError)
    #expect(error.cause as? CodableError == CodableError(code: 9))
    #expect(error.steps.count == 1)
  }
}

private struct GrowingFlow: DurableSequence {
  let isOutput: Bool
  var text = ""

  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    if previous != nil, !isOutput { text = String(repeating: "x", count: 200) }
    return (previous?.index ?? 0) < 1 ? Note("note") : nil
  }
  func output(of steps: FinishedSteps) -> String {
    isOutput ? String(repeating: "x", count: 200) : ""
  }
}

private struct RecoveringFlow: DurableSequence {
  var seen: [String] = []

  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    if let error = previous?.outcome.error { seen.append("\(type(of: error))") }
    switch previous?.index {
    case nil, 0: return Failure(name: "fails", error: PlainError())
    case 1: return Note("end")
    default: return nil
    }
  }
  func output(of steps: FinishedSteps) -> [String] { seen }
}

private struct Rethrowing: DurableSequence {
  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    guard let previous else {
      return Failure(name: "f", error: JournaledError(type: "T", description: "d"))
    }
    guard previous.index == 0, let error = previous.outcome.error as? JournaledError else {
      return nil
    }
    return Failure(name: "again", error: error)
  }
}

private struct ThrowingFlow: DurableSequence {
  mutating func nextOperation(
    after previous: FinishedStep?
  ) throws -> (any ComposableOperation)? {
    if previous != nil { throw CodableError(code: 9) }
    return Note("note")
  }
}
