extension ParallelOperation {
  /// The same children; the result says how each of them ended.
  ///
  /// Nothing is lost: failures and cancellations of children are part of the result, in the order
  /// of the children. Only a cancellation from outside makes the composite end otherwise, and an
  /// error of the source that the children come from.
  ///
  /// ```swift
  /// let fetches = ParallelOperation(urls.map(FetchPage.init), onFailure: .runAll)
  /// for outcome in try await fetches.collectingOutcomes().run().get() { print(outcome) }
  /// ```
  ///
  /// The failure mode stays: in ``FailureMode/cancelRemaining`` the first failure still cancels the
  /// other children, and their outcomes say so.
  public func collectingOutcomes<Value>() -> ParallelOperation<[Outcome<Value>]>
  where Success == [Value] {
    let performing = performing
    return ParallelOperation<[Outcome<Value>]>(listing: listing) { context in
      do {
        let held = try await performing(context)
        return HeldResult(held.value.map(Outcome.result), disposal: held.disposal)
      } catch let error as ParallelOperationError where error.sourceError == nil {
        guard let outcomes = error.outcomes(of: Value.self) else { throw error }
        return HeldResult(outcomes) { error.discardCarriedValues() }
      }
    }
  }
}
