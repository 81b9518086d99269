extension ComposableOperation {
  /// The same operation, which runs as a member of a pool whenever it is run.
  ///
  /// ```swift
  /// let downloads = OperationPool(width: .limited(to: 4))
  ///
  /// let page = FetchPage(url).submitted(to: downloads).timingOut(after: .seconds(10))
  /// ```
  ///
  /// It waits for room as ``OperationPool/submit(_:priority:isBarrier:)`` does, and then for its end. A
  /// cancellation cancels the member, which ends at once if it has not begun.
  ///
  /// - Parameters:
  ///   - pool: Where it runs. It is kept.
  ///   - priority: How important it is among those that wait.
  ///   - isBarrier: Whether it waits for all that were submitted before it, and runs alone, while all that
  ///     are submitted after it wait.
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

  /// What it runs is no child of it, so nothing is known of how far that is.
  var isRepeating: Bool { true }
  var runsChild: Bool { false }

  nonisolated(nonsending) func performHeld(
    in context: OperationContext
  ) async throws -> HeldResult<Base.Success> {
    let above = context.scope?.hold
    let name = { @Sendable [base] in "end of \(base.operationName) in a pool" }
    let hold = above.map { _ in PermitHold(untilEndOf: name) }
    let submission = PoolSubmission(
      base, priority, isBarrier, to: pool, holding: hold, passesOnLate: true)
    let run = await submission.run()
    return try await withTaskCancellationHandler {
      if let above, let hold {
        do { try await hold.waitUntilEnd(below: above) } catch let error as PermitError {
          run.cancel(because: error.description)
          await run.end.giveUp()
          throw error
        } catch {
          // Cancelled, as the run is.
        }
      }
      let end = await run.end
      return HeldResult(try end.get(), disposal: end.disposal)
    } onCancel: {
      run.cancel()
    }
  }
}
