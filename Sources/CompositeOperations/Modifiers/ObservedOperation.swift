extension ComposableOperation {
  /// The same operation, seen by observers of its own, with everything below it.
  ///
  /// Whoever observes it already goes on doing so; the newcomers see the run of this operation as
  /// the others do, under the same identity. What changes how the run is seen, such as `named`,
  /// belongs inside.
  public func observed(
    by observers: any OperationObserver...
  ) -> some ComposableOperation<Success> {
    ObservedOperation(base: self, isIdle: observers.isEmpty) { observers }
  }

  /// The same operation, and a closure that is told how far it is.
  ///
  /// ```swift
  /// let sync = ParallelOperation(repositories.map { FetchIssues(repository: $0) })
  ///   .onProgress { progress in print(progress) }
  /// ```
  ///
  /// It is called where something has changed, by whichever operation changed it, never twice at a time, and
  /// with the newest only: what changes during a call is told of by the next one.
  ///
  /// - Parameter body: Called on an operation's thread, which waits for it.
  public func onProgress(
    _ body: @escaping @Sendable (OperationProgress) -> Void
  ) -> some ComposableOperation<Success> {
    ObservedOperation(base: self, isIdle: false) { [ProgressObserver(onChange: body)] }
  }
}

struct ObservedOperation<Base: ComposableOperation>: TransparentOperation, ObserverBearing {
  let base: Base
  /// Whether there are no observers.
  let isIdle: Bool
  let makeObservers: @Sendable () -> [any OperationObserver]

  var observers: [any OperationObserver] { makeObservers() }

  nonisolated(nonsending) func performHeld(
    in context: OperationContext
  ) async throws -> HeldResult<Base.Success> {
    if isIdle || context.scope?.takeJoinedObservers() == true {
      return try await base.performHeld(in: context)
    }
    // Nobody has observed the run so far, so this is where it begins for those who do now.
    let end = await observedEnd(in: context)
    return HeldResult(try end.get(), disposal: end.disposal)
  }
}
