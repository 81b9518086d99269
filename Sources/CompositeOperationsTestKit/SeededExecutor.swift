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
/// ``run(advancing:upTo:afterEachJob:_:)``.
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
  /// - Parameters:
  ///   - limit: How many jobs to run at most. A job is what a task does from one wait to the next.
  ///   - afterEachJob: Called after each job with how many this call has run.
  /// - Returns: How many jobs it ran.
  @discardableResult
  public func drain(upTo limit: Int = .max, afterEachJob: (_ count: Int) -> Void = { _ in }) -> Int
  {
    var count = 0
    while count < limit, let job = state.withLock({ $0.pick() }) {
      // A job that was enqueued here is run once: it has been taken out of the list.
      unsafe job.runSynchronously(on: asUnownedTaskExecutor())
      count += 1
      afterEachJob(count)
    }
    return count
  }

  /// Runs a body and everything below it to its end, on the calling thread.
  ///
  /// ```swift
  /// let clock = ManualClock()
  /// let outcome = try await SeededExecutor(seed: 7).run(advancing: clock) {
  ///   await sync.run(in: OperationEnvironment(clock: clock))
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - clock: A clock to advance whenever nothing is left to run, to the next moment that somebody sleeps
  ///     until; nil to leave every clock alone.
  ///   - limit: How many jobs to run at most. A job is what a task does from one wait to the next.
  ///   - afterEachJob: Called after each job with how many there have been.
  ///   - body: What to run.
  /// - Returns: What the body returned. One that is given up is cancelled.
  /// - Throws: What the body threw, and a ``SeededExecutorStuckError`` if nothing was left to run, or as
  ///   many jobs as may be had been run, before the body had ended.
  public func run<Value: Sendable>(
    advancing clock: ManualClock? = nil, upTo limit: Int = .max,
    afterEachJob: (_ count: Int) -> Void = { _ in },
    _ body: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    let hasEnded = Flag()
    let task = Task(executorPreference: self) {
      defer { hasEnded.isSet.store(true, ordering: .releasing) }
      return try await body()
    }
    var count = drain(upTo: limit, afterEachJob: afterEachJob)
    while !hasEnded.isSet.load(ordering: .acquiring) {
      guard count < limit, let clock, let deadline = clock.nextDeadline else {
        // So that what heeds that ends, and is not kept for ever.
        task.cancel()
        drain(upTo: 1_000)
        throw SeededExecutorStuckError(seed: seed, jobs: count, isAtLimit: count == limit)
      }
      clock.advance(to: deadline)
      let before = count
      count += drain(upTo: limit - before) { afterEachJob(before + $0) }
    }
    return try await task.value
  }

  private final class Flag: Sendable {
    let isSet = Atomic(false)
  }
}
