extension ParallelOperation {
  /// Returns a composite that runs the same children and whose result is their outcomes.
  ///
  /// The outcomes are in the order of the children and include failures and cancellations. The
  /// composite ends without a result only if it is cancelled from outside, or if the source of its
  /// children throws.
  ///
  /// ```swift
  /// let fetches = ParallelOperation(urls.map(FetchPage.init)).collectingOutcomes()
  /// for outcome in try await fetches.run().get() { print(outcome) }
  /// ```
  ///
  /// Every child runs, unless the composite was created with ``FailureMode/cancelRemaining``: then
  /// the first failure cancels the other children, whose outcomes are cancellations.
  public func collectingOutcomes<Value>() -> ParallelOperation<[Outcome<Value>]>
  where Success == [Value] {
    let performing = performing
    return ParallelOperation<[Outcome<Value>]>(
      listing: listing, onFailure: mode ?? .runAll
    ) { context, mode in
      do {
        let held = try await performing(context, mode)
        return HeldResult(held.value.map(Outcome.result), cleanup: held.cleanup)
      } catch let error as ParallelOperationError where error.sourceError == nil {
        guard let outcomes = error.outcomes(of: Value.self) else { throw error }
        return HeldResult(outcomes) { error.discardCarriedValues() }
      }
    }
  }
}
