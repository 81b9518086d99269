package import CompositeOperations

/// How far one attempt to run a run has come.
package enum RunProgress: Sendable {
  case ended(StoredRun)
  case stuck(reason: String)
  /// This process has run it for a while.
  case ran
  /// Another process, or another task of this one, runs it.
  case taken
  /// It waits for a time or an event.
  case parked(until: Int64?)
}

/// Runs one run in this process, or waits while another process runs it, until it has an outcome.
package struct RunDriver: Sendable {
  private let id: RunID
  private let flow: FlowRegistration
  private let backend: any RunBackend

  package init<Flow: DurableSequence>(
    _ id: RunID, of flow: Flow.Type, in backend: any RunBackend
  ) {
    self.id = id
    self.flow = FlowRegistration(flow)
    self.backend = backend
  }

  /// - Parameter run: The run at its start; nil if it is unknown.
  /// - Returns: The run, which has ended.
  /// - Throws: A ``DurableRunError``; the error of the store; `CancellationError`.
  func drive(_ run: StoredRun? = nil, in context: OperationContext) async throws -> StoredRun {
    if let run, run.interruptions > 0 { try await waitForTurn(in: context) }
    while true {
      // The first attempt does not check the cancellation: the run may be claimed already.
      switch try await attempt(in: context) {
      case .ended(let run): return run
      case .stuck(let reason): throw DurableRunError(id, .stuck(because: reason))
      case .ran: break
      case .taken, .parked:
        try await waitForChange(in: context)
        try await waitForTurn(in: context)
      }
      try Task.checkCancellation()
    }
  }

  /// Claims the run, and runs it until it ends or has to wait.
  ///
  /// - Throws: The error of the store, also if there is no such run; `CancellationError`.
  package func attempt(in context: OperationContext) async throws -> RunProgress {
    switch try await backend.claim(id) {
    case .claimed(let claim):
      let execution = RunExecution(claim: claim, flow: flow, backend: backend, place: nil)
      try await ClaimedRun.perform(execution, in: context)
      return .ran
    case .over(let run):
      return run.state == .stuck ? .stuck(reason: run.reason ?? "no reason") : .ended(run)
    case .missing: throw RunStoreError.noSuchRun(id)
    case .taken: return .taken
    case .parked(let wake): return .parked(until: wake)
    }
  }

  /// Waits until a worker has run the run.
  ///
  /// - Parameter continues: Whether this process continues the run of a process that has ended.
  /// - Returns: The run, which has ended.
  /// - Throws: A ``DurableRunError``; the error of the store; `CancellationError`.
  func waitForEnd(
    continuing continues: Bool, in context: OperationContext
  ) async throws -> StoredRun {
    while true {
      let run = try await backend.changes.wait(for: [.run(id)], in: context) {
        () -> WaitDecision<StoredRun> in
        guard let run = try await backend.run(id) else { throw RunStoreError.noSuchRun(id) }
        switch run.state {
        case .stuck: throw DurableRunError(id, .stuck(because: run.reason ?? "no reason"))
        case .result, .error, .cancelled: return .end(run)
        case .running, .interrupted:
          if !continues { return .wait(nil) }
          return backend.ownerHasEnded(of: run) ? .end(run) : .wait(Self.longestWait)
        // Another process may have noticed the end of the first one, and not know the flow.
        case .ready: return continues && run.interruptions > 0 ? .end(run) : .wait(nil)
        case .parked: return .wait(nil)
        }
      }
      if run.state.hasEnded { return run }
      try await waitForTurn(in: context)
      switch try await attempt(in: context) {
      case .stuck(let reason): throw DurableRunError(id, .stuck(because: reason))
      // Perhaps no worker knows its flow.
      case .ran: return try await drive(in: context)
      case .ended, .taken, .parked: try Task.checkCancellation()
      }
    }
  }

  // MARK: Suspects

  /// Waits before a claim of a run that may end this process, while this process runs others: perhaps a worker
  /// runs it alone. After 30 seconds, it is claimed nevertheless: one of the others may wait for it.
  private func waitForTurn(in context: OperationContext) async throws {
    for _ in 0..<60 {
      if try await !isDangerous() { return }
      try await context.pause(Self.longestWait)
    }
  }

  private func isDangerous() async throws -> Bool {
    guard let run = try await backend.run(id) else { return false }
    let interruptions: Int
    switch run.state {
    case .running where backend.ownerHasEnded(of: run): interruptions = run.interruptions + 1
    case .ready, .parked: interruptions = run.interruptions
    case .running, .interrupted, .stuck, .result, .error, .cancelled: return false
    }
    return interruptions >= StoredRun.suspectInterruptions
      && backend.changes.runningRuns.contains { $0 != id && $0 != run.parent }
  }

  /// The process that runs a run may end without a sign in the store.
  private static let longestWait = Duration.milliseconds(500)

  /// Waits until the run can be claimed or has ended.
  private func waitForChange(in context: OperationContext) async throws {
    try await backend.changes.wait(for: [.run(id)], in: context) { () -> WaitDecision<Void> in
      guard let run = try await backend.run(id) else { return .end(()) }
      switch run.state {
      case .ready, .stuck, .result, .error, .cancelled: return .end(())
      case .running, .interrupted:
        return backend.ownerHasEnded(of: run) ? .end(()) : .wait(Self.longestWait)
      case .parked:
        guard let wake = run.wake else { return .wait(nil) }
        let left = wake - backend.now
        return left > 0 ? .wait(.milliseconds(left)) : .end(())
      }
    }
  }
}

extension RunBackend {
  /// Returns the outcome of a run that has ended.
  ///
  /// - Throws: An error if it cannot be read: a ``DurableRunError`` if a value cannot be decoded.
  package func outcome<Flow: DurableSequence>(
    of run: StoredRun, as flow: Flow.Type
  ) async throws -> Outcome<Flow.Output> {
    let coder = options.coder
    do {
      switch run.state {
      case .result:
        if let text = run.outcome {
          return .result(try StoredValue.decode(Flow.Output.self, from: text, by: coder))
        }
        let sequence = try coder.decode(Flow.self, from: run.sequence)
        return .result(try sequence.output(of: try await steps(of: run, history: sequence.history)))
      case .error:
        let stored = try coder.decode(StoredRunError.self, from: run.outcome ?? "")
        let sequence = try? coder.decode(Flow.self, from: run.sequence)
        let steps = try await steps(of: run, history: sequence?.history ?? .all)
        return .error(
          SequentialOperationError(
            cause: stored.error.restored(options),
            from: stored.origin == .step ? .step : .sequence, steps: steps))
      case .cancelled: return .cancelled
      case .ready, .running, .interrupted, .parked, .stuck:
        throw RunStoreError(.wrongState, "run \(run.id) has not ended (\(run.state.rawValue))")
      }
    } catch let error as DecodingError {
      throw DurableRunError(run.id, .stuck(because: "its outcome cannot be decoded: \(error)"))
    }
  }

  private func steps(of run: StoredRun, history: StepHistory) async throws -> FinishedSteps {
    var steps = FinishedSteps(keeping: history)
    if history == .none { return steps }
    let count = history == .all ? nil : history.limit
    for row in try await self.steps(of: run.id, last: count) {
      steps.add(try row.finishedStep(options))
    }
    return steps
  }

  /// Starts a run, or returns the run with its name.
  ///
  /// - Throws: A ``DurableRunError`` if another run has the name, or if today's type cannot decode the first
  ///   state of the run with the name; a ``RunStoreError``.
  package func start<Flow: DurableSequence>(
    _ flow: Flow, named id: RunID, parent: RunID? = nil, isClaimedNext: Bool = false
  ) async throws -> (run: StoredRun, isNew: Bool) {
    if let problem = id.problem {
      throw RunStoreError(
        .invalidName,
        "the name of a run, \(id.text.prefix(60).debugDescription), is invalid: \(problem)")
    }
    let state: String
    do { state = try options.coder.encode(flow) } catch {
      throw RunStoreError(
        .notEncodable, "run \(id): the state of \(Flow.self) cannot be encoded: \(error)")
    }
    if let problem = options.problem(ofSize: state.utf8.count) {
      throw RunStoreError(.tooLarge, "run \(id): the state of \(Flow.self) \(problem)")
    }
    let new = NewRun(
      id: id, flow: Flow.flowName, state: state, parent: parent,
      isClaimedNext: isClaimedNext)
    let (run, isNew) = try await insert(new)
    if isNew { return (run, true) }
    guard options.isFlow(run.flow, named: Flow.flowName) else {
      throw DurableRunError(id, .exists(flow: run.flow, isSameFlow: false))
    }
    // By today's type, so that a new optional property makes no difference.
    let initial: String
    do {
      initial = try options.coder.encode(options.coder.decode(Flow.self, from: run.initial))
    } catch {
      throw DurableRunError(
        id, .stuck(because: "its first state cannot be decoded as \(Flow.self): \(error)"))
    }
    guard initial == state else {
      throw DurableRunError(id, .exists(flow: run.flow, isSameFlow: true))
    }
    return (run, false)
  }
}
