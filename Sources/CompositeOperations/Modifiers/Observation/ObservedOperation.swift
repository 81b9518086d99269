extension ComposableOperation {
  /// Adds observers to the operation and everything below it.
  ///
  /// Existing observers continue to observe it, and all observers see the same run. Apply modifiers
  /// that change how the run is seen, such as `named`, before this one.
  ///
  /// - Parameter observers: The observers to add.
  public func observed(
    by observers: any OperationObserver...
  ) -> some ComposableOperation<Success> {
    ObservedOperation(base: self, isIdle: observers.isEmpty) { observers }
  }

  /// Calls a closure when the progress of the operation changes.
  ///
  /// ```swift
  /// let sync = ParallelOperation(repositories.map { FetchIssues(repository: $0) })
  ///   .onProgress { progress in print(progress) }
  /// ```
  ///
  /// The operations that change the progress call the closure, one at a time, with the newest
  /// progress. Changes during a call are reported together by the next one.
  ///
  /// - Parameter body: Called synchronously by an operation.
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

  package var observers: [any OperationObserver] { makeObservers() }

  nonisolated(nonsending) func performHeld(
    in context: OperationContext
  ) async throws -> HeldResult<Base.Success> {
    if isIdle || context.scope?.takeJoinedObservers() == true {
      return try await base.performHeld(in: context)
    }
    // The run had no observers so far, so it begins here for the added ones.
    return try await completeAsChild(in: context).held()
  }
}
