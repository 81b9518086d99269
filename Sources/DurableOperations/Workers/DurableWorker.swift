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
/// A run that has to wait for at least ``RunStoreOptions/parkingThreshold`` is
/// ``RunState/parked``. It then uses neither a place nor memory of the worker.
public struct DurableWorker: ComposableOperation {
  private let store: RunStore
  private let flows: [String: FlowRegistration]
  private let width: Int

  /// Creates a worker.
  ///
  /// - Parameters:
  ///   - store: The store of the runs.
  ///   - flows: The flows that it runs.
  ///   - width: How many runs it runs at once; by default 16. With `OperationWidth.adaptive`, as
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
    self.flows = registered
    self.width = width == .adaptive ? Processors.count : width.limit
  }

  private static func registration<Flow: DurableSequence>(
    of flow: Flow.Type
  ) -> FlowRegistration { FlowRegistration(flow) }

  public func perform(in context: OperationContext) async throws {
    let slots = WorkerSlots(width)
    let backend = store.backend
    try await withThrowingDiscardingTaskGroup { group in
      var housekeeping = Housekeeping(of: backend)
      while !Task.isCancelled {
        let claims = try await claims(atMost: slots.free, in: context)
        for claim in claims {
          guard let flow = flows[claim.run.flow] else { continue }
          let slot = slots.take()
          let execution = RunExecution(claim: claim, flow: flow, backend: backend, slot: slot)
          group.addTask {
            defer { slot.end() }
            await run(execution, in: context)
          }
        }
        if claims.isEmpty {
          await housekeeping.perform()
          try await waitForWork(slots, in: context)
        }
      }
    }
    throw CancellationError()
  }

  /// Runs a run. Errors of the store are logged, and the run is resumed later.
  private func run(_ execution: RunExecution, in context: OperationContext) async {
    let id = execution.claim.token.run
    let operation = RunOperation(execution: execution)
    switch await context.outcome(of: operation) {
    case .result(.stuck(let reason)): context.log(.error, "run \(id) is stuck: \(reason)")
    case .result, .cancelled: break
    case .error(let error): context.log(.warning, "run \(id): \(error)")
    }
  }

  // MARK: Claims

  private static let longestPause = Duration.seconds(5)

  /// Claims due runs. After a temporary error of the store it waits a second.
  private func claims(
    atMost count: Int, in context: OperationContext
  ) async throws -> [RunClaim] {
    if count == 0 { return [] }
    do { return try await store.backend.claim(flows: Array(flows.keys), limit: count) } catch let
      error as RunStoreError where error.isTemporary
    {
      context.log(.error, "no run can be claimed: \(error)")
      try await context.pause(.seconds(1))
      return []
    }
  }

  /// Waits until a run may be due and a place is free.
  private func waitForWork(_ slots: WorkerSlots, in context: OperationContext) async throws {
    let backend = store.backend
    let waiter = backend.changes.register(for: [.ready])
    defer { backend.changes.remove(waiter) }
    let place = Latch()
    slots.notify(place)
    if slots.free == 0 { return await place.wait() }
    // A run may have become due before the registration.
    let wake = try? await backend.nextWake(of: Array(flows.keys))
    var longest = Self.longestPause
    if let wake = wake ?? nil {
      longest = min(longest, .milliseconds(wake - backend.options.milliseconds))
    }
    if longest <= .zero { return }
    do { try await waiter.wait(atMost: longest, in: context) } catch is CancellationError {}
  }
}

/// A run as a child of its worker, for events and traces.
private struct RunOperation: ComposableOperation {
  let execution: RunExecution

  var operationName: String { "\(execution.flow.name) \(execution.claim.token.run)" }

  func perform(in context: OperationContext) async throws -> RunStop {
    do { return try await execution.perform(in: context) } catch is RunTakenError {
      // Another process runs it now.
      return .parked
    }
  }
}

/// Deletes runs that have ended long ago, while a worker has nothing else to do.
private struct Housekeeping {
  private static let interval: Int64 = 60_000

  private let backend: any RunBackend
  private var last: Int64?

  init(of backend: any RunBackend) { self.backend = backend }

  mutating func perform() async {
    let now = backend.options.milliseconds
    if let last, now - last < Self.interval, now >= last { return }
    let end = now - backend.options.retention.roundedUpMilliseconds
    // An error is met again by the next claim. A full batch is continued at the next idle time.
    let deleted = (try? await backend.forget(endedBefore: end)) ?? 0
    if deleted < 1_000 { last = now }
  }
}
