import CompositeOperations
import CompositeOperationsTestKit
import Testing

@Suite(.timeLimit(.minutes(10))) struct PermitTests {
  @Test(arguments: Setting.all)
  func `E1: the number of running operations never exceeds the number of permits`(setting: Setting)
    async throws
  {
    for count in [1, 2, 5] {
      let permits = Permits(count)
      let crowd = Crowd()
      let operation = SimpleOperation {
        crowd.enter()
        await setting.pause()
        crowd.leave()
      }.limited(by: permits)
      // In two composites at the same time.
      let list = ParallelOperation((0..<50).map { _ in operation })
      let outcome = try await setting.run { await ParallelOperation(list, list).run() }
      #expect(outcome.result != nil)
      #expect(crowd.most <= count)
    }
  }

  @Test func `E1: as many operations run as there are permits`() async throws {
    let permits = Permits(3)
    let gate = Gate()
    let operation = SimpleOperation { try await gate.pass() }
    let run = ParallelOperation((0..<10).map { _ in operation.limited(by: permits) }).start()
    await gate.waitForArrivals(3)
    let two = operation.limited(by: permits, taking: 2).start()
    gate.open()
    _ = try await run.outcome.get()
    _ = try await two.outcome.get()
  }

  @Test func `E1: permits are granted in FIFO order`() async throws {
    let permits = Permits(2, name: "two")
    let began = Log<Int>()
    let gate = Gate()
    let holder = SimpleOperation { try await gate.pass() }.limited(by: permits).start()
    await gate.waitForArrivals(1)
    // The first request needs both permits, and no request for one overtakes it.
    var runs: [OperationRun<Void>] = []
    for index in 0..<10 {
      let operation = SimpleOperation { began.add(index) }
      runs.append(
        index % 3 == 0
          ? operation.exclusive(in: permits).start() : operation.limited(by: permits).start())
      await permits.waitForQueue(of: index + 1)
    }
    #expect(began.entries == [])
    gate.open()
    for run in [holder] + runs { _ = try await run.outcome.get() }
    // Requests for one permit between two requests for both begin concurrently.
    let groups = [[0], [1, 2], [3], [4, 5], [6], [7, 8], [9]]
    var rest = began.entries[...]
    for group in groups {
      #expect(rest.prefix(group.count).sorted() == group)
      rest = rest.dropFirst(group.count)
    }
  }

  @Test func `E1: an exclusive operation is a barrier among operations that take some permits`()
    async throws
  {
    let permits = Permits(3)
    let gates = (0..<3).map { _ in Gate() }
    let inside = Crowd()
    let began = Log<String>()
    func operation(_ name: String, passing gate: Gate) -> SimpleOperation<Void> {
      SimpleOperation {
        began.add(name)
        inside.enter()
        try await gate.pass()
        inside.leave()
      }
    }
    let before = operation("before", passing: gates[0]).limited(by: permits).start()
    await gates[0].waitForArrivals(1)
    let barrier = operation("barrier", passing: gates[1]).exclusive(in: permits).start()
    await permits.waitForQueue(of: 1)
    let after = operation("after", passing: gates[2]).limited(by: permits).start()
    await permits.waitForQueue(of: 2)
    #expect(began.entries == ["before"])
    gates[0].open()
    await gates[1].waitForArrivals(1)
    #expect(began.entries == ["before", "barrier"])
    gates[1].open()
    await gates[2].waitForArrivals(1)
    gates[2].open()
    for run in [before, barrier, after] { _ = try await run.outcome.get() }
    #expect(inside.most == 1)
  }

  @Test func `E1: permits are released however an operation ends`() async {
    let lock = Permits(1)
    let setting = Setting(suspends: true, workers: .all)
    for operation in [setting.giving(7), setting.failing(), setting.stopping()] {
      let before = await operation.run().kind
      #expect(await operation.exclusive(in: lock).run().kind == before)
    }
    #expect(await setting.giving(7).exclusive(in: lock).run().result == 7)
  }

  // MARK: Cancellation

  @Test func `E2: a cancelled waiter releases only its place in the queue`() async throws {
    let lock = Permits(1)
    let gate = Gate()
    let began = Log<String>()
    let holder = SimpleOperation { try await gate.pass() }.exclusive(in: lock).start()
    await gate.waitForArrivals(1)
    let runs = ["first", "second", "third"].map { name in
      SimpleOperation { began.add(name) }.exclusive(in: lock).start()
    }
    await lock.waitForQueue(of: 3)
    runs[1].cancel()
    #expect(await runs[1].outcome.isCancelled)
    #expect(lock.leftCount == 0)
    gate.open()
    for run in [holder, runs[0], runs[2]] { _ = try await run.outcome.get() }
    #expect(Set(began.entries) == ["first", "third"])
    #expect(await SimpleOperation { 7 }.exclusive(in: lock).run().result == 7)
  }

  @Test func `E2: if the first waiter is cancelled, the next waiters are considered immediately`()
    async throws
  {
    let permits = Permits(2)
    let gate = Gate()
    let holder = SimpleOperation { try await gate.pass() }.limited(by: permits).start()
    await gate.waitForArrivals(1)
    // Needs both permits; for the next request, the remaining one is sufficient.
    let both = SimpleOperation {}.exclusive(in: permits).start()
    await permits.waitForQueue(of: 1)
    let one = SimpleOperation {}.limited(by: permits).start()
    await permits.waitForQueue(of: 2)
    both.cancel()
    #expect(await both.outcome.isCancelled)
    _ = try await one.outcome.get()
    gate.open()
    _ = try await holder.outcome.get()
  }

  @Test func `E2: a run that is cancelled while permits are granted has one outcome`()
    async throws
  {
    for _ in 0..<300 {
      let lock = Permits(1)
      let gate = Gate()
      let holder = SimpleOperation { try await gate.pass() }.exclusive(in: lock).start()
      await gate.waitForArrivals(1)
      let began = Flag()
      let waiter = SimpleOperation {
        began.set()
        return 7
      }.exclusive(in: lock).start()
      await lock.waitForQueue(of: 1)
      async let _ = gate.open()
      waiter.cancel()
      let outcome = await waiter.outcome
      #expect(outcome.isCancelled || outcome.result == 7)
      #expect(began.isSet || outcome.isCancelled)
      _ = try await holder.outcome.get()
      #expect(await SimpleOperation { 8 }.exclusive(in: lock).run().result == 8)
    }
  }

  @Test func `E2: a run that is cancelled between grant and resumption does not begin its body`()
    async throws
  {
    let executor = SeededExecutor(seed: 1)
    try await executor.run {
      let lock = Permits(1)
      let began = Flag()
      let waiter = SimpleOperation { began.set() }.exclusive(in: lock)
      let outcome = await SimpleOperation.withContext { context in
        let holder = SimpleOperation {
          let run = waiter.start(in: OperationEnvironment(executor: executor))
          await lock.waitForQueue(of: 1)
          return run
        }
        // When the holder has ended, the waiter has the permit, but does not run yet.
        let run = try await context.run(holder.exclusive(in: lock))
        run.cancel()
        return await run.outcome.isCancelled
      }.run()
      #expect(outcome.result == true)
      #expect(!began.isSet && lock.leftCount == 1)
    }
  }

  // MARK: Several permits

  @Test func `E3: permits of adjacent modifiers are taken together`() async throws {
    let (left, right) = (Permits(1, name: "left"), Permits(1, name: "right"))
    let gate = Gate()
    let holder = SimpleOperation { try await gate.pass() }.exclusive(in: right).start()
    await gate.waitForArrivals(1)
    for both in [
      AnyOperation(SimpleOperation { 2 }.exclusive(in: left, right)),
      AnyOperation(SimpleOperation { 2 }.exclusive(in: left).exclusive(in: right)),
      AnyOperation(SimpleOperation { 2 }.exclusive(in: right).limited(by: left)),
    ] {
      let run = both.start()
      await right.waitForQueue(of: 1)
      // While it waits for one lock, it does not hold the other one; it is only first in its queue.
      #expect(left.leftCount == 1)
      run.cancel()
      #expect(await run.outcome.isCancelled)
    }
    let run = SimpleOperation { 2 }.exclusive(in: left).exclusive(in: right).start()
    await right.waitForQueue(of: 1)
    gate.open()
    #expect(await run.outcome.result == 2)
    _ = try await holder.outcome.get()
  }

  @Test func `E3: an operation that is exclusive in no permits runs as without the modifier`() async
  {
    #expect(await SimpleOperation { 1 }.exclusive().run().result == 1)
  }

  @Test func `E3: the same permits are taken once`() async {
    let permits = Permits(2)
    let operation = SimpleOperation { permits.leftCount }.limited(by: permits)
      .exclusive(in: permits)
    #expect(await operation.run().result == 0)
    #expect(await operation.exclusive(in: permits, permits).run().result == 0)
    #expect(permits.leftCount == 2)
  }

  @Test func `E3: operations that take the same permits in different orders do not deadlock`()
    async throws
  {
    let (left, right) = (Permits(1), Permits(1))
    let setting = Setting(suspends: true, workers: .all)
    let operations = (0..<400).map { index in
      let operation = setting.giving(index)
      return index % 2 == 0
        ? AnyOperation(operation.exclusive(in: left, right))
        : AnyOperation(operation.exclusive(in: right).exclusive(in: left))
    }
    #expect(try await ParallelOperation(operations).run().get() == Array(0..<400))
  }

  @Test func `invalid numbers of permits are programming errors`() async {
    await #expect(processExitsWith: .failure) { _ = Permits(0) }
    await #expect(processExitsWith: .failure) {
      _ = SimpleOperation {}.limited(by: Permits(2), taking: 3)
    }
    await #expect(processExitsWith: .failure) {
      _ = SimpleOperation {}.limited(by: Permits(2), taking: 0)
    }
    await #expect(processExitsWith: .failure) { _ = RateLimit(0, per: .seconds(1)) }
    await #expect(processExitsWith: .failure) { _ = RateLimit(1, per: .zero) }
  }
}

extension Permits {
  /// Waits until a number of requests wait for permits.
  func waitForQueue(of count: Int) async {
    while waitingCount < count { await Task.yield() }
  }
}
