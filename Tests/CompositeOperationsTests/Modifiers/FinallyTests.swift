import CompositeOperations
import CompositeOperationsTestKit
import Testing

@Suite struct FinallyTests {
  @Test(arguments: Setting.all)
  func `R5: the closure receives the outcome, and cannot change it`(setting: Setting)
    async throws
  {
    for operation in [setting.giving(7), setting.failing(), setting.stopping()] {
      let seen = Log<String>()
      let outcome = try await setting.run {
        await operation.finally { outcome in
          await setting.pause()
          seen.add(outcome.kind)
        }.run()
      }
      let plain = try await setting.run { await operation.run() }
      #expect(outcome.kind == plain.kind)
      #expect(seen.entries == [plain.kind])
    }
  }

  @Test func `R5: after a cancellation the closure runs, is not cancelled and is awaited`()
    async throws
  {
    let gate = Gate()
    let closing = Gate()
    let seen = Log<String>()
    let discarded = Log<Int>()
    let run = SimpleOperation {
      await gate.passIgnoringCancellation()
      return 7
    }.discarding { discarded.add($0) }.finally { outcome in
      seen.add(outcome.kind)
      // A cancelled closure could not pass the gate.
      try? await closing.pass()
      seen.add(Task.isCancelled ? "cancelled itself" : "closed")
    }.start()
    await gate.waitForArrivals(1)
    run.cancel()
    gate.open()
    await closing.waitForArrivals(1)
    closing.open()
    #expect(await run.outcome.isCancelled)
    #expect(seen.entries == ["cancelled", "closed"])
    #expect(discarded.entries == [7])
  }

  @Test func `R5: a cancellation during the closure does not reach it, but takes precedence`()
    async throws
  {
    let closing = Gate()
    let seen = Log<String>()
    let discarded = Log<Int>()
    let run = SimpleOperation { 7 }.discarding { discarded.add($0) }.finally { outcome in
      try? await closing.pass()
      seen.add(Task.isCancelled ? "cancelled itself" : outcome.kind)
    }.start()
    await closing.waitForArrivals(1)
    run.cancel()
    closing.open()
    #expect(await run.outcome.isCancelled)
    #expect(seen.entries == ["result 7"])
    #expect(discarded.entries == [7])
  }

  @Test func `R5: the closure does not run if the operation never begins`() async {
    let seen = Log<String>()
    let operation = SimpleOperation { seen.add("began") }.finally { _ in seen.add("closed") }
    let outcome = await SimpleOperation.withContext { context in
      cancelCurrentTask()
      return await context.outcome(of: operation).isCancelled
    }.start().outcome
    #expect(outcome.isCancelled)
    #expect(seen.entries == [])
    // An operation that is cancelled during its delay has begun.
    let clock = ManualClock()
    let run = operation.delayed(by: .seconds(1)).finally { _ in seen.add("closed anyhow") }
      .start(in: OperationEnvironment(clock: clock))
    await clock.waitForSleepers(1)
    run.cancel()
    #expect(await run.outcome.isCancelled)
    #expect(seen.entries == ["closed anyhow"])
  }

  @Test func `C2: task-local values, priority and executor reach the closure`() async throws {
    let seen = Log<String>()
    let operation = SimpleOperation {}.finally { _ in
      seen.add("\(Room.value) \(Task.currentPriority == .high)")
    }
    let executor = SeededExecutor(seed: 1)
    try await executor.run {
      await Room.$value.withValue("here") {
        _ = await operation.finally { _ in
          let preferred = unsafe withUnsafeCurrentTask { unsafe $0?.unownedTaskExecutor }
          let isHere = unsafe preferred == executor.asUnownedTaskExecutor()
          seen.add(isHere ? "on the executor" : "elsewhere")
        }.run()
      }
    }
    let high = Task(priority: .high) {
      await Room.$value.withValue("there") { _ = await operation.run() }
    }
    await high.value
    #expect(seen.entries.contains("on the executor"))
    #expect(seen.entries.contains("there true"))
  }
}

private enum Room {
  @TaskLocal static var value = "nowhere"
}
