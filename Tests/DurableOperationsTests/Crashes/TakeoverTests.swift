import CompositeOperations
import DurableOperations
import Testing

/// Takes runs over from owners that have ended at an unfavorable moment.
@Suite struct TakeoverTests {
  private func claim(_ id: RunID, in store: RunStore) async throws -> RunClaim {
    guard case .claimed(let claim) = try await store.backend.claim(id) else {
      throw RunStoreError(.wrongState, "\(id) cannot be claimed")
    }
    return claim
  }

  @Test func `J12: a run that was cancelled before its process ended begins no further step`()
    async throws
  {
    let folder = try CrashFolder()
    let flow = ScriptFlow(Script(instructions: [.plain]))
    let store = RunStore.sqlite(folder.journal)
    do {
      let ended = RunStore.sqlite(folder.journal)
      try await ended.start(flow, named: "run")
      _ = try await claim("run", in: ended)
      try await store.cancel("run", because: "a test")
      #expect(try await store.run("run")?.summary.state == .running)
    }
    let recorder = EffectRecorder()
    let outcome = await EffectRecorder.$current.withValue(recorder) {
      await DurableOperation(flow, named: "run", in: store).run()
    }
    #expect(outcome.isCancelled)
    #expect(recorder.effects == [])
    #expect(try await store.run("run")?.summary.reason == "a test")
  }

  @Test func `J18: a parent is not parked for a child that has ended meanwhile`() async throws {
    let store = RunStore.memory()
    let backend = store.backend
    try await store.start(ScriptFlow(Script(instructions: [.plain])), named: "parent")
    let parent = try await claim("parent", in: store)
    let state = parent.run.sequence
    _ = try await backend.insert(
      NewRun(id: "child", flow: "ScriptFlow", state: state, parent: "parent"))
    let child = try await claim("child", in: store)
    try await backend.end(by: child.token, nil, as: .cancelled, sequence: nil)
    try await backend.park(by: parent.token, until: nil, event: "@child:child")
    #expect(try await store.run("parent")?.summary.state == .ready)
  }

  @Test func `J18: a parent that waits for a child wakes when an event makes the child ready`()
    async throws
  {
    let store = RunStore.memory()
    let backend = store.backend
    try await store.start(ScriptFlow(Script(instructions: [.plain])), named: "parent")
    let parent = try await claim("parent", in: store)
    _ = try await backend.insert(
      NewRun(id: "child", flow: "ScriptFlow", state: parent.run.sequence, parent: "parent"))
    let child = try await claim("child", in: store)
    try await backend.park(by: child.token, until: nil, event: "go")
    try await backend.park(by: parent.token, until: nil, event: "@child:child")
    #expect(try await store.run("parent")?.summary.state == .parked)
    try await store.send(1, as: "go", to: "child")
    #expect(try await store.run("parent")?.summary.state == .ready)
  }
}
