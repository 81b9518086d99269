internal import CompositeOperations

/// How a process stopped running a run.
enum RunStop: Sendable {
  case ended(RunState)
  /// It waits until a time, an event, or both.
  case parked
  case stuck(reason: String)
}

/// Runs the steps of a run that this process has claimed, until it ends or has to wait.
struct DurableRunner<Flow: DurableSequence> {
  private let session: RunSession
  private let run: StoredRun
  private let isFirst: Bool
  private let context: OperationContext
  private var steps: FinishedSteps
  /// The encoded sequence after the last finished step.
  private var sequence: String
  private var position: Int
  /// The first step that the journal may contain.
  private var firstStored = 0
  /// The values that earlier claims have stored for the step in progress.
  private var keys: [StoredStep] = []

  init(_ claim: RunClaim, session: RunSession, in context: OperationContext) {
    self.session = session
    self.context = context
    run = claim.run
    isFirst = claim.isFirst
    steps = FinishedSteps(keeping: .none)
    sequence = run.sequence
    position = run.stepCount
  }

  /// - Throws: The error of the store; `CancellationError` if the task is cancelled, after which the
  ///   run can be resumed.
  mutating func perform() async throws -> RunStop {
    var flow: Flow
    do { flow = try session.coder.decode(Flow.self, from: run.sequence) } catch {
      return .stuck(reason: "its state cannot be decoded as \(Flow.self): \(error)")
    }
    let history = flow.history
    steps = FinishedSteps(keeping: history)
    var previous: FinishedStep?
    do {
      let parts = try await storedParts(history)
      let rows = parts.steps
      keys = parts.keys
      if let problem = problem(of: rows) { return .stuck(reason: problem) }
      previous = try rows.last?.finishedStep(session.options)
      for row in rows.dropLast() { steps.add(try row.finishedStep(session.options)) }
    } catch let error as DecodingError {
      return .stuck(reason: "a finished step cannot be decoded: \(error)")
    }
    while true {
      try Task.checkCancellation()
      let operation: (any ComposableOperation)?
      do { operation = try await flow.nextOperation(after: previous) } catch {
        try Task.checkCancellation()
        if let previous { steps.add(previous) }
        return try await end(throwing: error, flow)
      }
      if let failure = previous?.journalFailure {
        let name = previous?.name ?? ""
        return .stuck(
          reason: "the result of step \(position - 1), \(name), cannot be decoded: \(failure)")
      }
      if let previous { steps.add(previous) }
      guard let operation else { return try await end(after: previous, flow) }
      try Task.checkCancellation()
      // The next process continues after the last step.
      if session.place?.slot.isEnding == true { throw CancellationError() }
      let state: String
      do { state = try session.coder.encode(flow) } catch {
        return .stuck(reason: "its state cannot be encoded: \(error)")
      }
      if let problem = session.options.problem(ofSize: state.utf8.count) {
        return .stuck(reason: "its state \(problem)")
      }
      switch try await perform(operation, state: state, history: history) {
      case .finished(let step): previous = step
      case .stopped(let stop): return stop
      }
      sequence = state
      position += 1
      keys = []
    }
  }

  // MARK: The start

  /// The steps that the sequence may see, and at least the last one; and the keys of the next step.
  private func storedParts(_ history: StepHistory) async throws -> StoredParts {
    // A first claim finds nothing.
    if isFirst { return StoredParts(steps: [], keys: []) }
    let count = history == .all ? nil : max(history.limit, 1)
    return try await session.backend.parts(of: session.run, last: count)
  }

  /// Why this program cannot continue after the steps; nil if it can.
  private func problem(of steps: [StoredStep]) -> String? {
    var known: Set<String> = [""]
    for step in steps where known.insert(step.mangledName).inserted {
      if _typeByName(step.mangledName) != nil { continue }
      let type = step.types.operations.first ?? step.name
      if !session.options.aliases.isEmpty, session.options.isKnown(type) { continue }
      return """
        this program has no type \(type), of which step \(step.position), \(step.name), is; if a type in this name \
        was renamed, add its former name to `aliases` of the store
        """
    }
    return nil
  }

  // MARK: A step

  private enum StepEnd {
    case finished(FinishedStep)
    case stopped(RunStop)
  }

  private mutating func perform(
    _ operation: some ComposableOperation, state: String, history: StepHistory
  ) async throws -> StepEnd {
    let name = operation.operationName
    let options = session.options
    let step = StepInProgress(
      position, named: name, of: session, canPark: operation.isDurableWait, stored: keys)
    if keys.contains(where: { $0.position == position && !options.isStep($0.name, named: name) }) {
      try await session.backend.removeKeys(by: session.token)
    }
    let isLimited = history != .all
    // One step more than the sequence sees, so that the last one can be retried.
    let firstKept = max(firstStored, isLimited ? position - max(history.limit, 1) : 0)
    let recorder = StepRecorder(
      step, types: StepTypes(of: operation),
      mangledName: TypeName.mangled(type(of: operation)) ?? "",
      // A limited history stores each state, because the step with the last change may be deleted.
      sequence: isLimited || state != sequence ? state : nil,
      dropping: firstStored..<firstKept)
    let outcome = await context.outcome(of: JournalingStep(base: operation, recorder: recorder))
    // The sequence receives what is stored, which has no values of an error.
    outcome.error?.discardCarriedValues()
    if let finished = recorder.finished {
      firstStored = firstKept
      return .finished(try finished.finishedStep(session.options))
    }
    if let reason = step.stuckReason { return .stopped(.stuck(reason: reason)) }
    if let parking = step.parking {
      try await session.backend.park(
        by: session.token, until: parking.wake, event: parking.event)
      return .stopped(.parked)
    }
    throw step.failure ?? CancellationError()
  }

  // MARK: The end

  /// Ends the run as its last step ended.
  private func end(after previous: FinishedStep?, _ flow: Flow) async throws -> RunStop {
    switch previous?.outcome {
    case .result, nil:
      let output: Flow.Output
      do { output = try flow.output(of: steps) } catch {
        return try await end(throwing: error, flow)
      }
      if let failure = steps.lazy.compactMap(\.journalFailure).first {
        return .stuck(reason: "a result cannot be decoded for the output: \(failure)")
      }
      let text = try (output as? any Codable).map { try session.coder.encode($0) }
      if let problem = session.options.problem(ofSize: text?.utf8.count ?? 0) {
        return .stuck(reason: "its output \(problem)")
      }
      return try await end(text, as: .result, flow)
    case .error(let error): return try await end(failing: error, from: .step, flow)
    case .cancelled: return try await end(nil, as: .cancelled, flow)
    }
  }

  private func end(throwing error: any Error, _ flow: Flow) async throws -> RunStop {
    if error.meansCancellation { return try await end(nil, as: .cancelled, flow) }
    return try await end(failing: error, from: .sequence, flow)
  }

  private func end(
    failing error: any Error, from origin: StoredRunError.Origin, _ flow: Flow
  ) async throws -> RunStop {
    let stored = StoredRunError(error: StoredError(error, by: session.coder), origin: origin)
    return try await end(try session.coder.encode(stored), as: .error, flow)
  }

  private func end(
    _ outcome: String?, as state: RunState, _ flow: Flow
  ) async throws -> RunStop {
    let last = try? session.coder.encode(flow)
    // The worker claims the next run while the outcome is stored.
    session.place?.slot.end()
    try await session.backend.end(
      by: session.token, outcome, as: state, sequence: last == sequence ? nil : last)
    return .ended(state)
  }
}
