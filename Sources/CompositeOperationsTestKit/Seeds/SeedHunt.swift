public import CompositeOperations
internal import SystemSupport

/// A search for a seed with which a body fails: it runs the body with many seeds, and stops at the
/// first failure.
///
/// Concurrent work can run in many orders. Each seed determines one order, and all random numbers
/// of the environment. Time passes automatically whenever no job is ready:
///
/// ```swift
/// try await SeedHunt(seeds: 0..<1_000).run { environment in
///   try await sync.run(in: environment).expectResult(expected)
/// }
/// ```
///
/// A body fails if it throws or does not end. The thrown ``SeedHuntError`` names the seed. To
/// reproduce the failure, set `COMPOSITE_OPERATIONS_SEED` in the environment of the test, which
/// then tries only this seed, or use ``init(replaying:jobs:)``.
public struct SeedHunt: Sendable {
  static let variable = "COMPOSITE_OPERATIONS_SEED"

  private let seeds: Range<UInt64>
  private let jobs: Int
  private let isReplay: Bool

  /// Creates a hunt over a range of seeds.
  ///
  /// - Parameters:
  ///   - seeds: The seeds to try, in order.
  ///   - jobs: The maximum number of jobs of a body; beyond it, the body counts as stuck.
  ///     A job is the work of a task from one suspension to the next.
  /// - Precondition: `seeds` is not empty, and `jobs` is at least 1.
  public init(seeds: Range<UInt64> = 0..<1_000, jobs: Int = 1_000_000) {
    self.init(seeds, jobs: jobs, isReplay: false)
  }

  /// Creates a hunt with one seed, regardless of the environment of the test.
  ///
  /// - Parameters:
  ///   - seed: The seed to try.
  ///   - jobs: The maximum number of jobs of a body; beyond it, the body counts as stuck.
  /// - Precondition: `seed` is below `UInt64.max`, and `jobs` is at least 1.
  public init(replaying seed: UInt64, jobs: Int = 1_000_000) {
    precondition(seed < .max, "`seed` must be below UInt64.max (was \(seed))")
    self.init(seed..<seed + 1, jobs: jobs, isReplay: true)
  }

  private init(_ seeds: Range<UInt64>, jobs: Int, isReplay: Bool) {
    precondition(!seeds.isEmpty, "`seeds` must not be empty (was \(seeds))")
    precondition(jobs >= 1, "`jobs` must be at least 1 (was \(jobs))")
    self.seeds = seeds
    self.jobs = jobs
    self.isReplay = isReplay
  }

  /// Runs a body with each seed until it fails.
  ///
  /// Everything below the body runs on the calling thread, in the order that the seed determines.
  /// The environment contains a ``ManualClock`` that advances automatically, random numbers of the
  /// seed, and the ``SeededExecutor``; add observers to a copy of it. Work that leaves the
  /// executor, such as a detached task or a callback on another thread, is not awaited.
  ///
  /// - Parameters:
  ///   - file: The module and the file that an error names.
  ///   - line: The line that an error names.
  ///   - body: The body. It is called once per seed, and creates its own state each time.
  /// - Throws: A ``SeedHuntError`` for the first seed that fails, or an ``ExpectationError`` if the
  ///   environment of the test names an invalid seed.
  public func run(
    file: String = #fileID, line: Int = #line,
    _ body: @escaping @Sendable (OperationEnvironment) async throws -> Void
  ) async throws {
    for (number, seed) in try chosenSeeds(file: file, line: line).enumerated() {
      let executor = SeededExecutor(seed: seed)
      let clock = ManualClock()
      let environment = OperationEnvironment(
        clock: clock, randomness: .seeded(seed), executor: executor)
      do {
        try await executor.run(advancing: clock, upTo: jobs) { try await body(environment) }
      } catch {
        throw SeedHuntError(
          seed: seed, seedsBefore: number, underlying: error, file: file, line: line)
      }
    }
  }

  private func chosenSeeds(file: String, line: Int) throws -> Range<UInt64> {
    guard !isReplay, let chosen = SystemProcess.variable(Self.variable) else { return seeds }
    guard let seed = UInt64(chosen), seed < .max else {
      throw ExpectationError(
        message: "\(Self.variable) must be a seed below 2^64 - 1 (was \"\(chosen)\")", file: file,
        line: line)
    }
    return seed..<seed + 1
  }
}
