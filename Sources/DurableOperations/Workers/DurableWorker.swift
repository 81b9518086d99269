public import CompositeOperations
internal import SystemSupport

/// An operation that runs the runs of a store until it is cancelled.
///
/// ```swift
/// import DurableOperations
///
/// let store = RunStore.sqlite("flows.sqlite")
/// let worker = DurableWorker(
///   in: store, running: [Fulfilment.self, Nightly.self], width: .limited(to: 16))
/// _ = await worker.run()
/// ```
///
/// It claims only runs of the flows that it knows. Any number of workers, in any number of
/// processes, may share a store. When it is cancelled, it releases its runs, so that another worker
/// takes them at once.
///
/// It logs each run that ends (`.info`) or gets stuck (`.error`) to the observers of its environment.
///
/// A run that has to wait for at least ``RunStoreOptions/parkingThreshold`` is
/// ``RunState/parked``. It then uses neither a place nor memory of the worker.
public struct DurableWorker: ComposableOperation {
  private let store: RunStore
  private let flows: [String: FlowRegistration]
  private let width: Int
  /// The places of its only run; nil if each run has places of its own.
  private let ownSlots: WorkerSlots?

  /// Creates a worker.
  ///
  /// - Parameters:
  ///   - store: The store of the runs.
  ///   - flows: The flows that it runs.
  ///   - width: How many runs it runs at once, by default 16. A run whose outcome is being stored
  ///     does not count. With `OperationWidth.adaptive`, as
  ///     many as there are processors.
  /// - Precondition: `flows` is not empty, and the names of the flows are different.
  public init(
    in store: RunStore, running flows: [any DurableSequence.Type],
    width: OperationWidth = .limited(to: 16)
  ) {
    precondition(!flows.isEmpty, "`flows` must not be empty")
    self.store = store
    var registered: [String: FlowRegistration] = [:]
    for flow in flows {
      let registration = Self.registration(of: flow)
      precondition(
        registered.updateValue(registration, forKey: registration.name) == nil,
        "two flows are named '\(registration.name)'; give one of them another `flowName`")
    }
    for name in Array(registered.keys) {
      for former in store.backend.options.names(ofFlow: name) where registered[former] == nil {
        registered[former] = registered[name]
      }
    }
    self.flows = registered
    self.width = width == .adaptive ? Processors.count : width.limit
    ownSlots = nil
  }

  /// A worker that is run once, and whose end can be begun.
  package var withEnd: DurableWorker { DurableWorker(store, flows, width) }

  private init(_ store: RunStore, _ flows: [String: FlowRegistration], _ width: Int) {
    (self.store, self.flows, self.width) = (store, flows, width)
    ownSlots = WorkerSlots(width)
  }

  /// Begins no more runs, and lets the steps in progress end.
  ///
  /// - Returns: Whether there may be steps in progress.
  @discardableResult package func beginEnd() -> Bool {
    ownSlots?.beginEnd()
    store.backend.changes.notify([.ready])
    return ownSlots?.isIdle == false
  }

  private static func registration<Flow: DurableSequence>(
    of flow: Flow.Type
  ) -> FlowRegistration { FlowRegistration(flow) }

  public func perform(in context: OperationContext) async throws {
    let slots = ownSlots ?? WorkerSlots(width)
    let backend = store.backend
    let names = Set(flows.keys)
    let ahead = ClaimsAhead(width: width, isUseful: backend.pauseBetweenClaims > .zero)
    try await withThrowingDiscardingTaskGroup { group in
      var housekeeping = Housekeeping(of: backend)
      while !Task.isCancelled, !slots.isEnding {
        let aheadCount = ahead.count
        await housekeeping.lookAtOwners(in: context)
        if aheadCount == 0 { await slots.wait(forFree: 1) }
        if Task.isCancelled || slots.isEnding { break }
        let limit = slots.free + aheadCount
        let isIdle = slots.isIdle
        let claims = try await claims(atMost: limit, isIdle: isIdle, in: context)
        let progress = claims.contains(where: \.run.isSuspect) ? slots.latchForProgress() : nil
        for (index, claim) in claims.enumerated() {
          guard let flow = flows[claim.run.flow] else {
            await release([claim], in: context)
            continue
          }
          guard let slot = await place(in: slots, in: context) else {
            ahead.failed()
            await release(claims[index...], in: context)
            break
          }
          let execution = RunExecution(
            claim: claim, flow: flow, backend: backend,
            place: WorkerPlace(slot: slot, flows: names))
          group.addTask {
            let duration = await duration(on: context.clock) { await run(execution, in: context) }
            ahead.ended(after: duration)
            slot.end()
            // A suspect may have waited for this.
            if slots.isIdle { backend.changes.notify([.ready]) }
          }
        }
        if let progress, !slots.isIdle {
          // It may end this process, which runs nothing else until then. A run that waits, perhaps for another one,
          // does not end it.
          await progress.wait()
        } else if claims.isEmpty {
          await housekeeping.perform()
          try await waitForWork(slots, isIdle: isIdle, in: context)
        } else {
          let isPartial = claims.count < limit
          if isPartial || aheadCount == 0 {
            try await pause(afterPartialClaim: isPartial, slots, in: context)
          }
        }
      }
    }
    if !slots.isEnding || Task.isCancelled { throw CancellationError() }
  }

  private func duration(
    on clock: some Clock<Duration>, of body: () async -> Void
  ) async -> Duration {
    let start = clock.now
    await body()
    return start.duration(to: clock.now)
  }

  /// Takes a place for a claimed run, which may have to wait for one.
  ///
  /// - Returns: Nil if there is none for too long, or if the worker is cancelled.
  private func place(
    in slots: WorkerSlots, in context: OperationContext
  ) async -> WorkerSlots.Slot? {
    if let slot = slots.takeIfFree() { return slot }
    try? await slots.latch(forFree: 1).wait(atMost: ClaimsAhead.longestWait, in: context)
    return Task.isCancelled ? nil : slots.takeIfFree()
  }

  /// Releases claimed runs that have not begun. After an error, they wait until their lease expires.
  private func release(_ claims: ArraySlice<RunClaim>, in context: OperationContext) async {
    for claim in claims {
      do { try await store.backend.release(by: claim.token) } catch {
        context.log(.warning, "run \(claim.token.run): not released: \(error)")
      }
    }
  }

  /// Runs a run, and logs how it ended. Errors of the store are logged, and the run is resumed
  /// later.
  private func run(_ execution: RunExecution, in context: OperationContext) async {
    let id = execution.claim.token.run
    switch await ClaimedRun.outcome(of: execution, in: context) {
    case .result(.stuck(let reason)): context.log(.error, "run \(id) is stuck: \(reason)")
    case .result(.ended(let state)):
      context.log("run \(id) of \(execution.flow.name) has ended: \(state.rawValue)")
    case .result(.parked), .cancelled: break
    case .error(let error): context.log(.warning, "run \(id): \(error)")
    }
  }

  // MARK: Claims

  /// Claims due runs. After a temporary error of the store it waits a second.
  private func claims(
    atMost count: Int, isIdle: Bool, in context: OperationContext
  ) async throws -> [RunClaim] {
    do {
      return try await store.backend.claim(
        flows: Array(flows.keys), limit: count, isIdle: isIdle)
    } catch let error as RunStoreError where error.isTemporary {
      context.log(.error, "no run can be claimed: \(error)")
      try await context.pause(.seconds(1))
      return []
    }
  }

  /// Waits until a run may be due.
  private func waitForWork(
    _ slots: WorkerSlots, isIdle: Bool, in context: OperationContext
  ) async throws {
    let backend = store.backend
    let waiter = backend.changes.register(for: [.ready])
    defer { backend.changes.remove(waiter) }
    // The last run may have ended since the claim.
    if slots.isEnding || slots.isIdle != isIdle { return }
    // A run may have become due before the registration.
    let longest =
      (try? await backend.longestPause(of: Array(flows.keys), isIdle: isIdle))
      ?? .seconds(1)
    if longest <= .zero { return }
    do { try await waiter.wait(atMost: longest, in: context) } catch is CancellationError {}
  }

  /// Waits before the next claim, where claims are costly: for half of the places, so that it finds
  /// many runs, or for a short time.
  ///
  /// - Parameter isPartial: Whether the last claim found fewer runs than there were places.
  private func pause(
    afterPartialClaim isPartial: Bool, _ slots: WorkerSlots, in context: OperationContext
  ) async throws {
    let pause = store.backend.pauseBetweenClaims
    if pause == .zero { return }
    do {
      if isPartial {
        let waiter = store.backend.changes.register(for: [.ready])
        defer { store.backend.changes.remove(waiter) }
        try await waiter.wait(atMost: pause, in: context)
      } else {
        try await slots.latch(forFree: (width + 1) / 2).wait(atMost: pause, in: context)
      }
    } catch is CancellationError {}
  }
}

/// The repeated tasks of a worker beside its runs.
private struct Housekeeping {
  private static let interval: Int64 = 60_000

  private let backend: any RunBackend
  private var lastDeletion: Int64?
  private var lastLook: Int64?

  init(of backend: any RunBackend) { self.backend = backend }

  /// Deletes runs that have ended long ago, while the worker has nothing else to do.
  mutating func perform() async {
    guard isDue(lastDeletion) else { return }
    let now = backend.now
    let age = backend.options.retention.roundedUpMilliseconds
    // An error is met again by the next claim. A full batch is continued at the next idle time.
    let deleted = (try? await backend.tidy(olderThan: age)) ?? 0
    if deleted < 1_000 { lastDeletion = now }
  }

  /// Logs the processes of which it cannot be judged whether they live.
  mutating func lookAtOwners(in context: OperationContext) async {
    guard isDue(lastLook) else { return }
    lastLook = backend.now
    for problem in (try? await backend.ownerProblems()) ?? [] { context.log(.warning, problem) }
  }

  private func isDue(_ last: Int64?) -> Bool {
    guard let last else { return true }
    let now = backend.now
    return now - last >= Self.interval || now < last
  }
}
