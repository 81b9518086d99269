import CompositeOperations
import DurableOperations
import DurableTestSupport
import Foundation
import Testing

/// Runs whose process has ended, or which have become stuck, at an unfavorable moment.
@Suite(.timeLimit(.minutes(10))) struct TakeoverTests {
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

  @Test func `J21: the retry of a stuck run keeps the keys of the step in progress`() async throws {
    let store = RunStore.memory()
    let flow = ScriptFlow(Script(instructions: [.parallel(children: 3, fails: false)]))
    try await store.start(flow, named: "run")
    let claim = try await claim("run", in: store)
    let key = StoredStep(
      position: 0, key: "1", name: "parallel", types: StepTypes(operations: [], success: ""),
      mangledName: "", kind: .result, value: "1", sequence: nil, attempts: 1,
      fence: claim.token.fence, began: 0, ended: 0)
    try await store.backend.store(key: key, by: claim.token)
    try await store.backend.markStuck(by: claim.token, because: "a test")
    try await store.retry("run")
    let recorder = EffectRecorder()
    let outcome = await EffectRecorder.$current.withValue(recorder) {
      await DurableOperation(flow, named: "run", in: store).run()
    }
    #expect(try outcome.get().sum == 3)
    #expect(recorder.effects.map(\.key).sorted() == ["run/0.parallel/0", "run/0.parallel/2"])
  }

  @Test func `J21: a parent whose child finishes steps does not become stuck`() async throws {
    let store = RunStore.memory()
    try await store.start(ScriptFlow(Script(instructions: [.plain])), named: "parent")
    let child = NewRun(id: "child", flow: "ScriptFlow", state: "{}", parent: "parent")
    for number in 0..<12 {
      let parent = try await claim("parent", in: store)
      if number == 0 { _ = try await store.backend.insert(child) }
      let claim = try await claim("child", in: store)
      let step = StoredStep(
        position: number, key: "", name: "plain", types: StepTypes(operations: [], success: ""),
        mangledName: "", kind: .result, value: "1", sequence: nil, attempts: 1,
        fence: claim.token.fence, began: 0, ended: 0)
      try await store.backend.append(step, dropping: 0..<0, hasKeys: false, by: claim.token)
      #expect(try await store.run("parent")?.summary.attempt == 0)
      try await store.backend.release(by: claim.token)
      try await store.backend.release(by: parent.token)
    }
  }

  @Test func `J10: a process that registers removes the rows of killed processes`() async throws {
    let folder = try CrashFolder()
    _ = try await folder.run("start", launch: 0, "1")
    for launch in 1...3 {
      _ = try await folder.run("flow", launch: launch, "after", "4")
    }
    let store = RunStore.sqlite(folder.journal)
    _ = try await store.backend.claim(flows: ["none"], limit: 1, isIdle: true)
    #expect(try SQLiteFiles.integer(folder.journal, "SELECT count(*) FROM run_process") == 1)
    #expect(!FileManager.default.fileExists(atPath: folder.journal + "-owners"))
  }
}
