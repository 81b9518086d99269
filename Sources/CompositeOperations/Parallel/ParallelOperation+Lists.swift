/// The children and the width of a parallel composite, in one value so that it allocates once.
@usableFromInline struct ListPlan<Child: Sendable>: Sendable {
  @usableFromInline let children: ContiguousArray<Child>
  @usableFromInline let width: OperationWidth

  @inlinable init(children: ContiguousArray<Child>, width: OperationWidth) {
    self.children = children
    self.width = width
  }
}

// Inlinable, so that code that depends on the result type is specialized.
extension ParallelOperation {
  /// Creates a composite that runs operations of one type in parallel.
  ///
  /// - Parameters:
  ///   - children: The operations. An empty array has an empty result.
  ///   - width: The maximum number of children in flight.
  ///   - mode: The reaction to a child that ends without a result.
  @inlinable public init<Child: ComposableOperation>(
    _ children: [Child], width: OperationWidth = .adaptive,
    onFailure mode: FailureMode? = nil
  ) where Success == [Child.Success] {
    let plan = StackSafe(
      ListPlan(children: ContiguousArray(children), width: width))
    self.init(
      listing: { plan.value.children.map { $0 } }, onFailure: mode,
      performing: { context, mode in
        let children = plan.value.children
        let run = ListRun<Child.Success>(
          count: children.count, limit: plan.value.width.limit, goal: mode.goal)
        await run.run(children, in: context)
        return try run.heldResults { [children] in children[$0].operationName }
      })
  }

  /// Creates a composite that runs operations of several types with the same result type in
  /// parallel.
  ///
  /// - Parameters:
  ///   - children: The operations. An empty array has an empty result.
  ///   - width: The maximum number of children in flight.
  ///   - mode: The reaction to a child that ends without a result.
  // Disfavored, as the initializer for a tuple: for lists inside lists, the compiler would otherwise try
  // all combinations of initializers.
  @_disfavoredOverload
  @inlinable public init<Value>(
    _ children: [any ComposableOperation<Value>], width: OperationWidth = .adaptive,
    onFailure mode: FailureMode? = nil
  ) where Success == [Value] {
    let plan = StackSafe(
      ListPlan(children: ContiguousArray(children), width: width))
    self.init(
      listing: { plan.value.children.map { $0 } }, onFailure: mode,
      performing: { context, mode in
        let children = plan.value.children
        let run = ListRun<Value>(
          count: children.count, limit: plan.value.width.limit, goal: mode.goal)
        await run.run(children, in: context)
        return try run.heldResults { [children] in children[$0].operationName }
      })
  }

  /// Unavailable. Pass operations with different result types without brackets.
  @available(
    *, unavailable,
    message: """
      children with different result types are passed without brackets: \
      ParallelOperation(first, second)
      """
  )
  public init(
    _ children: [any ComposableOperation], width: OperationWidth = .adaptive,
    onFailure mode: FailureMode? = nil
  ) where Success == Never { preconditionFailure("unavailable") }

  /// Creates a composite without children, which does nothing.
  // Deprecated instead of unavailable: between an unavailable initializer and the one for an empty
  // tuple of operations, the compiler chooses the latter.
  @available(
    *, deprecated,
    message: """
      without children it does nothing; pass an array, ParallelOperation([first, second]), \
      operations of different types, ParallelOperation(first, second), \
      or a closure, ParallelOperation { … }
      """
  )
  @inlinable public init(width: OperationWidth = .adaptive, onFailure mode: FailureMode? = nil)
  where Success == Void {
    self.init(listing: { [] }, onFailure: mode, performing: { _, _ in HeldResult(()) })
  }
}
