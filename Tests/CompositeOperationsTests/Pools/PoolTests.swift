import CompositeOperations
import CompositeOperationsTestKit
import Foundation
import Testing

@Suite(.timeLimit(.minutes(10))) struct PoolTests {
  // MARK: W1

  @Test func `W1: submitting an operation returns a handle with its outcome`()
    async
  {
    let pool = OperationPool(width: .limited(to: 2))
    let setting = Setting(suspends: true, workers: .all)
    func submitAll() -> [OperationRun<Int>] {
      [setting.giving(1), setting.failing(), setting.stopping(), setting.giving(4)].map {
        pool.submitNow($0)
      }
    }
    var ends: [String] = []
    for run in submitAll() { ends.append(await run.outcome.kind) }
    #expect(ends == ["result 1", "error failed", "cancelled", "result 4"])
    await pool.drain()
    #expect(pool.runningCount == 0 && pool.waitingCount == 0)
  }

  @Test func `W1: runs have the task-local values of their submitters, and leave their actor`()
    async
  {
    enum Local {
      @TaskLocal static var name = "none"
    }
    let pool = OperationPool(width: .serial)
    @Sendable func isOnMainThread() -> Bool { Thread.isMainThread }
    let names = SimpleOperation { "\(Local.name) \(isOnMainThread())" }
    let runs = await MainActor.run {
      ["one", "two"].map { name in Local.$name.withValue(name) { pool.submitNow(names) } }
    }
    for (run, name) in zip(runs, ["one", "two"]) {
      #expect(await run.outcome.result == "\(name) false")
    }
  }

  @Test func `W1: a run reports its start when it has a place`() async {
    let observer = RecordingObserver()
    let pool = OperationPool(
      width: .serial, in: OperationEnvironment(observers: [observer]))
    let scene = await PoolScene(pool)
    let waits = await pool.submit(SimpleOperation {}.named("waits"))
    while observer.events(of: "waits").count < 2 { await Task.yield() }
    let cancelled = await pool.submit(SimpleOperation {}.named("cancelled"))
    cancelled.cancel(because: "it is not needed")
    _ = await cancelled.outcome
    await scene.end()
    func told(_ name: String) -> [String] {
      observer.events.filter { $0.name == name }.map { event in
        String("\(event)".split(separator: " ", maxSplits: 2)[2])
      }
    }
    #expect(
      told("waits") == [
        "created", "waits for a place", "has waited for a place", "started", "ended: result()",
      ])
    #expect(
      // It can have begun to wait before it was cancelled.
      told("cancelled").filter { !$0.contains("wait") }
        == ["created", "asked to cancel because it is not needed", "ended: cancelled"])
    #expect(await waits.outcome.result != nil)
  }

  // MARK: W2

  @Test(arguments: [OperationPool.Order.fifo, .lifo])
  func `W2: the highest priority begins first, and equal priorities in the order of the pool`(
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
      order == .fifo ? [0, 7, 3, 5, 1, 4, 2, 6] : [0, 7, 5, 3, 4, 1, 6, 2]
    #expect(scene.begun.entries == expected)
  }

  @Test func `W2: the width can be changed while operations run`() async {
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

  @Test func `W4: a barrier waits for the operations before it and runs alone`() async {
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

  @Test func `W4: no operation begins while a barrier runs`() async {
    let pool = OperationPool(width: .limited(to: 3))
    let gate = Gate()
    await pool.submit(SimpleOperation { try await gate.pass() }, isBarrier: true)
    await gate.waitForArrivals(1)
    await pool.submit(SimpleOperation {})
    await pool.submit(SimpleOperation {})
    #expect(pool.runningCount == 1 && pool.waitingCount == 2)
    gate.open()
    await pool.drain()
  }

  // MARK: W5

  @Test func `W5: no operation begins in a pause`() async {
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
}
