extension ComposableOperation {
  /// The same operation, seen by observers of its own, with everything below it.
  ///
  /// Whoever observes it already goes on doing so; the newcomers see the run of this operation as
  /// the others do, under the same identity.
  public func observed(
    by observers: any OperationObserver...
  ) -> some ComposableOperation<Success> {
    ObservedOperation(base: self, observers: observers)
  }
}

struct ObservedOperation<Base: ComposableOperation>: TransparentOperation, ObserverBearing {
  let base: Base
  let observers: [any OperationObserver]

  var observed: any ComposableOperation { base }

  nonisolated(nonsending) func performHeld(
    in context: OperationContext
  ) async throws -> HeldResult<Base.Success> {
    let end = await observedEnd(in: context, with: [])
    return HeldResult(try end.outcome.get(), disposal: end.disposal)
  }
}
