/// Where those meet who want the same at the same time, so that it is done once for all of them.
///
/// ```swift
/// let profiles = SharedRuns<String, Profile>(keepingResultsFor: .seconds(60))
/// let profile = try await FetchProfile(user).shared(in: profiles, for: user.name).run().get()
/// ```
///
/// All who wait for a run get its outcome, an error too. Results can be kept for a time, by the clock of
/// the run's environment; who comes meanwhile gets them without a run. Errors and cancellations are not
/// kept.
public final class SharedRuns<Key: Hashable & Sendable, Success: Sendable>: Sendable {
  private let keepingTime: Duration
  private let machine = Lock(StateMachine())

  /// - Parameter time: How long a result is kept after its run has ended; not at all by default.
  public init(keepingResultsFor time: Duration = .zero) { keepingTime = time }

  /// How many runs have begun and not ended, those among them that nobody waits for any more.
  public var runningCount: Int { machine.withLock(\.runningCount) }

  /// Forgets the result that is kept for a key.
  ///
  /// A run that is going on goes on for those who wait for it: its result is not kept, and whoever comes from
  /// now on begins another one.
  public func forget(_ key: Key) {
    var sought = StateMachine.SoughtKey(key)
    while case .compare(let candidates) = machine.withLock({ $0.forgot(sought) }) {
      sought.compare(with: candidates)
    }
  }

  /// Forgets all results that are kept, and those of the runs that are going on, as ``forget(_:)`` does.
  public func forgetAll() { _ = machine.withLock { $0.forgotAll() } }

  // MARK: Sharing

  @usableFromInline nonisolated(nonsending) func end(
    of operation: some ComposableOperation<Success>, for key: Key, in context: OperationContext
  ) async throws -> HeldResult<Success> {
    var sought = StateMachine.SoughtKey(key)
    while true {
      let priority = Task.currentPriority
      switch machine.withLock({ $0.joined(sought, at: priority) }) {
      case .compare(let candidates): sought.compare(with: candidates)
      case .found(let kept):
        // A clock is somebody's code, so it is not asked under the lock.
        if !kept.isOver() { return HeldResult(kept.value) }
        _ = machine.withLock { $0.expired(kept) }
      case .joined(let seat):
        raise(seat.flight, to: priority)
        return try await wait(in: seat, below: context)
      case .leads(let seat):
        start(operation, seat.flight, holding: seat.hold, in: context)
        return try await wait(in: seat, below: context)
      }
    }
  }

  // MARK: The run

  private func start(
    _ operation: some ComposableOperation<Success>, _ flight: Int, holding hold: PermitHold,
    in context: OperationContext
  ) {
    var environment = context.environment
    environment.executor = environment.executor ?? Task.preferredExecutor
    let clock = environment.clock
    let scope = OperationScope(of: operation, in: environment, holding: hold)
    let run = OperationRun(in: scope) { [self] in
      let ending = await scope.typedEnding(of: operation, depth: 0)
      ended(flight, in: ending, by: clock)
      hold.end()
      return ending
    }
    if let priority = machine.withLock({ $0.started(flight, run) }) { run.raise(to: priority) }
  }

  private func raise(_ flight: Int, to priority: TaskPriority) {
    machine.withLock { $0.wanted(flight, at: priority) }?.raise(to: priority)
  }

  private func ended(
    _ flight: Int, in ending: TypedEnding<Success>, by clock: any Clock<Duration>
  ) {
    let isOver = keepingTime > .zero ? clock.isOver(in: keepingTime) : nil
    let ended = machine.withLock { $0.ended(flight, in: ending.outcome, until: isOver) }
    let flight = ended.flight
    // In the order in which they came.
    let waiters = flight.waiters.sorted()
    let isKept = isOver != nil && flight.isCurrent && ending.outcome.result != nil
    let end = RunEnd(ending).shared(among: waiters.count, isKept: isKept)
    for waiter in waiters {
      machine.withLock { $0.told(waiter, end) }?.resume(returning: end)
    }
    forgetExpired()
  }

  /// Forgets what nobody has asked for since its time was over, when much has been kept since the last
  /// time.
  private func forgetExpired() {
    guard let kept = machine.withLock({ $0.keptToReview() }) else { return }
    for kept in kept where kept.isOver() { _ = machine.withLock { $0.expired(kept) } }
    machine.withLock { $0.reviewed() }
  }

  // MARK: Those who wait

  private nonisolated(nonsending) func wait(
    in seat: StateMachine.Seat, below context: OperationContext
  ) async throws -> HeldResult<Success> {
    try await context.waiting(for: .sharedResult("\(seat.key)")) {
      var refusal: PermitError?
      if let hold = context.scope?.hold {
        // Others may wait for what is held here, the run itself among them.
        do { try await seat.hold.waitUntilEnd(below: hold) } catch {
          refusal = error as? PermitError
          leave(seat)
        }
      }
      let end = await end(for: seat)
      if let refusal {
        end.giveUp()
        throw refusal
      }
      return HeldResult(try end.get(), disposal: end.disposal)
    }
  }

  private nonisolated(nonsending) func end(
    for seat: StateMachine.Seat
  ) async -> RunEnd<Success> {
    await withTaskCancellationHandler {
      await withTaskPriorityEscalationHandler {
        await withCheckedContinuation { continuation in
          if let end = machine.withLock({ $0.waited(seat.waiter, continuation) }) {
            continuation.resume(returning: end)
          }
        }
      } onPriorityEscalated: { _, priority in
        raise(seat.flight, to: priority)
      }
    } onCancel: {
      leave(seat)
    }
  }

  private func leave(_ seat: StateMachine.Seat) {
    let leaving = machine.withLock { $0.left(seat) }
    leaving.run?.cancel(because: "the last waiter has left")
    leaving.continuation?.resume(returning: RunEnd(.cancelled))
  }
}

extension RunEnd {
  /// The end for several who get it, each of whom may give it up. If nobody gets it, it is given up.
  ///
  /// - Parameter isKept: Whether others may get the value later: then it is nobody's to give up.
  fileprivate func shared(among count: Int, isKept: Bool) -> RunEnd {
    if count == 0, !isKept { giveUp() }
    let error = outcome.error?.shared(among: count)
    return RunEnd(
      error.map(Outcome.error) ?? outcome,
      disposal: isKept ? nil : disposal.map { disposalOfShare(of: $0, among: count) },
      reason: reason?.shared(among: count))
  }
}

extension Clock<Duration> {
  /// Asks whether a time is over that begins now.
  fileprivate func isOver(in time: Duration) -> @Sendable () -> Bool {
    let end = now.advanced(by: time)
    return { now >= end }
  }
}
