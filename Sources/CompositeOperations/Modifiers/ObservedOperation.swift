extension ComposableOperation {
  /// The same operation, seen by observers of its own, with everything below it.
  ///
  /// Whoever observes it already goes on doing so; the newcomers see the run of this operation as
  /// the others do, under the same identity. What changes how the run is seen, such as `named`,
  /// belongs inside.
  public func observed(
    by observers: any OperationObserver...
  ) -> some ComposableOperation<Success> {
    ObservedOperation(base: self, observers: observers)
  }
}

struct ObservedOperation<Base: ComposableOperation>: TransparentOperation, ObserverBearing {
  let base: Base
  let observers: [any OperationObserver]

  nonisolated(nonsending) func performHeld(
    in context: OperationContext
  ) async throws -> HeldResult<Base.Success> {
    if observers.isEmpty || context.scope?.takeJoinedObservers() == true {
      return try await base.performHeld(in: context)
    }
    // Nobody has observed the run so far, so this is where it begins for those who do now.
    let end = await observedEnd(in: context)
    return HeldResult(try end.get(), disposal: end.disposal)
  }
}
