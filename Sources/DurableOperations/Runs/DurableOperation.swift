public import CompositeOperations

/// An operation that runs a durable sequence in this process: it starts the run, resumes it, or
/// returns its outcome if it has ended.
///
/// ```swift
/// import DurableOperations
///
/// let store = RunStore.sqlite("flows.sqlite")
/// let fulfil = DurableOperation(Fulfilment(of: order), named: "order-7", in: store)
/// let parcels = try await fulfil.run().get()
/// ```
///
/// While another process performs the run, the operation waits for its outcome. If that process
/// exits before the run has ended, the operation continues the run in this process.
///
/// Cancelling the operation does not cancel the run in the store: you can resume that run later. To
/// cancel the run in the store, call ``RunStore/cancel(_:because:)``.
///
/// The outcome is the same in the first process and after any number of crashes: results, errors
/// and steps are read from the journal. The run ends in the output of the sequence, or in a
/// `SequentialOperationError`. If the store fails, the operation ends in a ``RunStoreError``, and
/// the run can be resumed.
///
/// A run is *stuck* if the current program cannot continue it, for example because a stored result
/// cannot be decoded. The operation then ends in a ``DurableRunError``.
public struct DurableOperation<Flow: DurableSequence>: ComposableOperation {
  private let flow: Flow
  private let id: RunID
  private let store: RunStore

  /// Creates an operation that runs a flow.
  ///
  /// - Parameters:
  ///   - flow: The sequence, in its initial state.
  ///   - id: The name of the run. If the store already has a run with this name, the operation
  ///     resumes that run or returns its outcome. If that run has another flow or initial state,
  ///     the operation ends in a ``DurableRunError``.
  ///   - store: The store of the run.
  public init(_ flow: Flow, named id: RunID, in store: RunStore) {
    self.flow = flow
    self.id = id
    self.store = store
  }

  public var operationName: String { Flow.flowName }

  public func perform(in context: OperationContext) async throws -> Flow.Output {
    let backend = store.backend
    let (started, _) = try await backend.start(flow, named: id, isClaimedNext: true)
    let driver = RunDriver(id, of: Flow.self, in: backend)
    let run = try await driver.drive(started, in: context)
    return try await backend.outcome(of: run, as: Flow.self).getDurably(run)
  }
}

extension Outcome {
  /// The value of the outcome of a durable run.
  ///
  /// - Throws: The error of the run, or a ``DurableRunError``.
  func getDurably(_ run: StoredRun) throws -> Success {
    if case .cancelled = self { throw DurableRunError(run.id, .cancelled(because: run.reason)) }
    return try get()
  }
}

/// An operation that runs a durable sequence as a run of its own, whose parent is the current run.
///
/// ```swift
/// import DurableOperations
///
/// let sync = ParallelOperation(
///   regions.map { ChildFlow(SyncRegion($0), named: "sync-\(today)-\($0.name)") })
/// ```
///
/// The child is stored like any run, so a crash of the parent does not repeat the finished steps of
/// the child. Cancelling the parent in its store cancels the child. A ``DurableWorker`` in another
/// process may run the child, if the type of the child's flow is in the worker's list of flows.
///
/// Outside a durable run, the operation runs the sequence without a journal.
public struct ChildFlow<Flow: DurableSequence>: ComposableOperation
where Flow.Output: Codable {
  private let flow: Flow
  private let id: RunID?

  /// Creates an operation that runs a flow as a child.
  ///
  /// - Parameters:
  ///   - flow: The sequence, in its initial state.
  ///   - id: The name of the child's run. By default, it is derived from the name of the parent and
  ///     the step. If a step has several children without names, give each of them a different key
  ///     with the modifier `journaled(as:)`, which becomes part of the name.
  public init(_ flow: Flow, named id: RunID? = nil) {
    self.flow = flow
    self.id = id
  }

  public var operationName: String { Flow.flowName }

  public func perform(in context: OperationContext) async throws -> Flow.Output {
    guard let journal = context.journal as? RunJournal else {
      return try await context.run(SequentialOperation(flow))
    }
    let part = try journal.part(JournalKey(reserved: "child", id?.text ?? ""))
    let child = id ?? journal.childName
    try journal.step.addChild()
    let (backend, parent) = (journal.session.backend, journal.session.run)
    let registration = FlowRegistration(Flow.self)
    let isForWorkers = journal.session.leavesToWorkers(registration)
    let (run, outcome) = try await journal.step.request {
      _ = try await backend.start(
        flow, named: child, parent: parent, isClaimedNext: !isForWorkers)
      let run =
        isForWorkers
        ? try await part.endedElsewhere(child, in: context)
        : try await part.endedHere(child, as: registration, in: context)
      let outcome = try await backend.outcome(of: run, as: Flow.self)
      return (run, outcome)
    }
    return try outcome.getDurably(run)
  }
}

extension ChildFlow: DurableWait {}
extension ChildFlow: ChildStarting {}

extension RunSession {
  /// Whether a worker of this flow will run a child: this one, or another that has the same flows.
  fileprivate func leavesToWorkers(_ flow: FlowRegistration) -> Bool {
    backend.leavesChildrenToWorkers && place?.flows.contains(flow.name) == true
  }
}

extension RunJournal {
  /// Runs a child in this process, or waits until another process has run it.
  ///
  /// - Returns: The child, which has ended.
  fileprivate func endedHere(
    _ child: RunID, as flow: FlowRegistration, in context: OperationContext
  ) async throws -> StoredRun {
    let backend = session.backend
    // Where workers share the store, nothing would wake a parked parent that no worker runs.
    let waiting = backend.leavesChildrenToWorkers ? withoutParking : self
    while true {
      // The first claim does not check the cancellation: it may be made already.
      switch try await backend.claim(child) {
      case .claimed(let claim):
        // In the place of its parent, which only waits.
        let execution = RunExecution(claim: claim, flow: flow, backend: backend, place: nil)
        try await ClaimedRun.perform(execution, in: context.journaling(in: nil))
      case .over(let run): return try ended(run)
      case .missing: throw RunStoreError.noSuchRun(child)
      case .taken: try await waiting.waitForClaim(of: child, until: nil, in: context)
      case .parked(let wake): try await waiting.waitForClaim(of: child, until: wake, in: context)
      }
      try Task.checkCancellation()
    }
  }

  /// Waits until a child can be claimed or has ended, or until a time.
  private func waitForClaim(
    of child: RunID, until wake: Int64?, in context: OperationContext
  ) async throws {
    _ = try await wait(for: child, until: wake, in: context) { run in
      switch run.state {
      case .ready, .stuck, .result, .error, .cancelled: return true
      case .running, .interrupted: return false
      case .parked: return run.wake.map { $0 <= session.now } ?? false
      }
    }
  }

  /// How long a run is parked at most until a child has ended. It then looks again, because another
  /// program may have ended the child without a sign for its parent.
  private static let longestWait: Int64 = 3_600_000

  /// Waits until another process has run a child.
  fileprivate func endedElsewhere(
    _ child: RunID, in context: OperationContext
  ) async throws -> StoredRun {
    while true {
      try Task.checkCancellation()
      let wake = session.now + Self.longestWait
      let run = try await wait(for: child, until: wake, in: context) { run in
        run.state.hasEnded || run.state == .stuck
      }
      if let run { return try ended(run) }
    }
  }

  /// - Throws: An error that makes the step stuck, if the child is stuck.
  private func ended(_ child: StoredRun) throws -> StoredRun {
    if child.state != .stuck { return child }
    throw step.markStuck(
      because: "its child \(child.id) is stuck: \(child.reason ?? "no reason")")
  }

  /// Waits until a child fulfils a condition, or until a time.
  ///
  /// - Returns: Nil if the time is over.
  private func wait(
    for child: RunID, until wake: Int64?, in context: OperationContext,
    _ isFulfilled: (StoredRun) -> Bool
  ) async throws -> StoredRun? {
    let backend = session.backend
    return try await wait(
      for: ChildEvent.name(of: child), changing: [.run(child)], until: wake, in: context
    ) { () -> StoredRun? in
      guard let run = try await backend.run(child) else { throw RunStoreError.noSuchRun(child) }
      return isFulfilled(run) ? run : nil
    }
  }
}
