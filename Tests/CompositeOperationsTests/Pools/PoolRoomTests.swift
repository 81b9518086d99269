import CompositeOperations
import CompositeOperationsTestKit
import Testing

/// Pools with a limited capacity.
@Suite struct PoolRoomTests {
  @Test func `W3: an operation that cannot wait for room is refused`() async {
    for overflow in [OperationPool.Overflow.refuse, .wait] {
      let pool = OperationPool(width: .serial, capacity: 2, overflow: overflow)
      let scene = await PoolScene(pool)
      func submit() -> [OperationRun<Int>] { (1...3).map { pool.submitNow(scene.guest($0)) } }
      let runs = submit()
      let error = await runs[2].outcome.error as? PoolRefusalError
      #expect(error?.reason == .full)
      #expect(
        error.map(String.init(describing:))
          == "pool full: 'PoolGuest' was refused because the queue has reached its capacity")
      await scene.end()
      #expect(scene.begun.entries == [0, 1, 2])
    }
  }

  @Test func `W3: submitters wait for room in FIFO order, and can be cancelled meanwhile`() async {
    let executor = SeededExecutor(seed: 1)
    let pool = OperationPool(
      width: .serial, capacity: 1, in: OperationEnvironment(executor: executor))
    let (gate, begun) = (Gate(), Log<Int>())
    func guest(_ number: Int) -> PoolGuest {
      PoolGuest(number: number, begun: begun, gate: gate)
    }
    for number in 0...1 { pool.submitNow(guest(number)) }
    executor.drain()
    let submitters = (2...4).map { number in
      let submitter = Task(executorPreference: executor) {
        await pool.submit(guest(number), priority: number == 4 ? .high : .normal)
      }
      executor.drain()
      return submitter
    }
    #expect(pool.waitingCount == 1)
    submitters[1].cancel()
    executor.drain()
    #expect(await submitters[1].value.outcome.isCancelled)
    gate.open()
    executor.drain()
    for number in [2, 4] {
      #expect(await submitters[number - 2].value.outcome.result == number)
    }
    #expect(begun.entries == [0, 1, 2, 4])
  }

  @Test(arguments: [OperationPool.Overflow.dropOldest, .dropNewest])
  func `W3: the overflow rule drops the oldest or the newest waiting operation`(
    overflow: OperationPool.Overflow
  ) async {
    let pool = OperationPool(width: .serial, capacity: 2, overflow: overflow)
    let scene = await PoolScene(pool)
    var runs: [OperationRun<Int>] = []
    for number in 1...4 { runs.append(await pool.submit(scene.guest(number))) }
    await scene.end()
    let kept = overflow == .dropOldest ? [3, 4] : [1, 4]
    #expect(scene.begun.entries == [0] + kept)
    for (number, run) in zip(1...4, runs) where !kept.contains(number) {
      #expect((await run.outcome.error as? PoolRefusalError)?.reason == .dropped)
    }
  }

  @Test func `W3: with a capacity of 0, an operation without a place is refused`() async {
    for overflow in [OperationPool.Overflow.refuse, .dropOldest, .dropNewest] {
      let pool = OperationPool(width: .limited(to: 2), capacity: 0, overflow: overflow)
      let scene = await PoolScene(pool)
      _ = await pool.submit(scene.guest(1))
      let run = await pool.submit(scene.guest(2))
      #expect((await run.outcome.error as? PoolRefusalError)?.reason == .full)
      await scene.end()
      #expect(scene.begun.entries.sorted() == [0, 1])
    }
  }

  @Test func `W3: no operation overtakes submitters that wait for room`() async {
    let executor = SeededExecutor(seed: 1)
    let pool = OperationPool(
      width: .limited(to: 2), capacity: 0, in: OperationEnvironment(executor: executor))
    let gate = Gate()
    let begun = Log<Int>()
    func submit(_ number: Int) -> OperationRun<Int> {
      pool.submitNow(PoolGuest(number: number, begun: begun, gate: gate))
    }
    let first = submit(0)
    let barrier = Task(executorPreference: executor) {
      await pool.submit(PoolGuest(number: 1, begun: begun, gate: gate), isBarrier: true)
    }
    executor.drain()
    // There is a free place, which the barrier, submitted earlier, cannot use.
    let late = submit(2)
    executor.drain()
    #expect((await late.outcome.error as? PoolRefusalError)?.reason == .full)
    gate.open()
    executor.drain()
    #expect(await first.outcome.result == 0)
    #expect(await barrier.value.outcome.result == 1)
    #expect(begun.entries == [0, 1])
  }
}
