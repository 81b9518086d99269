import CompositeOperations
import CompositeOperationsTestKit
import Testing

@Suite struct SeededExecutorTests {
  /// Returns the order in which tasks of one executor run.
  private func order(ofSeed seed: UInt64) -> [String] {
    let log = Log<String>()
    let executor = SeededExecutor(seed: seed)
    for name in ["a", "b", "c", "d"] {
      Task(executorPreference: executor) {
        for turn in 1...3 {
          log.add("\(name)\(turn)")
          await Task.yield()
        }
      }
    }
    #expect(log.entries.isEmpty)
    executor.drain()
    return log.entries
  }

  @Test func `C5: the same seed gives the same order, and other seeds give other orders`() {
    var orders: Set<[String]> = []
    for seed in 0..<100 as Range<UInt64> {
      let order = order(ofSeed: seed)
      #expect(order == self.order(ofSeed: seed), "seed \(seed)")
      #expect(order.count == 12)
      for name in ["a", "b", "c", "d"] {
        #expect(order.filter { $0.hasPrefix(name) } == (1...3).map { "\(name)\($0)" })
      }
      orders.insert(order)
    }
    // There are 369,600 possible orders, so that a hundred seeds rarely have equal ones.
    #expect(orders.count >= 99)
    #expect(SeededExecutor(seed: 42).seed == 42)
  }

  @Test func `C5: all tasks below a body run on the executor`() async throws {
    let story = { @Sendable (seed: UInt64) async throws -> [Int] in
      let log = Log<Int>()
      _ = try await SeededExecutor(seed: seed).run {
        await withTaskGroup { group in
          for child in 0..<6 { group.addTask { log.add(child) } }
        }
        async let late: Void = log.add(6)
        await late
      }
      return log.entries
    }
    var stories: Set<[Int]> = []
    for seed in 0..<50 as Range<UInt64> {
      let entries = try await story(seed)
      #expect(entries == (try await story(seed)), "seed \(seed)")
      #expect(entries.sorted() == Array(0...6))
      stories.insert(entries)
    }
    #expect(stories.count > 25)
  }

  @Test func `draining ends when no job is ready, and can continue later`() {
    let executor = SeededExecutor(seed: 1)
    #expect(executor.drain() == 0)
    let gate = Gate()
    let log = Log<String>()
    Task(executorPreference: executor) {
      log.add("before")
      await gate.passIgnoringCancellation()
      log.add("after")
    }
    let first = executor.drain()
    #expect(first >= 1)
    #expect(log.entries == ["before"])
    #expect(executor.drain() == 0)
    gate.open()
    #expect(executor.drain() >= 1)
    #expect(log.entries == ["before", "after"])
  }

  @Test func `the closure after each job receives its number, and can create new jobs`() {
    let executor = SeededExecutor(seed: 1)
    let log = Log<String>()
    func begin(_ name: String) {
      Task(executorPreference: executor) { log.add(name) }
    }
    begin("first")
    begin("second")
    var counts: [Int] = []
    let count = executor.drain { number in
      counts.append(number)
      #expect(log.count == number)
      if number == 2 { begin("third") }
    }
    #expect(counts == [1, 2, 3])
    #expect(count == 3)
    #expect(log.entries.last == "third")
  }

  @Test func `running a body returns its value or throws its error, and counts its jobs`()
    async throws
  {
    let executor = SeededExecutor(seed: 7)
    var counts: [Int] = []
    let body = { @Sendable in
      for _ in 0..<3 { await Task.yield() }
      return 7
    }
    let value = try await executor.run(afterEachJob: { counts.append($0) }, body)
    #expect(value == 7)
    #expect(counts.count >= 4)
    #expect(counts == Array(1...counts.count))
    await #expect(throws: TestError("thrown")) {
      try await executor.run { throw TestError("thrown") }
    }
  }

  @Test func `a body that waits forever is an error instead of a hang`()
    async throws
  {
    let gate = Gate()
    let executor = SeededExecutor(seed: 42)
    let error = await #expect(throws: SeededExecutorStuckError.self) {
      try await executor.run { await gate.passIgnoringCancellation() }
    }
    #expect(error?.seed == 42)
    #expect(error?.jobs == 1)
    #expect(error.map { "\($0)" }?.contains("seed 42") == true)
    gate.open()
    #expect(executor.drain() == 1)
  }

  @Test func `a clock is advanced to the next deadline when no job is ready`() async throws {
    let clock = ManualClock()
    let log = Log<Duration>()
    var counts: [Int] = []
    let executor = SeededExecutor(seed: 1)
    let body = { @Sendable in
      for _ in 0..<3 {
        try await clock.sleep(for: .seconds(5))
        log.add(clock.now.offset)
      }
    }
    try await executor.run(advancing: clock, afterEachJob: { counts.append($0) }, body)
    #expect(log.entries == [.seconds(5), .seconds(10), .seconds(15)])
    #expect(counts.count >= 4)
    #expect(counts == Array(1...counts.count))
    let error = await #expect(throws: SeededExecutorStuckError.self) {
      try await executor.run { try await clock.sleep(for: .seconds(1)) }
    }
    #expect(error?.isAtLimit == false)
  }

  @Test func `the number of jobs that run never exceeds the limit`() async throws {
    let executor = SeededExecutor(seed: 42)
    let log = Log<String>()
    Task(executorPreference: executor) {
      for _ in 0..<9 { await Task.yield() }
      log.add("over")
    }
    #expect(executor.drain(upTo: 3) == 3)
    #expect(executor.drain(upTo: 0) == 0)
    #expect(log.count == 0)
    #expect(executor.drain() >= 7)
    #expect(log.count == 1)
    let clock = ManualClock()
    let error = await #expect(throws: SeededExecutorStuckError.self) {
      try await executor.run(advancing: clock, upTo: 100) {
        while true { try await clock.sleep(for: .seconds(1)) }
      }
    }
    #expect(error?.isAtLimit == true)
    #expect(error?.jobs == 100)
    #expect(
      error?.description.hasPrefix("job limit reached: the body had not ended after 100 jobs")
        == true)
  }
}
