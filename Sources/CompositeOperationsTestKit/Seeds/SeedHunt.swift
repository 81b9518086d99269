public import CompositeOperations

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Android)
  internal import Android
#else
  internal import Darwin
#endif

/// Runs one body under many seeds, and stops at the first one under which it fails.
///
/// What happens side by side happens in one of many orders. Each seed is an order, and chance for whatever
/// draws it; time passes by itself whenever nothing is left to do:
///
/// ```swift
/// try await SeedHunt(seeds: 0..<1_000).run { environment in
///   try await sync.run(in: environment).expectResult(expected)
/// }
/// ```
///
/// A body fails by throwing, and by not coming to its end. The error, a ``SeedHuntError``, names the seed.
/// To see that one again, set `COMPOSITE_OPERATIONS_SEED` in the environment of the test, which then tries
/// no other, or write ``init(replaying:jobs:)``.
public struct SeedHunt: Sendable {
  static let variable = "COMPOSITE_OPERATIONS_SEED"

  private let seeds: Range<UInt64>
  private let jobs: Int
  private let isReplay: Bool

  /// - Parameters:
  ///   - seeds: What to try, in order.
  ///   - jobs: How many jobs a body may need before it counts as one that does not end. A job is what a
  ///     task does from one wait to the next.
  /// - Precondition: There is a seed, and a body may need at least one job.
  public init(seeds: Range<UInt64> = 0..<1_000, jobs: Int = 1_000_000) {
    self.init(seeds, jobs: jobs, isReplay: false)
  }

  /// A hunt for one seed, which is tried whatever the environment of the test says.
  ///
  /// - Parameters:
  ///   - seed: What to try.
  ///   - jobs: How many jobs a body may need before it counts as one that does not end.
  /// - Precondition: The seed is not the greatest number there is, and a body may need at least one job.
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

  /// Runs a body under each seed until it fails.
  ///
  /// Everything below the body runs on the calling thread, in the order that the seed chooses. The
  /// environment has a ``ManualClock`` that advances by itself, random numbers of the seed, and the
  /// ``SeededExecutor``; add observers to a copy of it. Work that leaves the executor, such as a detached
  /// task or another thread's callback, is not waited for.
  ///
  /// - Parameters:
  ///   - file: The module and the file that an error names.
  ///   - line: The line that an error names.
  ///   - body: What is to hold under every seed. It begins anew under each, so it makes anew what it
  ///     counts with.
  /// - Throws: A ``SeedHuntError`` under the first seed that fails, and an ``ExpectationError`` if the
  ///   environment of the test names a seed that is none.
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
    guard !isReplay, let text = unsafe getenv(Self.variable) else { return seeds }
    let chosen = unsafe String(cString: text)
    guard let seed = UInt64(chosen), seed < .max else {
      throw ExpectationError(
        message: "\(Self.variable) must be a seed below 2^64 - 1 (was \"\(chosen)\")", file: file,
        line: line)
    }
    return seed..<seed + 1
  }
}
