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
  mutating nonisolated(nonsending) func perform(
    as task: UnsafeCurrentTask
  ) async throws -> HeldResult<Steps.Output> {
    var previous: FinishedStep?
    var index = 0
    while true {
      if unsafe task.isCancelled { throw stop(because: nil) }
      let next: (any ComposableOperation)?
      do {
        next = try await sequence.nextOperation(after: previous)
      } catch {
        throw stop(because: error)
      }
      // S2: an answer that comes after the cancellation is dropped unused.
      if unsafe task.isCancelled { throw stop(because: nil) }
      guard let operation = next else { break }
      var disposal: Disposal?
      let step =
        context.scope == nil
        ? await unsafe performStep(operation, at: index, disposal: &disposal, as: task)
        : await attendStep(operation, at: index, disposal: &disposal)
      if let disposal { steps.hold(disposal, for: index) }
      steps.append(step)
      previous = step
      index += 1
    }
    switch previous?.outcome {
    case .result, nil: return try output()
    case .error(let error): throw stop(because: error)
    case .cancelled: throw stop(because: nil)
    }
  }

  private nonisolated(nonsending) func performStep(
    _ operation: any ComposableOperation, at index: Int, disposal: inout Disposal?,
    as task: UnsafeCurrentTask
  ) async -> FinishedStep {
    do {
      let step = try await operation.performStep(at: index, in: context, disposal: &disposal)
      if unsafe !task.isCancelled { return step }
      disposal?()
      disposal = nil
      return FinishedStep(operation: operation, outcome: .cancelled, at: index)
    } catch {
      let end = RunEnd<any Sendable>(throwing: error, wasCancelled: unsafe task.isCancelled)
      return FinishedStep(operation: operation, outcome: end.outcome, at: index)
    }
  }

  /// The same where somebody looks: through the context, which tells of the step.
  private nonisolated(nonsending) func attendStep(
    _ operation: some ComposableOperation, at index: Int, disposal: inout Disposal?
  ) async -> FinishedStep {
    let end = await context.end(of: operation)
    disposal = end.disposal
    return FinishedStep(operation: operation, outcome: end.outcome.map { $0 }, at: index)
  }

  private func output() throws -> HeldResult<Steps.Output> {
    let output: Steps.Output
    do {
      output = try sequence.output(of: steps)
    } catch {
      throw stop(because: error)
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

  private func stop(because cause: (any Error)?) -> SequentialOperationError {
    SequentialOperationError(cause: cause, steps: steps)
  }
}
