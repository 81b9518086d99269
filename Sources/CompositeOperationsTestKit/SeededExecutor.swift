internal import CompositeOperations
internal import Synchronization

/// A task executor that runs jobs on one thread, in a random order that depends only on a seed.
///
/// Concurrent code can run in many orders. With a seeded executor, a test can try many orders, and
/// repeat an order in which it failed:
///
/// ```swift
/// for seed in 0..<1_000 as Range<UInt64> {
///   let executor = SeededExecutor(seed: seed)
///   let outcome = try await executor.run { await sync.run() }
///   #expect(outcome.result == expected, "seed \(seed)")
/// }
/// ```
///
/// Everything below the body runs on the executor, including children of task groups. Work that
/// leaves the executor, such as a real timer or a callback on another thread, is not awaited: see
/// ``run(advancing:upTo:afterEachJob:_:)``.
public final class SeededExecutor: TaskExecutor {
  /// The seed of the order.
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

  /// Creates an executor.
  ///
  /// - Parameter seed: The seed of the order of jobs. Equal seeds give equal orders.
  public init(seed: UInt64) {
    self.seed = seed
    state = Lock(State(random: .seeded(seed)))
  }

  /// Adds a job to the ready jobs.
  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    state.withLock { $0.ready.append(job) }
  }

  /// Runs the ready jobs, and those that become ready meanwhile, on the calling thread until none
  /// is left.
  ///
  /// - Parameters:
  ///   - limit: The maximum number of jobs. A job is the work of a task from one suspension to the
  ///     next.
  ///   - afterEachJob: A closure that is called after each job with the number of jobs of this call
  ///     so far.
  /// - Returns: The number of jobs.
  @discardableResult
  public func drain(upTo limit: Int = .max, afterEachJob: (_ count: Int) -> Void = { _ in }) -> Int
  {
    var count = 0
    while count < limit, let job = state.withLock({ $0.pick() }) {
      // Each enqueued job runs exactly once, because it has been removed from the list.
      unsafe job.runSynchronously(on: asUnownedTaskExecutor())
      count += 1
      afterEachJob(count)
    }
    return count
  }

  /// Runs a body and everything below it to the end, on the calling thread.
  ///
  /// ```swift
  /// let clock = ManualClock()
  /// let outcome = try await SeededExecutor(seed: 7).run(advancing: clock) {
  ///   await sync.run(in: OperationEnvironment(clock: clock))
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - clock: A clock to advance to the next deadline of a sleeper whenever no job is ready; nil
  ///     to leave every clock alone.
  ///   - limit: The maximum number of jobs. A job is the work of a task from one suspension to the
  ///     next.
  ///   - afterEachJob: A closure that is called after each job with the number of jobs so far.
  ///   - body: The body.
  /// - Returns: The value that the body returns.
  /// - Throws: The error that the body throws, or a ``SeededExecutorStuckError`` if no job is
  ///   ready, or the limit is reached, before the body has ended. In the latter cases the body is
  ///   cancelled.
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
        // Lets work that responds to cancellation end, instead of keeping it forever.
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
