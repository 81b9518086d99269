internal import CompositeOperations

/// A flow whose runs this program can run.
struct FlowRegistration: Sendable {
  let name: String
  let perform: @Sendable (_ claim: RunClaim, RunSession, OperationContext) async throws -> RunStop

  init<Flow: DurableSequence>(_ flow: Flow.Type) {
    name = Flow.flowName
    perform = { claim, session, context in
      var runner = DurableRunner<Flow>(claim, session: session, in: context)
      return try await runner.perform()
    }
  }
}

/// Runs a claimed run, from the claim to the release.
struct RunExecution: Sendable {
  let claim: RunClaim
  let flow: FlowRegistration
  let backend: any RunBackend
  /// Nil if no worker runs it.
  let place: WorkerPlace?

  /// Runs the run until it ends, has to wait, or the task is cancelled.
  ///
  /// - Throws: `CancellationError` if the task was cancelled; the error of the store. The run is
  ///   released.
  func perform(in context: OperationContext) async throws -> RunStop {
    do { return try await performClaimed(in: context) } catch let error
      where error is RunStoreError || (error as? DurableRunError)?.isCancelled == true
    {
      // The store may work again soon. Otherwise the next process takes the run over.
      try? await backend.release(by: claim.token, asFailed: error is RunStoreError)
      throw error
    }
  }

  private func performClaimed(in context: OperationContext) async throws -> RunStop {
    // The process that was asked to cancel the run may have ended before it did.
    if claim.run.cancelled != nil { return try await stopped() }
    let id = claim.token.run
    let session = RunSession(claim.token, in: backend, place: place)
    backend.changes.began(id) { session.stop.open() }
    defer { backend.changes.ended(id) }
    do {
      // The store can cancel the run while it runs, which is no cancellation of this task.
      let stop = try await withThrowingTaskGroup(of: RunStop?.self) { group -> RunStop? in
        group.addTask { try await flow.perform(claim, session, context) }
        group.addTask {
          await session.stop.wait()
          return nil
        }
        defer { group.cancelAll() }
        if let first = try await group.next(), let stop = first { return stop }
        group.cancelAll()
        // The outcome of a run that was cancelled counts if it came first.
        guard let last = try await group.next() else { return nil }
        return last
      }
      guard let stop else { return try await stopped() }
      if case .stuck(let reason) = stop {
        try await backend.markStuck(by: claim.token, because: reason)
      }
      return stop
    } catch let error where error is RunStoreError || (error as? DurableRunError)?.isTaken == true {
      throw error
    } catch let error
      where error is CancellationError || (error as? DurableRunError)?.isCancelled == true
    {
      return try await stopped()
    } catch {
      let reason = "\(error)"
      try await backend.markStuck(by: claim.token, because: reason)
      return .stuck(reason: reason)
    }
  }

  /// Whether the run has ended, and this claim was the last one.
  var hasEndedUnderClaim: Bool {
    get async {
      guard let run = try? await backend.run(claim.token.run) else { return false }
      return run.state.hasEnded && run.fence == claim.token.fence
    }
  }

  /// Ends the claim of a run whose task was cancelled: by its store, or with this process.
  private func stopped() async throws -> RunStop {
    let run = try await backend.run(claim.token.run)
    guard let run, run.state == .running, run.fence == claim.token.fence else {
      throw DurableRunError(claim.token.run, .taken(fence: claim.token.fence))
    }
    if run.cancelled != nil {
      try await backend.end(by: claim.token, nil, as: .cancelled, sequence: nil)
      return .ended(.cancelled)
    }
    try await backend.release(by: claim.token)
    // The request may have been meant for an earlier claim.
    try Task.checkCancellation()
    return .parked
  }
}
