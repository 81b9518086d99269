internal import CompositeOperations

/// A claim of a run as a child of its worker, or of the operation that waits for the run, for
/// events and traces.
///
/// If the store keeps a ``RunTrace``, all claims of the run belong to one trace. No process knows
/// beforehand which claim will be the last one, and a span is exported only once, when it has ended.
/// Hence the claim that ends the run is exported as the span of the run. Its time begins with the
/// start of the run. It has the stored identifier, which is the parent of the other claims and of
/// all steps. So no span of a run that a process has ended lacks its parent, which viewers would
/// report. OpenTelemetry permits children that end before, or are exported before, their parent.
///
/// The parent is missing while the run has not ended, and if the run is cancelled while no process
/// runs it.
struct ClaimedRun: ComposableOperation {
  private let execution: RunExecution
  /// The link of this claim; nil if the store keeps no trace.
  private let link: TraceLink?
  /// Open when the operation has begun, which releases the run at its end.
  private let begun = Latch()

  private init(_ execution: RunExecution) {
    self.execution = execution
    let run = execution.claim.run
    link = run.trace?.claimLink(began: run.began)
  }

  /// Runs a run as a child of its worker.
  static func outcome(
    of execution: RunExecution, in context: OperationContext
  ) async -> Outcome<RunStop> {
    let claim = ClaimedRun(execution)
    let context = claim.link.map { context.linked(by: $0) } ?? context
    let outcome = await context.outcome(of: claim)
    if !claim.begun.isOpen {
      // The task was cancelled first. After an error, another claim follows the end of the lease.
      try? await execution.backend.release(by: execution.claim.token)
    }
    return outcome
  }

  /// Runs a run as a part of the operation that waits for it: as a child if it has a trace, because
  /// that operation does not belong to the trace.
  ///
  /// - Throws: The error of the store; `CancellationError`.
  static func perform(_ execution: RunExecution, in context: OperationContext) async throws {
    if execution.claim.run.trace != nil {
      _ = try await outcome(of: execution, in: context).get()
    } else {
      // Another process may run it now.
      do { _ = try await execution.perform(in: context) } catch let error as DurableRunError
        where error.isTaken
      {}
    }
  }

  var operationName: String { "\(execution.flow.name) \(execution.claim.token.run)" }

  func perform(in context: OperationContext) async throws -> RunStop {
    begun.open()
    do {
      guard let trace = execution.claim.run.trace else {
        return try await execution.perform(in: context)
      }
      // For the runs that a step starts.
      let stop = try await RunTrace.$current.withValue(trace) {
        try await execution.perform(in: context.linked(by: trace.link))
      }
      if case .ended = stop { link?.complete() }
      return stop
    } catch let error as DurableRunError where error.isTaken {
      // Another process runs it now, or the store has cancelled it.
      if let link, await execution.hasEndedUnderClaim { link.complete() }
      return .parked
    }
  }
}
