/// One run of a sequence: its own copy of it, and the steps so far.
struct SequentialRun<Steps: OperationSequence> {
  private var sequence: Steps
  private var steps: FinishedSteps
  private let context: OperationContext

  init(_ sequence: Steps, in context: OperationContext) {
    self.sequence = sequence
    self.context = context
    steps = FinishedSteps(limit: sequence.history.limit)
  }

  // The task is asked whether it is cancelled three times a step, without being counted. It is the
  // very task that runs this, so it is valid until this returns; as a parameter it costs nothing.
  //
  // A step is a constant, and optional from the start: copying one takes longer than performing an
  // empty operation.
  mutating nonisolated(nonsending) func perform(
    as task: UnsafeCurrentTask
  ) async throws -> HeldResult<Steps.Output> {
    var index = 0
    var next = try await unsafe ask(after: nil, as: task)
    while let operation = next.take() {
      var disposal: Disposal?
      let step: FinishedStep?
      if context.scope == nil {
        step = await unsafe performStep(operation, at: index, disposal: &disposal, as: task)
      } else {
        step = await attendStep(operation, at: index, disposal: &disposal)
      }
      if let disposal { steps.hold(disposal, for: index) }
      next = try await unsafe ask(after: step, as: task)
      steps.append(step)
      index += 1
    }
    return try output()
  }

  /// Asks the sequence for the next step.
  ///
  /// - Parameter step: The step that has just ended, which is not among the others yet.
  @inline(__always) private mutating nonisolated(nonsending) func ask(
    after step: FinishedStep?, as task: UnsafeCurrentTask
  ) async throws -> (any ComposableOperation)? {
    if unsafe task.isCancelled { throw stop(because: nil, after: step) }
    let next: (any ComposableOperation)?
    do {
      next = try await sequence.nextOperation(after: step)
    } catch {
      throw stop(because: error, after: step)
    }
    // S2: an answer that comes after the cancellation is dropped unused.
    if unsafe task.isCancelled { throw stop(because: nil, after: step) }
    if case .some = next { return next }
    switch step?.outcome {
    case .result, nil: return nil
    case .error(let error): throw stop(because: error, of: .step, after: step)
    case .cancelled: throw stop(because: nil, after: step)
    }
  }

  @inline(__always) private nonisolated(nonsending) func performStep(
    _ operation: any ComposableOperation, at index: Int, disposal: inout Disposal?,
    as task: UnsafeCurrentTask
  ) async -> FinishedStep {
    do {
      let step = try await operation.performStep(at: index, in: context, disposal: &disposal)
      if unsafe !task.isCancelled { return step }
      disposal?()
      disposal = nil
      return FinishedStep(operation: operation, error: nil, at: index)
    } catch {
      let end = RunEnd<Never>(throwing: error, wasCancelled: unsafe task.isCancelled)
      return FinishedStep(operation: operation, error: end.outcome.error, at: index)
    }
  }

  /// The same where somebody looks: through the context, which tells of the step.
  private nonisolated(nonsending) func attendStep(
    _ operation: some ComposableOperation, at index: Int, disposal: inout Disposal?
  ) async -> FinishedStep {
    let end = await context.end(of: operation)
    disposal = end.disposal
    if case .result(let value) = end.outcome {
      return FinishedStep(operation: operation, result: value, at: index)
    }
    return FinishedStep(operation: operation, error: end.outcome.error, at: index)
  }

  private func output() throws -> HeldResult<Steps.Output> {
    let output: Steps.Output
    do {
      output = try sequence.output(of: steps)
    } catch {
      throw stop(because: error, after: nil)
    }
    if sequence is any LastStepSequence {
      // Attempts that failed before are part of no outcome.
      steps.discardValuesOfErrors()
      return HeldResult(output, disposal: steps.lastDisposal)
    }
    // An output of the author's own making has taken over what it was made from.
    return HeldResult(
      output, disposal: Steps.Output.self == FinishedSteps.self ? steps.disposal : nil)
  }

  @inline(never) private func stop(
    because cause: (any Error)?, of origin: SequentialOperationError.CauseOrigin = .sequence,
    after step: FinishedStep?
  ) -> SequentialOperationError {
    var steps = steps
    steps.append(step)
    return SequentialOperationError(cause: cause, from: origin, steps: steps)
  }
}
