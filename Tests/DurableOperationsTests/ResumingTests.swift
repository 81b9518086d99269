import CompositeOperations
import DurableOperations
import DurableOperationsTestKit
import Testing

@Suite(.timeLimit(.minutes(10))) struct ResumingTests {
  @Test func `J1: the sequence is asked for the next step when the last one is stored`()
    async throws
  {
    let test = TestStore()
    let counts = try await LookingFlow.$store.withValue(test.store) {
      try await test.run(LookingFlow())
      return try await test.outcome(of: LookingFlow.self).get()
    }
    #expect(counts == [0, 1, 2, 3])
  }

  @Test(
    "J2: after a crash at any write, the outcome is the same, and finished steps do not run again")
  func crashes() async throws {
    let crashes = try await CrashHunt().run(Sum(count: 4)) { trial in
      try await Effects.recorded { effects in
        let sum = try await trial.outcome.get()
        #expect(sum == 10)
        // Only the step in progress runs again.
        #expect(effects.names.count <= 5)
        return effects.once
      }
    }
    // Two starts and claims, four steps and the end: a crash before and after each.
    #expect(crashes == 18)
  }

  @Test func `J2: a step that was stored before a crash has run exactly once`() async throws {
    let test = TestStore()
    try await Effects.recorded { effects in
      let backend = test.store.backend
      _ = try await backend.start(Sum(count: 2), named: "r")
      // A process claims the run, and releases it in the first step.
      guard case .claimed(let claim) = try await backend.claim("r") else {
        Issue.record("not claimed")
        return
      }
      try await backend.release(by: claim.token)
      let state = try await test.run(Sum(count: 2)).state
      #expect(state == .result)
      #expect(effects.names == ["add 0", "add 1"])
      // On a server, a run that was released keeps its fence.
      let token = TestServer.isAbsent ? 2 : 1
      #expect(effects.all.map(\.token) == [token, token])
    }
  }

  @Test func `J3: the sequence sees a step as it is stored, in every process`() async throws {
    let test = TestStore()
    #expect(try await test.run(ViewingFlow()).state == .result)
    let first = try await test.outcome(of: ViewingFlow.self).get()
    #expect(first == ["renamed JournaledValue 7 7 nil JournaledOperationName"])
    try await CrashHunt().run(ViewingFlow()) { trial in
      try await trial.outcome.get()
    }
  }

  @Test func `J3: a result of the right type that cannot be decoded makes the run stuck`()
    async throws
  {
    let test = TestStore()
    let run = try await test.run(ShrinkingFlow())
    #expect(run.state == .stuck)
    #expect(run.reason?.contains("the result of step 0, shrink, cannot be decoded") == true)
    // The answer of the sequence was dropped.
    #expect(try await test.store.run("r")?.steps.map(\.name) == ["shrink"])
    let reason = try #require(run.reason)
    await #expect(throws: DurableRunError("r", .stuck(because: reason))) {
      _ = try await DurableOperation(ShrinkingFlow(), named: "r", in: test.store).run().get()
    }
  }

  @Test func `J7: a step, the state that changed with it, and the history are stored together`()
    async throws
  {
    for keeping in [nil, 1, 2] {
      try await CrashHunt().run(Sum(count: 5, keeping: keeping)) { trial in
        let sum = try await trial.outcome.get()
        #expect(sum == 15)
        return sum
      }
    }
  }

  @Test(arguments: [1, 2, 3])
  func `J8: steps that a limited history drops are deleted`(limit: Int) async throws {
    let test = TestStore()
    #expect(try await test.run(Sum(count: 6, keeping: limit)).stepCount == 6)
    // One more than the sequence sees, so that the last step can be retried.
    let steps = try await test.store.run("r")?.steps.map(\.position)
    #expect(steps == Array((5 - limit)...5))
    #expect(try await test.outcome(of: Sum.self).get() == 21)
  }

  @Test
  func `J14: an ended run keeps its outcome, and an output that is not Codable is computed again`()
    async throws
  {
    let test = TestStore()
    try await Effects.recorded { effects in
      for _ in 0..<3 {
        let flow = DurableOperation(StepsFlow(), named: "s", in: test.store)
        let note = try await flow.run().get().last(of: Note.self)
        #expect(note == 5)
        let sum = DurableOperation(Sum(count: 2), named: "r", in: test.store)
        let result = try await sum.run().get()
        #expect(result == 3)
      }
      #expect(effects.names == ["note", "add 0", "add 1"])
    }
  }
}

/// A flow that counts the stored steps whenever it is asked.
private struct LookingFlow: DurableSequence {
  @TaskLocal static var store: RunStore?
  var counts: [Int] = []

  mutating func nextOperation(
    after previous: FinishedStep?
  ) async throws -> (any ComposableOperation)? {
    counts.append(try await Self.store?.run("r")?.steps.count ?? -1)
    return counts.count <= 3 ? Note("note") : nil
  }
  func output(of steps: FinishedSteps) -> [Int] { counts }
}

/// A flow that describes what it sees of its step.
private struct ViewingFlow: DurableSequence {
  var views: [String] = []

  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    guard let previous else { return Note("note", 7).named("renamed").onEnd { _ in } }
    let outcome = previous.outcome.result.map { "\(type(of: $0))" } ?? "none"
    views.append(
      """
      \(previous.name) \(outcome) \(previous.result(as: Int.self).map { "\($0)" } ?? "nil") \
      \(previous.result(of: Note.self).map { "\($0)" } ?? "nil") \
      \(previous.result(as: String.self) ?? "nil") \(type(of: previous.operation))
      """)
    return nil
  }
  func output(of steps: FinishedSteps) -> [String] { views }
}

/// A value that cannot be decoded from what it encodes.
private struct Shrinking: Codable, Sendable {
  init() {}
  init(from decoder: any Decoder) throws { throw CodableError(code: 5) }
  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(1)
  }
}

private struct ShrinkingFlow: DurableSequence {
  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    guard let previous else { return SimpleOperation { Shrinking() }.named("shrink") }
    return previous.result(as: Shrinking.self) == nil ? Note("repair") : nil
  }
  func output(of steps: FinishedSteps) {}
}

/// A flow with the default output.
private struct StepsFlow: DurableSequence {
  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    previous == nil ? Note("note", 5) : nil
  }
}
