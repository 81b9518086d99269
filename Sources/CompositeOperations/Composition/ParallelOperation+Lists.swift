extension ParallelOperation {
  /// Operations of one type, side by side.
  ///
  /// - Parameters:
  ///   - children: The operations. No operations come to no results.
  ///   - width: How many may be in flight at once.
  ///   - mode: What happens when one ends without a result.
  public init<Child: ComposableOperation>(
    _ children: [Child], width: OperationWidth = .adaptive,
    onFailure mode: FailureMode = .cancelRemaining
  ) where Success == [Child.Success] {
    self.init(plan: ListPlan(children: ContiguousArray(children), width: width, mode: mode))
  }

  /// Operations of several types that give the same, side by side.
  ///
  /// - Parameters:
  ///   - children: The operations. No operations come to no results.
  ///   - width: How many may be in flight at once.
  ///   - mode: What happens when one ends without a result.
  public init<Value>(
    _ children: [any ComposableOperation<Value>], width: OperationWidth = .adaptive,
    onFailure mode: FailureMode = .cancelRemaining
  ) where Success == [Value] {
    self.init(plan: MixedListPlan(children: ContiguousArray(children), width: width, mode: mode))
  }

  @available(
    *, unavailable,
    message: """
      Children that give different things go side by side without brackets: \
      ParallelOperation(first, second)
      """
  )
  public init(
    _ children: [any ComposableOperation], width: OperationWidth = .adaptive,
    onFailure mode: FailureMode = .cancelRemaining
  ) where Success == Never { preconditionFailure("Unavailable.") }
}
