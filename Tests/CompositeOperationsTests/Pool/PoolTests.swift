import CompositeOperations
import CompositeOperationsTestKit
import Foundation
import Testing

@Suite struct PoolTests {
  // MARK: W1

  @Test func `W1: who submits an operation has a handle that tells how it ended`()
    async
  {
    let pool = OperationPool(width: .limited(to: 2))
    let setting = Setting(suspends: true, workers: .all)
    func submitAll() -> [OperationRun<Int>] {
      [setting.giving(1), setting.failing(), setting.stopping(), setting.giving(4)].map {
        pool.submit($0)
      }
    }
    var ends: [String] = []
    for run in submitAll() { ends.append(await run.outcome.kind) }
    #expect(ends == ["result 1", "error failed", "cancelled", "result 4"])
    await pool.drain()
    #expect(pool.runningCount == 0 && pool.waitingCount == 0)
  }

  @Test func `W1: runs have the task-local values of those who submit them, and leave their actor`()
    async
  {
    enum Local {
      @TaskLocal static var name = "nobody"
    }
    let pool = OperationPool(width: .serial)
    @Sendable func isOnMainThread() -> Bool { Thread.isMainThread }
    let names = SimpleOperation { "\(Local.name) \(isOnMainThread())" }
    let runs = await MainActor.run {
      ["one", "two"].map { name in Local.$name.withValue(name) { pool.submit(names) } }
    }
    for (run, name) in zip(runs, ["one", "two"]) {
      #expect(await run.outcome.result == "\(name) false")
    }
  }

  @Test func `W1: an observer sees a run begin when it has a place`() async {
    let observer = RecordingObserver()
    let pool = OperationPool(
      width: .serial, in: OperationEnvironment(observers: [observer]))
    let scene = await PoolScene(pool)
    let waits = await pool.submit(SimpleOperation {}.named("waits"))
    let cancelled = await pool.submit(SimpleOperation {}.named("cancelled"))
    cancelled.cancel(because: "nobody needs it")
    _ = await cancelled.outcome
    await scene.end()
    func told(_ name: String) -> [String] {
      observer.events.filter { $0.name == name }.map { event in
        String("\(event)".split(separator: " ", maxSplits: 2)[2])
      }
    }
    #expect(told("waits") == ["created", "started", "ended: result()"])
    #expect(
      told("cancelled")
        == ["created", "asked to cancel because nobody needs it", "ended: cancelled"])
    #expect(await waits.outcome.result != nil)
  }

  // MARK: W2

  @Test(arguments: [OperationPool.Order.firstIn, .lastIn])
  func `W2: the more important begin first, and of the same importance by the order`(
    order: OperationPool.Order
  ) async {
    let scene = await PoolScene(OperationPool(width: .serial, order: order))
    let priorities: [OperationPool.Priority] = [
      .normal, .low, .high, .normal, .high, .low, .init(rawValue: 7),
    ]
    for (index, priority) in priorities.enumerated() {
      _ = await scene.pool.submit(scene.guest(index + 1), priority: priority)
    }
    await scene.end()
    let expected =
      order == .firstIn ? [0, 7, 3, 5, 1, 4, 2, 6] : [0, 7, 5, 3, 4, 1, 6, 2]
    #expect(scene.begun.entries == expected)
  }

  @Test func `W2: a width can be changed while operations run`() async {
    let pool = OperationPool(width: .serial)
    let scene = await PoolScene(pool)
    for number in 1...5 { _ = await pool.submit(scene.guest(number)) }
    #expect(pool.runningCount == 1 && pool.waitingCount == 5)
    pool.width = .limited(to: 3)
    await scene.gate.waitForArrivals(3)
    #expect(pool.runningCount == 3 && pool.waitingCount == 3)
    #expect(pool.width == .limited(to: 3))
    pool.width = .serial
    #expect(pool.runningCount == 3 && pool.waitingCount == 3)
    pool.width = .adaptive
    await scene.gate.waitForArrivals(6)
    #expect(pool.waitingCount == 0)
    await scene.end()
  }

  // MARK: W4

  @Test func `W4: a barrier waits for those before it and runs alone`() async {
    let pool = OperationPool(width: .limited(to: 3))
    let crowd = Crowd()
    let begun = Log<Int>()
    let gate = Gate()
    func guest(_ number: Int, isBarrier: Bool = false) -> some ComposableOperation<Int> {
      SimpleOperation {
        begun.add(number)
        if isBarrier { #expect(crowd.now == 0) }
        crowd.enter()
        defer { crowd.leave() }
        try await gate.pass()
        await Task.yield()
        return number
      }
    }
    var runs: [OperationRun<Int>] = []
    for number in 1...9 {
      let isBarrier = number.isMultiple(of: 3)
      runs.append(
        await pool.submit(
          guest(number, isBarrier: isBarrier), priority: number == 7 ? .high : .normal,
          isBarrier: isBarrier))
    }
    await gate.waitForArrivals(2)
    #expect(pool.runningCount == 2 && pool.waitingCount == 7)
    gate.open()
    await pool.drain()
    let entries = begun.entries
    #expect(entries.map { ($0 - 1) / 3 } == [0, 0, 0, 1, 1, 1, 2, 2, 2])
    #expect([2, 5, 8].map { entries[$0] } == [3, 6, 9])
    #expect(crowd.most <= 2)
  }

  // MARK: W5

  @Test func `W5: nobody begins in a pause`() async {
    let pool = OperationPool(width: .limited(to: 2))
    let scene = await PoolScene(pool)
    pool.pause()
    let run = await pool.submit(scene.guest(1))
    #expect(pool.runningCount == 1 && pool.waitingCount == 1)
    scene.gate.open()
    while pool.runningCount > 0 { await Task.yield() }
    #expect(pool.waitingCount == 1 && scene.begun.entries == [0])
    pool.resume()
    #expect(await run.outcome.result == 1)
  }

  // MARK: W6

  @Test func `W6: who is cancelled while it waits ends at once and never begins`() async {
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

  @Test func `W6: all are cancelled together, and the pool goes on`() async {
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

  @Test func `W6: nobody begins while all are cancelled`() async throws {
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
          // Somebody makes places while those that wait have not been cancelled yet.
          pool.width = .adaptive
        }
      }
      return [pool.submit(first.named("first"))]
        + ["second", "third"].map { pool.submit(SimpleOperation {}.named($0)) }
    }
    let runs = submit()
    executor.drain()
    pool.cancelAll()
    executor.drain()
    for run in runs { #expect(await run.outcome.isCancelled) }
    #expect(doorman.seen.entries.filter { $0.hasSuffix("began") } == ["first began"])
  }

  // MARK: W7

  @Test func `W7: draining waits for those that run and for those that wait`() async {
    let executor = SeededExecutor(seed: 1)
    let pool = OperationPool(width: .serial, in: OperationEnvironment(executor: executor))
    let gates = [Gate(), Gate()]
    func submitAll() {
      for gate in gates { pool.submit(SimpleOperation { try await gate.pass() }) }
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

  @Test(arguments: [OperationPool.Closing.runningWhatWaits, .refusingWhatWaits])
  func `W7: a closed pool takes nothing, and what waits runs or is refused`(
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
    case .refusingWhatWaits:
      #expect((await waiting.outcome.error as? PoolRefusalError)?.reason == .closed)
    }
    #expect(scene.begun.entries == (closing == .runningWhatWaits ? [0, 1] : [0]))
  }

  @Test func `W7: a pool that is dropped runs what it has taken, also in a pause`() async {
    let gate = Gate()
    func submit() -> [OperationRun<Int>] {
      let pool = OperationPool(width: .serial)
      let first = pool.submit(
        SimpleOperation {
          try await gate.pass()
          return 1
        })
      let second = pool.submit(SimpleOperation { 2 })
      pool.pause()
      return [first, second]
    }
    let runs = submit()
    gate.open()
    for (number, run) in zip(1...2, runs) { #expect(await run.outcome.result == number) }
  }

  // MARK: W8

  private struct Doorman: OperationPoolDelegate {
    struct NotToday: Error {}
    let seen = Log<String>()

    func willTake(_ member: PoolMember) throws {
      seen.add("will take \(member.name)")
      if member.priority < .normal { throw NotToday() }
    }
    func didBegin(_ member: PoolMember) { seen.add("\(member.name) began") }
    func didEnd(_ member: PoolMember, in outcome: Outcome<any Sendable>) {
      seen.add("\(member.name) ended: \(outcome.kind)")
    }
  }

  @Test func `W8: a delegate sees operations come and go, and may refuse them`() async {
    let doorman = Doorman()
    let pool = OperationPool(width: .serial, capacity: 1, overflow: .refuse, delegate: doorman)
    let gate = Gate()
    let first = await pool.submit(
      SimpleOperation {
        try await gate.pass()
        return 1
      }.named("first"))
    await gate.waitForArrivals(1)
    let unwanted = await pool.submit(SimpleOperation { 2 }.named("unwanted"), priority: .low)
    #expect(await unwanted.outcome.error is Doorman.NotToday)
    let cancelled = await pool.submit(SimpleOperation { 3 }.named("cancelled"))
    let tooMuch = await pool.submit(SimpleOperation { 4 }.named("too much"))
    #expect(await tooMuch.outcome.error is PoolRefusalError)
    cancelled.cancel()
    _ = await cancelled.outcome
    gate.open()
    #expect(await first.outcome.result == 1)
    #expect(
      doorman.seen.entries == [
        "will take first", "first began", "will take unwanted", "will take cancelled",
        "will take too much",
        "too much ended: error too much was not taken: as many operations wait in the pool as may",
        "cancelled ended: cancelled", "first ended: result 1",
      ])
  }
}
