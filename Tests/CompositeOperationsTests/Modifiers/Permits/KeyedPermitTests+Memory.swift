import CompositeOperations
import CompositeOperationsTestKit
import Testing

/// The memory of keys, their locks, and random programs.
extension KeyedPermitTests {
  @Test func `E7: a key that is no longer used takes no memory, however its operations end`() async
  {
    let permits = KeyedPermits<Int>(1)
    for operation in [SimpleOperation { 1 }, SimpleOperation<Int> { throw TestError("failed") }] {
      for key in 0..<100 { _ = await operation.limited(by: permits[key]).run() }
    }
    #expect(permits.keyCount == 0)
    // Waiters that are cancelled, and a holder.
    let gate = Gate()
    do {
      let holder = SimpleOperation { try await gate.pass() }.limited(by: permits[1]).start()
      await gate.waitForArrivals(1)
      let waiters = (0..<10).map { _ in SimpleOperation {}.limited(by: permits[1]).start() }
      await permits[1].waitForQueue(of: 10)
      for run in waiters { run.cancel() }
      for run in waiters { #expect(await run.outcome.isCancelled) }
      #expect(permits.keyCount == 1)
      gate.open()
      _ = await holder.outcome
    }
    // A request that is refused, because it would be a deadlock.
    do {
      let inner = SimpleOperation {}.limited(by: permits[2])
      let outer = SimpleOperation.withContext { context in try await context.run(inner) }
      #expect(await outer.limited(by: permits[2]).run().firstPermitError != nil)
    }
    // A run that is cancelled before it begins, and operations that never run.
    do {
      let dropped = (0..<10).map { SimpleOperation {}.limited(by: permits[$0]) }
      #expect(permits.keyCount == 10)
      let run = dropped[3].delayed(by: .seconds(1_000)).start()
      run.cancel()
      #expect(await run.outcome.isCancelled)
    }
    await permits.waitUntilUnused()
    #expect(permits.keyCount == 0)
  }

  @Test func `E7: permits that are kept are in use, without a run too`() {
    let permits = KeyedPermits<Int>(3)
    do {
      let kept = permits[1]
      #expect(permits.keyCount == 1)
      #expect(permits[1] === kept)
      _ = permits[2]
      #expect(permits.keyCount == 1)
      withExtendedLifetime(kept) {}
    }
    #expect(permits.keyCount == 0)
    // They can outlive the collection.
    var collection: KeyedPermits<Int>? = KeyedPermits(3)
    let kept = collection?[1]
    collection = nil
    #expect(kept?.leftCount == 3)
  }

  /// All of them have the same hash value.
  private struct CollidingKey: Hashable, Sendable {
    let number: Int
    func hash(into hasher: inout Hasher) {}
  }

  @Test func `E7: keys with the same hash value are distinguished`() {
    let permits = KeyedPermits<CollidingKey>(1)
    var kept = (0..<30).map { permits[CollidingKey(number: $0 % 10)] }
    #expect(Set(kept.map { ObjectIdentifier($0) }).count == 10)
    #expect(permits.keyCount == 10)
    for number in stride(from: 0, to: 10, by: 2) {
      let gone = permits[CollidingKey(number: number)]
      kept.removeAll { $0 === gone }
    }
    #expect(permits.keyCount == 5)
    #expect(permits[CollidingKey(number: 7)] === kept.first { $0.name.contains("7") })
  }

  @Test func `E7: a key that comes into use twice at the same time has one set of permits`() {
    let inner = Log<Permits>()
    let collection = Log<KeyedPermits<Int>>()
    let permits = KeyedPermits<Int>(name: "p") { key in
      // As another thread does meanwhile.
      if inner.count == 0, let permits = collection.entries.first {
        collection.clear()
        inner.add(permits[key])
      }
      return 1
    }
    collection.add(permits)
    let outer = permits[1]
    #expect(inner.entries.first === outer)
    #expect(permits.keyCount == 1)
    inner.clear()
  }

  @Test func `E7: threads that use keys at the same time share their permits`() async throws {
    let permits = KeyedPermits<CollidingKey>(2)
    let crowds = (0..<3).map { _ in Crowd() }
    let lists = (0..<8).map { list in
      SimpleOperation.withContext { context in
        for index in 0..<Scale.cases(20_000) {
          let key = (index + list) % 3
          let operation = SimpleOperation {
            crowds[key].enter()
            if index % 7 == list { await Task.yield() }
            crowds[key].leave()
          }
          try await context.run(operation.limited(by: permits[CollidingKey(number: key)]))
        }
      }
    }
    _ = try await ParallelOperation(lists, width: .limited(to: 8)).run().get()
    for crowd in crowds { #expect((1...2).contains(crowd.most)) }
    #expect(permits.keyCount == 0)
  }

  // MARK: Random programs

  /// Runs begin, wait, end and are cancelled, in any order. A model of the rules says how many of
  /// them run, and which keys are in use.
  @Test(arguments: 0..<10)
  func `E7: random programs do what the rules say`(block: Int) {
    let count = Scale.cases(200)
    for seed in block * count..<(block + 1) * count {
      var chance = Chance(seed: UInt64(seed))
      let executor = SeededExecutor(seed: UInt64(seed))
      let permits = KeyedPermits<CollidingKey>(name: "p") { $0.number + 1 }
      var queues: [[KeyedRun]] = Array(repeating: [], count: 4)
      for step in 0..<40 {
        let key = chance.number(0...3)
        if chance.percent(55) {
          let run = KeyedRun(in: permits[CollidingKey(number: key)], executor)
          queues[key].append(run)
        } else if !queues[key].isEmpty {
          let run = queues[key].remove(at: chance.number(0...queues[key].count - 1))
          if chance.percent(50) { run.handle.cancel() }
          run.gate.open()
        }
        executor.drain()
        for (key, queue) in queues.enumerated() {
          // In FIFO order, as many as there are permits.
          let expected = queue.indices.map { $0 <= key }
          #expect(queue.map(\.began.isSet) == expected, "seed \(seed), step \(step), key \(key)")
        }
        let used = queues.count { !$0.isEmpty }
        #expect(permits.keyCount == used, "seed \(seed), step \(step)")
      }
      for run in queues.joined() { run.gate.open() }
      executor.drain()
      queues = []
      #expect(permits.keyCount == 0, "seed \(seed)")
    }
  }

  // MARK: Locks

  /// A key whose code uses the collection itself. Under its lock, this would deadlock.
  private struct UserKey: Hashable, Sendable {
    let number: Int
    let code: UserCodeRecorder
    let value: UserValue

    init(_ number: Int, _ code: UserCodeRecorder) {
      self.number = number
      self.code = code
      value = UserValue(code)
    }

    static func == (left: UserKey, right: UserKey) -> Bool {
      left.code.runs("==")
      return left.number == right.number
    }

    func hash(into hasher: inout Hasher) { code.runs("hash") }
  }

  @Test func `C3: keys of permits are hashed, compared and freed without a lock`() async {
    let code = UserCodeRecorder()
    let permits = KeyedPermits<UserKey>(name: "p") { _ in
      code.runs("count")
      return 1
    }
    code.callBack { _ = permits.keyCount }
    let gate = Gate()
    let runs = (0..<12).map { number in
      SimpleOperation { try await gate.pass() }
        .limited(by: permits[UserKey(number % 4, code)]).start()
    }
    await gate.waitForArrivals(4)
    for run in runs.suffix(4) { run.cancel() }
    gate.open()
    for run in runs { _ = await run.outcome }
    await permits.waitUntilUnused()
    for what in ["hash", "==", "count", "deinit"] {
      #expect(code.count(of: what) > 0, "\(what)")
    }
    #expect(code.underLock == [])
    code.stopCallingBack()
  }
}

private struct KeyedRun {
  let gate = Gate()
  let began = Flag()
  let handle: OperationRun<Void>

  init(in permits: Permits, _ executor: SeededExecutor) {
    let (gate, began) = (gate, began)
    handle = SimpleOperation {
      began.set()
      try await gate.pass()
    }.limited(by: permits).start(in: OperationEnvironment(executor: executor))
  }
}

extension KeyedPermits {
  /// Waits for tasks that have ended and are still being freed.
  fileprivate func waitUntilUnused() async {
    let end = ContinuousClock.now + .seconds(20)
    while keyCount > 0, ContinuousClock.now < end { await Task.yield() }
  }
}
