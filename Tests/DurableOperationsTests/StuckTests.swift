import CompositeOperations
import DurableOperations
import DurableOperationsTestKit
import DurableTestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct StuckTests {
  @Test(.enabled(if: TestServer.isAbsent))
  func `J21: twelve processes that end during a step make its run stuck, and a retry resumes it`()
    async throws
  {
    try await withTemporaryFile { file in
      // The owner of each claim ends, as a process that crashes in its first step.
      for _ in 0..<12 {
        let process = TestStore(file)
        _ = try await process.store.backend.start(Sum(count: 1), named: "r")
        guard case .claimed = try await process.store.backend.claim("r") else {
          Issue.record("not claimed")
          return
        }
      }
      let last = TestStore(file)
      let run = try await last.run(Sum(count: 1))
      #expect(run.state == .stuck)
      #expect(
        run.reason
          == "12 processes in a row have ended during step 0, the last ones while they ran nothing else"
      )
      try await last.store.retry("r")
      #expect(try await last.run(Sum(count: 1)).state == .result)
    }
  }

  @Test func `J21: a worker marks a run stuck after ten claims, and claims the others`()
    async throws
  {
    let test = TestStore()
    let backend = test.store.backend
    try await test.store.start(Sum(count: 1), named: "r")
    for _ in 0..<10 {
      let claim = try #require(
        try await backend.claim(flows: ["Sum"], limit: 1, isIdle: true).first)
      try await backend.release(by: claim.token, asFailed: true)
      test.time.pass(.seconds(10))
    }
    try await test.store.start(Sum(count: 1), named: "other")
    let claims = try await backend.claim(flows: ["Sum"], limit: 2, isIdle: true)
    #expect(claims.map(\.token.run) == ["other"])
    #expect(try await test.row().state == .stuck)
    try await test.store.retry("r")
    #expect(try await test.run(Sum(count: 1)).state == .result)
  }

  @Test
  func `J21: a state that cannot be decoded makes the run stuck; with another type it resumes`()
    async throws
  {
    let test = TestStore()
    try await test.store.start(OldState(), named: "r")
    _ = try await test.attempt("r", of: NewState.self)
    let run = try await test.row()
    #expect(run.state == .stuck)
    #expect(run.reason?.contains("its state cannot be decoded as NewState") == true)
    try await test.store.retry("r")
    _ = try await test.attempt("r", of: RepairedState.self)
    #expect(try await test.row().state == .result)
  }

  @Test func `J20: a new optional field, a field less, and unknown fields need nothing`()
    async throws
  {
    let test = TestStore()
    _ = try await test.store.start(OldState(), named: "r")
    _ = try await test.attempt("r", of: RepairedState.self)
    #expect(try await test.row().state == .result)
    // The same start, by the new type, is the same run.
    #expect(try await test.store.start(RepairedState(), named: "r").isNew == false)
  }

  @Test func `J13: an equal start whose stored state cannot be decoded says so`() async throws {
    let store = RunStore.test()
    try await store.start(OldState(), named: "r")
    let error = await #expect(throws: DurableRunError.self) {
      try await store.start(NewState(required: ""), named: "r")
    }
    #expect(
      error?.description.hasPrefix(
        "run r is stuck: its first state cannot be decoded as NewState") == true)
  }

  @Test func `J21: a claim whose store failed counts, and one that was released does not`()
    async throws
  {
    let test = TestStore()
    let backend = test.store.backend
    _ = try await backend.start(Sum(count: 1), named: "r")
    for number in 0..<24 {
      guard case .claimed(let claim) = try await backend.claim("r") else {
        Issue.record("not claimed")
        return
      }
      try await backend.release(by: claim.token, asFailed: number < 9)
      test.time.pass(.seconds(10))
    }
    #expect(try await test.row().claims == 9)
    guard case .claimed(let claim) = try await backend.claim("r") else {
      Issue.record("not claimed")
      return
    }
    try await backend.release(by: claim.token, asFailed: true)
    #expect(try await test.run(Sum(count: 1)).state == .stuck)
  }

  @Test(.enabled(if: TestServer.isAbsent))
  func `J21: a run whose store failed waits before its next claim, up to ten seconds`()
    async throws
  {
    let test = TestStore()
    let backend = test.store.backend
    _ = try await backend.start(Sum(count: 1), named: "r")
    var waits: [Int64] = []
    for _ in 0..<9 {
      guard case .claimed(let claim) = try await backend.claim("r") else {
        Issue.record("not claimed")
        return
      }
      try await backend.release(by: claim.token, asFailed: true)
      let wake = try #require(try await test.row().wake)
      waits.append(wake - backend.options.milliseconds)
      guard case .parked(wake) = try await backend.claim("r") else {
        Issue.record("not parked")
        return
      }
      test.time.pass(.milliseconds(wake - backend.options.milliseconds))
    }
    #expect(waits == [100, 200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000])
    #expect(try await test.run(Sum(count: 1)).state == .result)
  }

  @Test(.enabled(if: TestServer.isAbsent))
  func `J21: a key that is stored is progress, and the beginning of an attempt is none`()
    async throws
  {
    let test = TestStore()
    let backend = test.store.backend
    _ = try await backend.start(Sum(count: 1), named: "parent")
    _ = try await backend.start(Sum(count: 1), named: "child", parent: "parent")
    _ = try await backend.claim("parent")
    for (kind, claims) in [(RunDetails.Kind.attempts, 1), (.result, 0)] {
      guard case .claimed(let claim) = try await backend.claim("child") else {
        Issue.record("not claimed")
        return
      }
      try await backend.store(
        key: StoredStep(
          position: 0, key: "a", name: "Number", kind: kind, value: "1", fence: 1, began: 0,
          ended: 0), by: claim.token)
      #expect(try await test.row("child").claims == claims)
      #expect(try await test.row("parent").claims == claims)
      try await backend.release(by: claim.token, asFailed: kind == .result)
    }
    // The first delay, although the claim has made progress.
    #expect(try await test.row("child").wake == backend.options.milliseconds + 100)
  }

  @Test func `J21: a step that recovers from an undecodable key is stuck, too`() async throws {
    let test = TestStore()
    try await test.interrupt(
      Recovering(), afterStoring: "\"text\"", as: .result, under: "k", ofStep: "recovering")
    #expect(try await test.run(Recovering()).state == .stuck)
    #expect(try await test.row().stepCount == 0)
  }

  @Test func `J21: a step of a type that the program no longer has makes the run stuck`()
    async throws
  {
    try await withTemporaryFile { file in
      let test = TestStore(file)
      _ = try await test.store.backend.start(Sum(count: 2), named: "r")
      guard case .claimed(let claim) = try await test.store.backend.claim("r") else {
        Issue.record("not claimed")
        return
      }
      try await test.store.backend.append(
        StoredStep(
          position: 0, name: "Gone",
          types: StepTypes(operations: ["Shop.Gone"], success: "Swift.Int"),
          mangledName: "4Shop4GoneV", kind: .result, value: "1", attempts: 1,
          fence: 1, began: 0, ended: 0), dropping: 0..<0, hasKeys: false, by: claim.token)
      try await test.store.backend.release(by: claim.token)
      let run = try await test.run(Sum(count: 2))
      #expect(run.state == .stuck)
      #expect(
        run.reason == """
          this program has no type Shop.Gone, of which step 0, Gone, is; if a type in this name was renamed, \
          add its former name to `aliases` of the store
          """)
    }
  }

  @Test(.enabled(if: TestServer.isAbsent))
  func `J21: a value that is damaged in the file makes that run stuck, and others continue`()
    async throws
  {
    try await withTemporaryFile { file in
      let test = TestStore(file)
      _ = try await test.run(Single(.event), "r")
      _ = try await test.run(Sum(count: 1, keeping: nil), "other")
      try SQLiteFiles.execute(file, "UPDATE run SET sequence = '{' WHERE id = 'r'")
      try await test.store.send(1, as: "go", to: "r")
      #expect(try await test.run(Single(.event), "r").state == .stuck)
      #expect(try await test.run(Sum(count: 2), "third").state == .result)
      #expect(try await test.store.check().count == 1)
    }
  }

  @Test func `J22: a run that ended in an error is retried from the failed step`() async throws {
    let test = TestStore()
    try await Effects.recorded { effects in
      let state = try await test.run(FailsTwice()).state
      #expect(state == .error)
      try await test.store.retry("r")
      let again = try await test.run(FailsTwice()).state
      #expect(again == .error)
      try await test.store.retry("r")
      let end = try await test.run(FailsTwice()).state
      #expect(end == .result)
      #expect(effects.names == ["note", "attempt", "attempt", "attempt"])
    }
  }

  @Test(arguments: 0...4)
  func `J22: a retry from a step deletes it and what follows, with the state`(step: Int)
    async throws
  {
    let test = TestStore()
    try await Effects.recorded { effects in
      _ = try await test.run(Sum(count: 4))
      try await test.store.retry("r", from: step)
      let kept = try await test.row().stepCount
      #expect(kept == step)
      _ = try await test.run(Sum(count: 4))
      let sum = try await test.outcome(of: Sum.self).get()
      #expect(sum == 10)
      #expect(effects.names.count == 4 + 4 - step)
    }
  }

  @Test
  func `J22: a retry from a step that is not kept, does not exist, or of a running run is refused`()
    async throws
  {
    let test = TestStore()
    _ = try await test.run(Sum(count: 6, keeping: 1))
    for step in [-1, 7, 2] {
      let error = await #expect(throws: RunStoreError.self) {
        try await test.store.retry("r", from: step)
      }
      #expect(error?.reason == .noSuchStep)
      if step == 2 { #expect(error?.description.contains("retry from is 5") == true) }
    }
    try await test.store.retry("r", from: 5)
    let error = await #expect(throws: RunStoreError.self) { try await test.store.retry("r") }
    #expect(error?.reason == .wrongState)
    _ = try await test.run(Sum(count: 6, keeping: 1))
    #expect(try await test.outcome(of: Sum.self).get() == 21)
  }

  @Test func `J22: a cancelled run can be retried`() async throws {
    let test = TestStore()
    try await test.store.start(Sum(count: 2), named: "r")
    try await test.store.cancel("r", because: "x")
    try await test.store.retry("r")
    let run = try await test.run(Sum(count: 2))
    #expect(run.state == .result && run.reason == nil && run.cancelled == nil)
  }
}

private struct OldState: DurableSequence {
  static let flowName = "Versioned"
  var count = 1
  var removed = "x"

  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? { nil }
  func output(of steps: FinishedSteps) -> Int { count }
}

private struct NewState: DurableSequence {
  static let flowName = "Versioned"
  var count = 1
  var required: String

  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? { nil }
  func output(of steps: FinishedSteps) -> Int { count }
}

private struct RepairedState: DurableSequence {
  static let flowName = "Versioned"
  var count = 1
  var added: String?

  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? { nil }
  func output(of steps: FinishedSteps) -> Int { count }
}

private struct FailsTwice: DurableSequence {
  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    switch previous?.index {
    case nil: Note("note")
    case 0: FailingUntil(attempt: 4)
    default: nil
    }
  }
  func output(of steps: FinishedSteps) {}
}

/// A flow of one step, which has a result even if its journal cannot be read.
private struct Recovering: DurableSequence {
  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    previous == nil
      ? Note("part", 1).journaled(as: "k").recovering { _ in 0 }.named("recovering") : nil
  }
  func output(of steps: FinishedSteps) {}
}
