/// One run of a sequence: its copy of the sequence, and the steps so far.
@usableFromInline struct SequentialRun<Steps: OperationSequence> {
  @usableFromInline var sequence: Steps
  @usableFromInline var steps: FinishedSteps
  @usableFromInline let context: OperationContext

  @usableFromInline init(_ sequence: Steps, in context: OperationContext) {
    self.sequence = sequence
    self.context = context
    steps = FinishedSteps(limit: sequence.history.limit)
    if context.scope != nil, let count = sequence.expectedStepCount {
      context.expectChildren(count)
    }
  }

  // Cancellation is checked twice per step, without retaining the task. It is the task that runs
  // this function, so it is valid until the function returns. Passing it as a parameter costs
  // nothing.
  @inlinable mutating nonisolated(nonsending) func perform(
    as task: UnsafeCurrentTask
  ) async throws -> HeldResult<Steps.Output> {
    // Becomes one of the steps when the sequence has seen it.
    var previous: FinishedStep?
    var index = 0
    var yields = YieldSchedule()
    var isCancelled = unsafe task.isCancelled
    while !isCancelled {
      do {
        if !steps.cleanups.isEmpty { handOver(previous) }
        // Bound without a variable: copying an operation of unknown type takes longer than
        // performing an empty one.
        guard let operation = try await sequence.nextOperation(after: previous) else { break }
        steps.append(previous.take())
        // S2: an operation that is returned after the cancellation is dropped unused.
        if unsafe task.isCancelled { break }
        var cleanup: Cleanup?
        if context.scope != nil {
          previous = await attendStep(operation, at: index, cleanup: &cleanup)
          isCancelled = unsafe task.isCancelled
        } else {
          do {
            previous = try await operation.performStep(
              at: index, in: context, cleanup: &cleanup)
            isCancelled = unsafe task.isCancelled
            if isCancelled {
              cleanup?()
              cleanup = nil
              previous = FinishedStep(operation: operation, error: nil, at: index)
            }
          } catch {
            isCancelled = unsafe task.isCancelled
            previous = FinishedStep(
              operation: operation, throwing: error, wasCancelled: isCancelled, at: index)
            cleanup = previous?.error?.cleanupOfCarriedValues
          }
        }
        if let cleanup { steps.cleanups[index] = cleanup }
        index += 1
        if await yields.stepEnded() { isCancelled = unsafe task.isCancelled }
      } catch {
        throw stop(because: error, after: previous)
      }
    }
    if unsafe task.isCancelled { throw stop(because: nil, after: previous) }
    return try end(after: previous)
  }

  /// The values of the previous step belong to the sequence, which receives it now.
  @usableFromInline mutating func handOver(_ previous: FinishedStep?) {
    if Steps.self == LinearSequence.self, let linear = sequence as? LinearSequence,
      !linear.asksBuilder(after: previous)
    {
      return
    }
    steps.cleanups.removeAll(keepingCapacity: true)
  }

  /// Performs a step of a run with a scope, through the context, which reports it to observers.
  @usableFromInline nonisolated(nonsending) func attendStep(
    _ operation: some ComposableOperation, at index: Int, cleanup: inout Cleanup?
  ) async -> FinishedStep {
    let completion = await context.complete(operation)
    cleanup = completion.cleanup
    if case .result(let value) = completion.outcome {
      return FinishedStep(operation: operation, result: value, at: index)
    }
    let error = completion.outcomeDiscardingLate.error
    cleanup = error?.cleanupOfCarriedValues
    return FinishedStep(operation: operation, error: error, at: index)
  }

  /// Ends the run as the last step ended.
  @usableFromInline mutating func end(
    after previous: FinishedStep?
  ) throws -> HeldResult<Steps.Output> {
    steps.append(previous)
    switch previous?.outcome {
    case .result, nil: return try output()
    case .error(let error):
      // The cause has them.
      if let index = previous?.index, !steps.cleanups.isEmpty { steps.cleanups[index] = nil }
      throw SequentialOperationError(cause: error, from: .step, steps: steps)
    case .cancelled: throw stop(because: nil, after: nil)
    }
  }

  private func output() throws -> HeldResult<Steps.Output> {
    let output: Steps.Output
    do {
      output = try sequence.output(of: steps)
    } catch {
      throw stop(because: error, after: nil)
    }
    return HeldResult(output, cleanup: cleanup(ofAll: steps.cleanups))
  }

  /// Returns the error of a composite whose sequence threw or that was cancelled.
  @usableFromInline func stop(
    because cause: (any Error)?, after step: FinishedStep?
  ) -> SequentialOperationError {
    var steps = steps
    steps.append(step)
    return SequentialOperationError(cause: cause, from: .sequence, steps: steps)
  }
}
