import CompositeOperations
import DurableOperations
import DurableOperationsTestKit
import Testing

@Suite struct CrashHuntTests {
  @Test func `a flow whose effects change with a crash is found, with the write`() async throws {
    let error = await #expect(throws: CrashHuntError.self) {
      try await CrashHunt().run(Sum(count: 2)) { trial in
        try await Effects.recorded { effects in
          _ = try await trial.outcome
          // Without a detection of repeated requests.
          return effects.names
        }
      }
    }
    // The start, the claim, and then the step whose outcome was not stored.
    #expect(error?.write == 2 && error?.isAfter == false)
    #expect(error?.description.contains("before write 2, the effects are") == true)
  }

  @Test func `a flow whose outcome changes with a crash is found`() async throws {
    let error = await #expect(throws: CrashHuntError.self) {
      try await CrashHunt().run(TokenFlow()) { try await "\($0.outcome)" }
    }
    #expect(error?.problem.hasPrefix("the outcome is") == true)
  }

  @Test func `a body that does not run the flow, or a flow that waits for an event, is an error`()
    async throws
  {
    await #expect(throws: CrashTrialError.self) {
      try await CrashHunt().run(Sum(count: 1)) { _ in 0 }
    }
    let error = await #expect(throws: CrashTrialError.self) {
      try await CrashHunt().run(Single(.event)) { try await "\($0.outcome)" }
    }
    #expect(error?.description.contains("waits for the event 'go'") == true)
  }
}

@Suite struct DeploymentCheckTests {
  private func differences(
    _ flow: any DurableSequence.Type, _ states: Set<RunState> = Set(RunState.allCases)
  ) async throws -> [String] {
    let test = TestStore()
    _ = try await test.run(Yesterday())
    return try await DeploymentCheck(of: [flow], in: states).differences(in: test.store)
      .map(\.description)
  }

  @Test func `the same program has no differences, also with a changed state`() async throws {
    #expect(try await differences(Yesterday.self) == [])
    let test = TestStore()
    _ = try await test.run(Sum(count: 5))
    _ = try await test.run(Sum(count: 5, keeping: 2), "limited")
    #expect(
      try await DeploymentCheck(of: [Sum.self], in: [.result]).differences(in: test.store) == [])
  }

  @Test func `a step that is inserted, renamed, of another type, or no longer returned`()
    async throws
  {
    #expect(
      try await differences(Inserted.self) == [
        "run r of Day, step 1: the flow returns inserted, and the journal has second"
      ])
    #expect(
      try await differences(Retyped.self).first?.contains(
        "step 0: the type is DurableOperationsTests.Failure") == true)
    #expect(
      try await differences(Shortened.self) == [
        "run r of Day, step 1: the flow ends, and the journal has second"
      ])
  }

  @Test func `a state that cannot be decoded, for every step`() async throws {
    let found = try await differences(Undecodable.self)
    #expect(found.count == 3)
    #expect(found.allSatisfy { $0.contains("cannot be decoded as Undecodable") })
  }

  @Test func `only runs in the states are checked`() async throws {
    #expect(try await differences(Shortened.self, [.parked]) == [])
  }
}

private struct TokenFlow: DurableSequence {
  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    previous == nil ? Token() : nil
  }
  func output(of steps: FinishedSteps) -> Int { steps.last(of: Token.self) ?? 0 }

  struct Token: ComposableOperation {
    func perform(in context: OperationContext) async throws -> Int { context.fencingToken ?? 0 }
  }
}

private struct Yesterday: DurableSequence {
  static let flowName = "Day"
  var count = 0

  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    count += 1
    return switch previous?.index {
    case nil: Note("first")
    case 0: Note("second")
    default: nil
    }
  }
  func output(of steps: FinishedSteps) -> Int { count }
}

private struct Inserted: DurableSequence {
  static let flowName = "Day"
  var count = 0

  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    switch previous?.name {
    case nil: Note("first")
    case "first": Note("inserted")
    case "inserted": Note("second")
    default: nil
    }
  }
}

private struct Retyped: DurableSequence {
  static let flowName = "Day"

  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    switch previous?.index {
    case nil: Failure(name: "first", error: CodableError())
    case 0: Note("second")
    default: nil
    }
  }
}

private struct Shortened: DurableSequence {
  static let flowName = "Day"

  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    previous == nil ? Note("first") : nil
  }
}

private struct Undecodable: DurableSequence {
  static let flowName = "Day"
  var required: String

  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? { nil }
}
