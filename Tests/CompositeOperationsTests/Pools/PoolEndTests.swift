import CompositeOperations
import CompositeOperationsTestKit
import Testing

/// Ends of pool members and of pools.
@Suite struct PoolEndTests {
  @Test func `W6: an operation that is cancelled while it waits ends immediately and never begins`()
    async
  {
    let pool = OperationPool(width: .serial)
    let scene = await PoolScene(pool)
    let run = await pool.submit(scene.guest(1))
    let other = await pool.submit(scene.guest(2))
    run.cancel()
    #expect(pool.waitingCount == 1)
    #expect(await run.outcome.isCancelled)
    await scene.end()
    #expect(await other.outcome.result == 2)
    #expect(scene.begun.entries == [0, 2])
  }

  @Test func `W6: all operations are cancelled together, and the pool remains usable`() async {
    let observer = RecordingObserver()
    let pool = OperationPool(
      width: .limited(to: 2), in: OperationEnvironment(observers: [observer]))
    let scene = await PoolScene(pool)
    var runs: [OperationRun<Int>] = []
    for number in 1...5 { runs.append(await pool.submit(scene.guest(number))) }
    await scene.gate.waitForArrivals(2)
    pool.cancelAll(because: "the window was closed")
    for run in runs { #expect(await run.outcome.isCancelled) }
    await pool.drain()
    #expect(scene.begun.entries == [0, 1])
    let told = observer.events.count { event in
      if case .cancellationRequested("the window was closed") = event.kind { true } else { false }
    }
    #expect(told == 6)
    scene.gate.open()
    #expect(await pool.submit(scene.guest(6)).outcome.result == 6)
  }

  @Test func `W6: no operation begins while all are cancelled`() async throws {
    let doorman = Doorman()
    let executor = SeededExecutor(seed: 1)
    let pool = OperationPool(
      width: .serial, delegate: doorman, in: OperationEnvironment(executor: executor))
    let gate = Gate()
    func submit() -> [OperationRun<Void>] {
      let first = SimpleOperation {
        await withTaskCancellationHandler {
          _ = try? await gate.pass()
        } onCancel: {
          // Adds places while the waiting operations have not been cancelled yet.
          pool.width = .adaptive
        }
      }
      return [pool.submitNow(first.named("first"))]
        + ["second", "third"].map { pool.submitNow(SimpleOperation {}.named($0)) }
    }
    let runs = submit()
    executor.drain()
    pool.cancelAll()
    executor.drain()
    for run in runs { #expect(await run.outcome.isCancelled) }
    #expect(doorman.seen.entries.filter { $0.hasSuffix("began") } == ["first began"])
  }

  @Test func `W7: draining waits for running and waiting operations`() async {
    let executor = SeededExecutor(seed: 1)
    let pool = OperationPool(width: .serial, in: OperationEnvironment(executor: executor))
    let gates = [Gate(), Gate()]
    func submitAll() {
      for gate in gates { pool.submitNow(SimpleOperation { try await gate.pass() }) }
    }
    submitAll()
    let seen = Log<Int>()
    var drains: [Task<Void, Never>] = []
    for gate in gates {
      drains.append(
        Task(executorPreference: executor) {
          await pool.drain()
          seen.add(pool.runningCount + pool.waitingCount)
        })
      executor.drain()
      #expect(seen.count == 0)
      gate.open()
    }
    executor.drain()
    for drain in drains { await drain.value }
    #expect(seen.entries == [0, 0])
  }

  @Test(arguments: [OperationPool.Closing.runningWhatWaits, .rejectingPending])
  func `W7: a closed pool refuses new operations, and waiting ones run or are refused`(
    closing: OperationPool.Closing
  ) async {
    let pool = OperationPool(width: .serial)
    let scene = await PoolScene(pool)
    let waiting = await pool.submit(scene.guest(1))
    pool.close(closing)
    let late = await pool.submit(scene.guest(2))
    #expect((await late.outcome.error as? PoolRefusalError)?.reason == .closed)
    await scene.end()
    switch closing {
    case .runningWhatWaits: #expect(await waiting.outcome.result == 1)
    case .rejectingPending:
      #expect((await waiting.outcome.error as? PoolRefusalError)?.reason == .closed)
    }
    #expect(scene.begun.entries == (closing == .runningWhatWaits ? [0, 1] : [0]))
  }

  @Test func `W7: a deallocated pool runs the operations that it has taken, even if paused`() async
  {
    let gate = Gate()
    func submit() -> [OperationRun<Int>] {
      let pool = OperationPool(width: .serial)
      let first = pool.submitNow(
        SimpleOperation {
          try await gate.pass()
          return 1
        })
      let second = pool.submitNow(SimpleOperation { 2 })
      pool.pause()
      return [first, second]
    }
    let runs = submit()
    gate.open()
    for (number, run) in zip(1...2, runs) { #expect(await run.outcome.result == number) }
  }
}
