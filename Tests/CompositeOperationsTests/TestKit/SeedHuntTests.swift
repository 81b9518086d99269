import CompositeOperations
import CompositeOperationsTestKit
import Foundation
import Testing

@Suite struct SeedHuntTests {
  /// Throws if three concurrent operations run in reverse order.
  @Sendable private static func race(in environment: OperationEnvironment) async throws {
    let log = Log<Int>()
    let runners = (0..<3).map { number in
      SimpleOperation {
        await Task.yield()
        log.add(number)
      }
    }
    _ = try await ParallelOperation(runners).run(in: environment).get()
    if log.entries == [2, 1, 0] { throw TestError("backwards") }
  }

  @Test func `a hunt stops at the first seed that fails, reports it, and can replay it`()
    async throws
  {
    let runs = Log<String>()
    let hunt = SeedHunt(seeds: 5..<1_000)
    let line = #line + 1
    let error = await #expect(throws: SeedHuntError.self) {
      try await hunt.run { environment in
        runs.add("begun")
        try await Self.race(in: environment)
      }
    }
    let found = try #require(error)
    #expect(found.underlying as? TestError == TestError("backwards"))
    #expect(found.seed == 5 + UInt64(found.seedsBefore))
    #expect(runs.count == found.seedsBefore + 1)
    #expect(
      found.description == """
        \(#fileID):\(line): seed \(found.seed) failed after \(found.seedsBefore) seeds that passed:
        backwards
        To reproduce: run the test with COMPOSITE_OPERATIONS_SEED=\(found.seed) in the \
        environment, or use SeedHunt(replaying: \(found.seed)).
        """)
    for _ in 0..<3 {
      let again = await #expect(throws: SeedHuntError.self) {
        try await SeedHunt(replaying: found.seed).run(Self.race)
      }
      #expect(again?.seed == found.seed)
      #expect(again?.seedsBefore == 0)
    }
    if found.seed > 5 { try await SeedHunt(seeds: 5..<found.seed).run(Self.race) }
  }

  @Test func `time passes automatically, and random numbers are reproducible`() async throws {
    let story = { @Sendable (seed: UInt64) async throws -> [String] in
      let log = Log<String>()
      try await SeedHunt(replaying: seed).run { environment in
        let clock = environment.clock
        let sleepers = (1...3).map { number in
          SimpleOperation.withContext { context in
            var randomness = context.randomness
            try await context.clock.sleep(for: .seconds(3600 * number))
            log.add("\(number) \(Int.random(in: 0..<1_000, using: &randomness))")
          }
        }
        #expect(clock is ManualClock)
        _ = try await ParallelOperation(sleepers).run(in: environment).get()
      }
      return log.entries
    }
    #expect(try await story(1) == story(1))
    #expect(try await story(1) != story(2))
    #expect(try await story(1).map { $0.prefix(1) } == ["1", "2", "3"])
  }

  @Test func `a body that waits or runs forever is reported and cancelled`()
    async throws
  {
    let gate = Gate()
    let log = Log<String>()
    let waiting = await #expect(throws: SeedHuntError.self) {
      try await SeedHunt(seeds: 3..<9).run { _ in
        do { try await gate.pass() } catch { log.add("cancelled") }
      }
    }
    #expect(waiting?.seed == 3)
    #expect((waiting?.underlying as? SeededExecutorStuckError)?.isAtLimit == false)
    #expect(log.entries == ["cancelled"])
    let polling = await #expect(throws: SeedHuntError.self) {
      try await SeedHunt(seeds: 3..<9, jobs: 1_000).run { environment in
        while true { try await environment.clock.sleep(for: .seconds(1)) }
      }
    }
    let stuck = try #require(polling?.underlying as? SeededExecutorStuckError)
    #expect(stuck.isAtLimit)
    #expect(stuck.jobs == 1_000)
    #expect(stuck.description.contains("had not ended after 1000 jobs with seed 3"))
  }

  @Test func `runs that are started in the environment are in the order of the seed, too`()
    async throws
  {
    try await SeedHunt(seeds: 0..<10).run { environment in
      let executor = try #require(environment.executor as? SeededExecutor)
      let run = SimpleOperation { await Task.yield() }.start(in: environment)
      _ = await run.outcome
      #expect(executor.drain() == 0)
    }
  }

  @Test func `the environment variable sets the only seed, except for a replay`() async {
    await #expect(processExitsWith: .success) {
      setSeedOfEnvironment("17")
      for (hunt, expected) in [(SeedHunt(seeds: 0..<5), 17), (SeedHunt(replaying: 3), 3)] {
        do {
          try await hunt.run { _ in throw TestError("always") }
          exit(1)
        } catch let error as SeedHuntError {
          if error.seed != UInt64(expected) || error.seedsBefore != 0 { exit(2) }
        }
      }
    }
  }

  @Test func `an invalid seed in the environment variable is reported`() async {
    await #expect(processExitsWith: .success) {
      for text in ["", "seven", "-1", "18446744073709551615"] {
        setSeedOfEnvironment(text)
        do {
          try await SeedHunt(seeds: 0..<5).run { _ in }
          exit(1)
        } catch let error as ExpectationError {
          if !error.message.contains("(was \"\(text)\")") { exit(2) }
        }
      }
    }
  }

  @Test func `a hunt without seeds, without jobs or for an invalid seed is a programming error`()
    async
  {
    await #expect(processExitsWith: .failure) { _ = SeedHunt(seeds: 3..<3) }
    await #expect(processExitsWith: .failure) { _ = SeedHunt(jobs: 0) }
    await #expect(processExitsWith: .failure) { _ = SeedHunt(replaying: .max) }
  }
}

/// Call this only in a separate process, because other tests read the environment, too.
private func setSeedOfEnvironment(_ text: String) {
  unsafe setenv("COMPOSITE_OPERATIONS_SEED", text, 1)
}
