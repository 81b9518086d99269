/// Coalesces concurrent requests for the same key into one run (single-flight), with an optional
/// cache of results.
///
/// ```swift
/// let profiles = SharedRuns<String, Profile>(keepingResultsFor: .seconds(60))
/// let profile = try await FetchProfile(user).shared(in: profiles, for: user.name).run().get()
/// ```
///
/// All waiters of a run receive its outcome, also if it is an error. Results can be kept for a
/// time, by the clock of the run's environment. A caller that arrives in this time gets the kept
/// result without a run. Errors and cancellations are not kept.
public final class SharedRuns<Key: Hashable & Sendable, Success: Sendable>: Sendable {
  private let keepingTime: Duration
  private let machine = Lock(StateMachine())

  /// Creates shared runs.
  ///
  /// - Parameter time: How long a result is kept after its run has ended. By default it is not
  ///   kept.
  public init(keepingResultsFor time: Duration = .zero) { keepingTime = time }

  /// The number of runs that have begun and not ended. A run that was cancelled because all of its
  /// waiters were cancelled counts until it has ended.
  public var runningCount: Int { machine.withLock(\.runningCount) }

  /// Removes the kept result of a key.
  ///
  /// If a run for the key is in flight, it continues for its waiters. Its result is not kept, and
  /// the next caller starts another run.
  public func forget(_ key: Key) {
    var sought = StateMachine.SoughtKey(key)
    while case .compare(let candidates) = machine.withLock({ $0.forgot(sought) }) {
      sought.compare(with: candidates)
    }
  }

  /// Removes all kept results, and treats runs in flight as ``forget(_:)`` does.
  public func forgetAll() { _ = machine.withLock { $0.forgotAll() } }

  // MARK: Sharing

  @usableFromInline nonisolated(nonsending) func held(
    of operation: some ComposableOperation<Success>, for key: Key, in context: OperationContext
  ) async throws -> HeldResult<Success> {
    var sought = StateMachine.SoughtKey(key)
    while true {
      let priority = Task.currentPriority
      switch machine.withLock({ $0.joined(sought, at: priority) }) {
      case .compare(let candidates): sought.compare(with: candidates)
      case .found(let kept):
        // The clock may be user code, so it is not read under the lock.
        if !kept.isOver() { return HeldResult(kept.value) }
        _ = machine.withLock { $0.expired(kept) }
      case .joined(let waiter):
        raise(waiter.run, to: priority)
        return try await wait(in: waiter, below: context)
      case .leads(let waiter):
        start(operation, waiter.run, holding: waiter.hold, in: context)
        return try await wait(in: waiter, below: context)
      }
    }
  }

  // MARK: The run

  private func start(
    _ operation: some ComposableOperation<Success>, _ run: Int, holding hold: PermitHold,
    in context: OperationContext
  ) {
    var environment = context.environment
    environment.executor = environment.executor ?? Task.preferredExecutor
    // A probe that starts the run waits for it, so the run must not be refused because of the probe.
    let probes = context.probes
    if !probes.isEmpty { environment.probes = probes }
    let clock = environment.clock
    let scope = operation.makeScope(in: environment, holding: hold)
    let task = UnstructuredTasks.startThrowing(on: scope.executor) { [self] in
      let completion = await operation.complete(in: scope, depth: 0)
      ended(run, in: completion, by: clock)
      hold.end()
      return completion
    }
    let handle = OperationRun(in: scope, as: task)
    if let priority = machine.withLock({ $0.started(run, handle) }) { handle.raise(to: priority) }
  }

  private func raise(_ run: Int, to priority: TaskPriority) {
    machine.withLock { $0.wanted(run, at: priority) }?.raise(to: priority)
  }

  private func ended(
    _ run: Int, in completion: Completion<Success>, by clock: any Clock<Duration>
  ) {
    let isOver = keepingTime > .zero ? clock.isOver(in: keepingTime) : nil
    let ended = machine.withLock { $0.ended(run, in: completion.outcome, until: isOver) }
    let run = ended.run
    // In the order of arrival.
    let waiters = run.waiters.sorted()
    let isKept = isOver != nil && run.isCurrent && completion.outcome.result != nil
    let shared = completion.shared(among: waiters.count, isKept: isKept)
    for waiter in waiters {
      machine.withLock { $0.told(waiter, shared) }?.resume(returning: shared)
    }
    forgetExpired()
  }

  /// Removes expired results if many have been kept since the last time.
  private func forgetExpired() {
    guard let kept = machine.withLock({ $0.keptToReview() }) else { return }
    for kept in kept where kept.isOver() { _ = machine.withLock { $0.expired(kept) } }
    machine.withLock { $0.reviewed() }
  }

  // MARK: Waiting

  private nonisolated(nonsending) func wait(
    in waiter: StateMachine.Waiter, below context: OperationContext
  ) async throws -> HeldResult<Success> {
    try await context.waiting(for: .sharedResult("\(waiter.key)")) {
      var refusal: PermitError?
      if let hold = context.scope?.permits {
        // Other operations, including the shared run, may wait for the permits that are held here.
        do {
          try await waiter.hold.waitUntilEnd(below: hold) { raise(waiter.run, to: $0) }
        } catch {
          refusal = error as? PermitError
          leave(waiter)
        }
      }
      let completion = await completion(for: waiter)
      if let refusal {
        completion.discard()
        throw refusal
      }
      return try completion.held()
    }
  }

  private nonisolated(nonsending) func completion(
    for waiter: StateMachine.Waiter
  ) async -> Completion<Success> {
    await withTaskCancellationHandler {
      await withTaskPriorityEscalationHandler {
        await withCheckedContinuation { continuation in
          if let completion = machine.withLock({ $0.waited(waiter.number, continuation) }) {
            continuation.resume(returning: completion)
          }
        }
      } onPriorityEscalated: { _, priority in
        raise(waiter.run, to: priority)
      }
    } onCancel: {
      leave(waiter)
    }
  }

  private func leave(_ waiter: StateMachine.Waiter) {
    let leaving = machine.withLock { $0.left(waiter) }
    leaving.run?.cancel(because: "the last waiter has left")
    leaving.continuation?.resume(returning: .neverBegan)
  }
}

extension Completion {
  /// Returns the completion for several waiters, each of which may discard its value. Discards the
  /// value if there are no waiters.
  ///
  /// - Parameter isKept: Whether later callers may get the value. It is then never discarded.
  fileprivate func shared(among count: Int, isKept: Bool) -> Completion {
    if count == 0, !isKept { discard() }
    let body: Body =
      switch body {
      case .neverBegan: .neverBegan
      case .value(let value, let cleanup):
        .value(value, isKept ? nil : cleanup.map { cleanupOfShare(of: $0, among: count) })
      case .error(let error): .error(error.shared(among: count))
      }
    return Completion(body: body, wasCancelled: wasCancelled, isCancelled: isCancelled)
  }
}

extension Clock<Duration> {
  /// Returns a closure that checks whether a time that begins now has passed.
  fileprivate func isOver(in time: Duration) -> @Sendable () -> Bool {
    let end = instant(in: time)
    return { now >= end }
  }
}
