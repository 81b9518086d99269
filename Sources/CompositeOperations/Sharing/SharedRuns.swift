/// Where those meet who want the same at the same time, so that it is done once for all of them.
///
/// ```swift
/// let profiles = SharedRuns<String, Profile>(keepingResultsFor: .seconds(60))
/// let profile = try await FetchProfile(user).shared(in: profiles, for: user.name).run().get()
/// ```
///
/// All who wait for a run get its outcome, an error too. Results can be kept for a time, by the clock of
/// whoever got them; who comes meanwhile gets them without a run. Errors and cancellations are not kept.
public final class SharedRuns<Key: Hashable & Sendable, Success: Sendable>: Sendable {
  private let keepingTime: Duration
  private let machine = Lock(StateMachine())

  /// - Parameter time: How long a result is kept after its run has ended; not at all by default.
  public init(keepingResultsFor time: Duration = .zero) { keepingTime = time }

  /// How many runs are going on just now.
  public var runningCount: Int { machine.withLock(\.runningCount) }

  /// Forgets the result that is kept for a key. A run that is going on goes on.
  public func forget(_ key: Key) { _ = machine.withLock { $0.forgot(key) } }

  /// Forgets all results that are kept.
  public func forgetAll() { _ = machine.withLock { $0.forgotAll() } }

  // MARK: Sharing

  /// How a run ended, for one of those who waited.
  struct End: Sendable {
    let outcome: Outcome<Success>
    /// Why the run stopped early, if it did and its body said so.
    var reason: (any Error)?
    /// Gives up this one's share of the value.
    var disposal: Disposal?

    static var cancelled: End { End(outcome: .cancelled) }
  }

  @usableFromInline nonisolated(nonsending) func end(
    of operation: some ComposableOperation<Success>, for key: Key, in context: OperationContext
  ) async throws -> HeldResult<Success> {
    while true {
      switch machine.withLock({ $0.joined(key) }) {
      case .found(let kept):
        // A clock is somebody's code, so it is not asked under the lock.
        if !kept.isOver() { return HeldResult(kept.value) }
        _ = machine.withLock { $0.expired(key, kept.number) }
      case .joined(let waiter): return try await wait(waiter, for: key)
      case .leads(let flight, let waiter):
        start(operation, flight, for: key, in: context)
        return try await wait(waiter, for: key)
      }
    }
  }

  private func start(
    _ operation: some ComposableOperation<Success>, _ flight: Int, for key: Key,
    in context: OperationContext
  ) {
    var environment = context.environment
    environment.executor = environment.executor ?? Task.preferredExecutor
    environment.growth = nil
    let clock = environment.clock
    let scope = OperationScope(of: operation, in: environment)
    let run = OperationRun(in: scope) { [self] in
      let ending = await scope.typedEnding(of: operation, depth: 0)
      ended(flight, in: ending, for: key, by: clock)
      return ending
    }
    let isWanted = machine.withLock { $0.started(flight, for: key) { run.cancel() } }
    if !isWanted { run.cancel() }
  }

  private nonisolated(nonsending) func wait(
    _ waiter: Int, for key: Key
  ) async throws -> HeldResult<Success> {
    let end = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        if let end = machine.withLock({ $0.waited(waiter, continuation) }) {
          continuation.resume(returning: end)
        }
      }
    } onCancel: {
      let (continuation, canceller) = machine.withLock { $0.left(waiter, of: key) }
      canceller?()
      continuation?.resume(returning: .cancelled)
    }
    switch end.outcome {
    case .result(let value): return HeldResult(value, disposal: end.disposal)
    case .error(let error): throw error
    case .cancelled: throw end.reason ?? CancellationError()
    }
  }

  private func ended(
    _ flight: Int, in ending: TypedEnding<Success>, for key: Key, by clock: any Clock<Duration>
  ) {
    let reason = ending.wasCancelled ? nil : ending.late?.error?.reasonToStop
    let isOver = keepingTime > .zero ? clock.isOver(in: keepingTime) : nil
    let waiters = machine.withLock { $0.ended(flight, for: key, in: ending.outcome, until: isOver) }
    let count = waiters.count
    if count == 0 {
      ending.disposal?()
      ending.outcome.error?.discardCarriedValues()
    }
    // What is kept may be seen by others, and is nobody's to give up.
    let disposal =
      isOver == nil ? ending.disposal.map { disposalOfShare(of: $0, among: count) } : nil
    let error = ending.outcome.error?.shared(among: count)
    let end = End(
      outcome: error.map(Outcome.error) ?? ending.outcome, reason: reason, disposal: disposal)
    for waiter in waiters {
      machine.withLock { $0.told(waiter, end) }?.resume(returning: end)
    }
    forgetExpired()
  }

  /// Forgets what nobody has asked for since its time was over, when much has been kept since the last
  /// time.
  private func forgetExpired() {
    guard let kept = machine.withLock({ $0.keptToReview() }) else { return }
    for (key, result) in kept where result.isOver() {
      _ = machine.withLock { $0.expired(key, result.number) }
    }
  }
}

extension Clock<Duration> {
  /// Asks whether a time is over that begins now.
  fileprivate func isOver(in time: Duration) -> @Sendable () -> Bool {
    let end = now.advanced(by: time)
    return { now >= end }
  }
}
