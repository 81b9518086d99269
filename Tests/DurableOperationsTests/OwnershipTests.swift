import CompositeOperations
import CompositeOperationsTestKit
import DurableOperations
import DurableTestSupport
import Foundation
import Testing

@Suite(.timeLimit(.minutes(10))) struct OwnershipTests {
  @Test func `J9: a write of an older claim changes nothing, and says that the run was taken over`()
    async throws
  {
    let test = TestStore()
    let backend = test.store.backend
    _ = try await backend.start(Sum(count: 2), named: "r")
    guard case .claimed(let old) = try await backend.claim("r") else {
      Issue.record("not claimed")
      return
    }
    try await backend.release(by: old.token)
    guard case .claimed(let new) = try await backend.claim("r") else {
      Issue.record("not claimed")
      return
    }
    #expect(new.token.fence == old.token.fence + 1)
    let step = StoredStep(
      position: 0, name: "add 0", types: StepTypes(operations: [], success: ""),
      mangledName: "", kind: .result, value: "1", fence: 1, began: 0,
      ended: 0)
    var key = step
    key.key = "k"
    let storedKey = key
    let writes: [@Sendable () async throws -> Void] = [
      { try await backend.append(step, dropping: 0..<0, hasKeys: false, by: old.token) },
      { try await backend.store(key: storedKey, by: old.token) },
      { try await backend.removeKeys(by: old.token) },
      { try await backend.park(by: old.token, until: nil, event: nil) },
      { try await backend.end(by: old.token, "1", as: .result, sequence: nil) },
      { try await backend.markStuck(by: old.token, because: "x") },
    ]
    let taken = DurableRunError("r", .taken(fence: old.token.fence))
    for write in writes { await #expect(throws: taken) { try await write() } }
    // The release of an older claim has no effect.
    try await backend.release(by: old.token)
    let run = try await test.row()
    #expect(run.state == .running && run.stepCount == 0 && run.fence == new.token.fence)
    try await backend.append(step, dropping: 0..<0, hasKeys: false, by: new.token)
    #expect(try await test.row().stepCount == 1)
  }

  @Test func `J9: a process whose run was taken over stores nothing more of it`() async throws {
    let test = TestStore()
    let backend = test.store.backend
    let gate = Gate()
    try await LateFlow.$gate.withValue(gate) {
      let flow = DurableOperation(LateFlow(), named: "r", in: test.store).start()
      await gate.waitForArrivals(1)
      try await backend.release(by: ClaimToken(run: "r", fence: 1))
      guard case .claimed(let claim) = try await backend.claim("r") else {
        Issue.record("not claimed")
        return
      }
      // The step of the first claim ends now, and its outcome is refused.
      gate.open()
      try await backend.append(
        StoredStep(
          position: 0, name: "late", kind: .result, value: "7", fence: claim.token.fence, began: 0,
          ended: 0), dropping: 0..<0, hasKeys: false, by: claim.token)
      try await backend.release(by: claim.token)
      _ = await flow.outcome
    }
    let steps = try await test.store.run("r")?.steps
    #expect(steps?.map(\.fence) == [2])
    #expect(steps?.first?.value == "7")
  }

  @Test func `J10: a run belongs to its owner while that lives, and to the first claim after that`()
    async throws
  {
    try await withTemporaryFile { file in
      var first: TestStore? = TestStore(file)
      let second = TestStore(file)
      _ = try await first?.store.backend.start(Sum(count: 1), named: "r")
      let claim = try await first?.store.backend.claim("r")
      guard case .claimed = claim else {
        Issue.record("not claimed")
        return
      }
      guard case .taken = try await second.store.backend.claim("r") else {
        Issue.record("the claim of a living owner was ignored")
        return
      }
      #expect(try await second.store.runs().map(\.ownerHasEnded) == [false])
      // The system frees the lock of an owner that ends.
      first = nil
      #expect(try await second.store.runs().map(\.ownerHasEnded) == [true])
      #expect(try await second.store.run("r")?.summary.ownerHasEnded == true)
      guard case .claimed(let taken) = try await second.store.backend.claim("r") else {
        Issue.record("not taken over")
        return
      }
      #expect(taken.token.fence == 2)
    }
  }

  @Test func `J10: concurrent first claims register the process once`() async throws {
    try await withTemporaryFile { file in
      let store = RunStore.sqlite(file)
      let flows = (0..<20).map { number in
        DurableOperation(Sum(count: 1), named: "run-\(number)", in: store)
      }
      _ = try await ParallelOperation(flows, width: .limited(to: 20)).run().get()
      #expect(try SQLiteFiles.integer(file, "SELECT count(*) FROM run_process") == 1)
    }
  }

  @Test func `J11: the cancellation of an operation is no outcome of its run`() async throws {
    let test = TestStore()
    let (begun, continuation) = AsyncStream.makeStream(of: Void.self)
    let outcome = await Endless.$begun.withValue(continuation) {
      let flow = DurableOperation(Single(.endless), named: "r", in: test.store).start()
      for await _ in begun { break }
      flow.cancel()
      return await flow.outcome
    }
    #expect(outcome.isCancelled)
    let run = try await test.row()
    #expect(run.state == .ready && run.stepCount == 0)
  }

  @Test func `J11: a step that returns its result after the cancellation is finished`() async throws
  {
    let test = TestStore()
    let gate = Gate()
    await LateFlow.$gate.withValue(gate) {
      let flow = DurableOperation(LateFlow(), named: "r", in: test.store).start()
      await gate.waitForArrivals(1)
      flow.cancel()
      gate.open()
      _ = await flow.outcome
    }
    let run = try await test.row()
    #expect(run.state == .ready && run.stepCount == 1)
    #expect(try await test.store.run("r")?.steps.first?.value == "42")
    // The next process continues after it.
    let steps = try await DurableOperation(LateFlow(), named: "r", in: test.store).run().get()
    #expect(steps.last?.result(as: Int.self) == 42)
  }

  @Test func `J24: two stores on one file share the runs, and each run ends once`() async throws {
    try await withTemporaryFile { file in
      let stores = [RunStore.sqlite(file), RunStore.sqlite(file)]
      try await Effects.recorded { effects in
        let runs = ParallelOperation(
          (0..<20).map { number in
            DurableOperation(
              Sum(count: 3), named: "run-\(number / 2)", in: stores[number % 2])
          })
        let sums = try await runs.run().get()
        #expect(sums == Array(repeating: 6, count: 20))
        #expect(effects.names.count == 30)
      }
      #expect(try await stores[0].check() == [])
    }
  }

  @Test(arguments: ["text", "database"])
  func `J24: a file of another kind is refused with the reason`(kind: String) async throws {
    try await withTemporaryFile { file in
      if kind == "text" {
        try Data(String(repeating: "this is no database. ", count: 100).utf8)
          .write(to: URL(fileURLWithPath: file))
      } else {
        try SQLiteFiles.execute(file, "CREATE TABLE t (a)", "PRAGMA user_version = 3")
      }
      let error = await #expect(throws: RunStoreError.self) {
        try await RunStore.sqlite(file).start(Sum(count: 1), named: "r")
      }
      #expect(error?.reason == (kind == "text" ? .damagedFile : .foreignFile))
      #expect(error?.description.contains(file) == true)
    }
  }

  @Test func `J24: a file that a newer version has written is refused`() async throws {
    try await withTemporaryFile { file in
      try await RunStore.sqlite(file).start(Sum(count: 1), named: "r")
      try SQLiteFiles.execute(file, "PRAGMA user_version = 99")
      let error = await #expect(throws: RunStoreError.self) {
        try await RunStore.sqlite(file).start(Sum(count: 1), named: "r2")
      }
      #expect(error?.reason == .newerSchema)
    }
  }

  @Test func `J24: a file in a folder that does not exist is an error that names it`() async throws
  {
    let error = await #expect(throws: RunStoreError.self) {
      try await RunStore.sqlite("/nonexistent/flows.sqlite").start(Sum(count: 1), named: "r")
    }
    #expect(error?.reason == .notAccessible)
    #expect(error?.description.contains("/nonexistent") == true)
  }

  @Test func `the journal, its log and its locks are readable by their owner only`() async throws {
    try await withTemporaryFile { file in
      let store = RunStore.sqlite(file)
      _ = try await DurableOperation(Sum(count: 1), named: "r", in: store).run().get()
      let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions]
      #expect((mode as? NSNumber)?.intValue == 0o600)
    }
  }
}

private struct LateFlow: DurableSequence {
  @TaskLocal static var gate: Gate?

  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    previous == nil
      ? SimpleOperation<Int> {
        // It ignores the cancellation.
        await Self.gate?.passIgnoringCancellation()
        return 42
      }.named("late") : nil
  }
}
