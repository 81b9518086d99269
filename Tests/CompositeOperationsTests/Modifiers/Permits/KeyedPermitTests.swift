import CompositeOperations
import CompositeOperationsTestKit
import Testing

@Suite(.timeLimit(.minutes(10))) struct KeyedPermitTests {
  @Test(arguments: Setting.all)
  func `E7: each key has its own permits, and equal keys share them`(setting: Setting) async throws
  {
    let permits = KeyedPermits<String>(2)
    let crowds = ["a": Crowd(), "b": Crowd(), "c": Crowd()]
    let all = Crowd()
    let operations = (0..<60).map { index in
      let key = ["a", "b", "c"][index % 3]
      return SimpleOperation {
        crowds[key]?.enter()
        all.enter()
        await setting.pause()
        all.leave()
        crowds[key]?.leave()
      }.limited(by: permits[key])
    }
    let outcome = try await setting.run { await ParallelOperation(operations).run() }
    #expect(outcome.result != nil)
    for (key, crowd) in crowds { #expect(crowd.most <= 2, "\(key)") }
    #expect(permits["a"] !== permits["b"])
    // As many operations as there are permits for each key run at once.
    let gate = Gate()
    let waiting = ["a", "b", "a", "b", "a", "b"].map { key in
      SimpleOperation { try await gate.pass() }.limited(by: permits[key]).start()
    }
    await gate.waitForArrivals(4)
    await permits["a"].waitForQueue(of: 1)
    await permits["b"].waitForQueue(of: 1)
    #expect(gate.arrivals == 4)
    gate.open()
    for run in waiting { try await run.outcome.get() }
  }

  @Test func `E7: the waiters of a key proceed in FIFO order, and leave when cancelled`() async {
    let permits = KeyedPermits<Int>(1, name: "hosts")
    let gate = Gate()
    let began = Log<Int>()
    let holder = SimpleOperation { try await gate.pass() }.limited(by: permits[7]).start()
    await gate.waitForArrivals(1)
    var waiters: [OperationRun<Void>] = []
    for index in 0..<6 {
      waiters.append(SimpleOperation { began.add(index) }.exclusive(in: permits[7]).start())
      await permits[7].waitForQueue(of: index + 1)
    }
    waiters[2].cancel()
    #expect(await waiters[2].outcome.isCancelled)
    // Another key is not held up.
    #expect(await SimpleOperation { 8 }.limited(by: permits[8]).run().result == 8)
    gate.open()
    for run in waiters + [holder] { _ = await run.outcome }
    #expect(began.entries == [0, 1, 3, 4, 5])
  }

  @Test func `E7: the count can depend on the key, and the name contains it`() async {
    let asked = Log<String>()
    let permits = KeyedPermits<String>(name: "connections") { host in
      asked.add(host)
      return host == "localhost" ? 16 : 4
    }
    do {
      let (local, other) = (permits["localhost"], permits["example.org"])
      #expect((local.count, other.count) == (16, 4))
      #expect(local.name == "connections[localhost]")
      #expect(permits["localhost"] === local)
      #expect(asked.entries == ["localhost", "example.org"])
    }
    // The key is in use for the second time.
    #expect(permits["localhost"].count == 16)
    #expect(asked.count == 3)
  }

  @Test func `E7: adjacent modifiers take the permits of a key once`() async {
    let permits = KeyedPermits<String>(2)
    let gate = Gate()
    let run = SimpleOperation { try await gate.pass() }
      .limited(by: permits["a"]).exclusive(in: permits["a"], permits["b"]).start()
    await gate.waitForArrivals(1)
    #expect((permits["a"].leftCount, permits["b"].leftCount) == (0, 0))
    gate.open()
    _ = await run.outcome
    // The holder of the permits of a key is found by a nested operation with an equal key.
    let inner = SimpleOperation {}.exclusive(in: permits["a"])
    let outer = SimpleOperation.withContext { context in try await context.run(inner) }
    let error = await outer.limited(by: permits["a"]).run().firstPermitError
    #expect(error?.reason == .heldByAncestor)
    #expect(error?.wanted == ["permits[a]"])
  }
}
