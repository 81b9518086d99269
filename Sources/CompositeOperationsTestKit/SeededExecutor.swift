internal import CompositeOperations
internal import Synchronization

/// Runs tasks on one thread, each time the one that chance picks; the same seed picks the same.
///
/// Concurrent code takes one of many orders. Under a seeded executor the order depends on the seed
/// alone, so a test can try many orders and repeat the one that failed:
///
/// ```swift
/// for seed in 0..<1_000 as Range<UInt64> {
///   let executor = SeededExecutor(seed: seed)
///   let outcome = try await executor.run { await sync.run() }
///   #expect(outcome.result == expected, "seed \(seed)")
/// }
/// ```
///
/// Everything below the body runs here, children of task groups included. Work that leaves the
/// executor, such as a real timer or another thread's callback, is not waited for: see
/// ``run(afterEachJob:_:)``.
public final class SeededExecutor: TaskExecutor {
  /// What the order is drawn from.
  public let seed: UInt64

  private let state: Lock<State>

  private struct State: Sendable {
    var ready: [UnownedJob] = []
    var random: OperationRandomness

    mutating func pick() -> UnownedJob? {
      guard let index = ready.indices.randomElement(using: &random) else { return nil }
      ready.swapAt(index, ready.endIndex - 1)
      return ready.popLast()
    }
  }

  /// - Parameter seed: Decides the order of the jobs. The same seed, the same order.
  public init(seed: UInt64) {
    self.seed = seed
    state = Lock(State(random: .seeded(seed)))
  }

  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    state.withLock { $0.ready.append(job) }
  }

  /// Runs what is ready, and what gets ready meanwhile, on the calling thread until nothing is left.
  ///
  /// - Parameter afterEachJob: Called after each job with how many this call has run. A job is what
  ///   a task does from one wait to the next.
  /// - Returns: How many jobs it ran.
  @discardableResult
  public func drain(afterEachJob: (_ count: Int) -> Void = { _ in }) -> Int {
    var count = 0
    while let job = state.withLock({ $0.pick() }) {
      // A job that was enqueued here is run once: it has been taken out of the list.
      unsafe job.runSynchronously(on: asUnownedTaskExecutor())
      count += 1
      afterEachJob(count)
    }
    return count
  }

  /// Runs a body and everything below it to its end, on the calling thread.
  ///
  /// - Parameters:
  ///   - afterEachJob: Called after each job with how many there have been. A job is what a task
  ///     does from one wait to the next.
  ///   - body: What to run.
  /// - Returns: What the body returned.
  /// - Throws: What the body threw, and a ``SeededExecutorStuckError`` if nothing was left to run
  ///   before the body had ended.
  public func run<Value: Sendable>(
    afterEachJob: (_ count: Int) -> Void = { _ in },
    _ body: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    let hasEnded = Flag()
    let task = Task(executorPreference: self) {
      defer { hasEnded.isSet.store(true, ordering: .releasing) }
      return try await body()
    }
    let count = drain(afterEachJob: afterEachJob)
    guard hasEnded.isSet.load(ordering: .acquiring) else {
      throw SeededExecutorStuckError(seed: seed, jobs: count)
    }
    return try await task.value
  }

  private final class Flag: Sendable {
    let isSet = Atomic(false)
  }
}

/// The error of a seeded executor that ran out of jobs before its body had ended.
///
/// The body waits for something that nobody under the executor will do: for a gate that stays
/// closed, for a clock that is not advanced, or for work that left the executor.
public struct SeededExecutorStuckError: Error, CustomStringConvertible {
  /// The seed of the executor.
  public let seed: UInt64
  /// How many jobs had been run.
  public let jobs: Int

  public var description: String {
    "Nothing was left to run after \(jobs) jobs of seed \(seed), but the body had not ended: it "
      + "waits for something that nothing under the executor will do."
  }
}
