extension ComposableOperation {
  /// Runs the operation as a member of a pool.
  ///
  /// ```swift
  /// let downloads = OperationPool(width: .limited(to: 4))
  ///
  /// let page = FetchPage(url).submitted(to: downloads).timingOut(after: .seconds(10))
  /// ```
  ///
  /// Each run waits for room, as ``OperationPool/submit(_:priority:isBarrier:)`` does, and then for
  /// the end of the member. A cancellation cancels the member, which ends at once if it has not
  /// begun.
  ///
  /// - Parameters:
  ///   - pool: The pool, which the operation retains.
  ///   - priority: The priority among the waiting operations.
  ///   - isBarrier: Whether the operation waits for all operations submitted before it, and runs
  ///     alone, while all operations submitted after it wait.
  public func submitted(
    to pool: OperationPool, priority: OperationPool.Priority = .normal, isBarrier: Bool = false
  ) -> some ComposableOperation<Success> {
    SubmittedOperation(base: self, pool: pool, priority: priority, isBarrier: isBarrier)
  }
}

struct SubmittedOperation<Base: ComposableOperation>: SeparateRun {
  let base: Base
  let pool: OperationPool
  let priority: OperationPool.Priority
  let isBarrier: Bool

  /// The member is not a child, so its progress is not known.
  var isRepeating: Bool { true }
  var runsChild: Bool { false }

  nonisolated(nonsending) func performHeld(
    in context: OperationContext
  ) async throws -> HeldResult<Base.Success> {
    let above = context.scope?.permits
    let name = { @Sendable [base] in "end of \(base.operationName) in a pool" }
    let hold = above.map { _ in PermitHold(untilEndOf: name) }
    let submission = PoolSubmission(
      base, priority, isBarrier, to: pool, holding: hold, until: context.deadline,
      partOf: context.probes, passesOnLate: true)
    let run = await submission.run()
    return try await withTaskCancellationHandler {
      if let above, let hold {
        do {
          try await hold.waitUntilEnd(below: above) { run.raise(to: $0) }
        } catch let error as PermitError {
          run.cancel(because: error.description)
          await run.completion.discard()
          throw error
        } catch {
          // The wait was cancelled, and so is the run.
        }
      }
      return try await run.completion.held()
    } onCancel: {
      run.cancel()
    }
  }
}
