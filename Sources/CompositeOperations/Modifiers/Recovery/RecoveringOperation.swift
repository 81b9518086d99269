extension ComposableOperation {
  /// Recovers from an error with a value that a closure makes.
  ///
  /// ```swift
  /// let issues = FetchIssues(repository: repository).recovering { error in
  ///   guard error is NetworkError else { throw error }
  ///   return []
  /// }
  /// ```
  ///
  /// Results and cancellations are passed on.
  ///
  /// - Parameter recover: Makes the result. An error that it throws ends the run.
  @inlinable public func recovering(
    _ recover: nonisolated(nonsending) @escaping @Sendable (any Error) async throws -> Success
  ) -> some ComposableOperation<Success> {
    RecoveringOperation(base: self) { error, _ in HeldResult(try await recover(error)) }
  }

  /// Runs another operation if this one fails.
  ///
  /// The run then ends as the other operation does. Results and cancellations are passed on.
  ///
  /// - Parameter other: The operation to run after an error.
  @inlinable public func fallingBack(
    to other: some ComposableOperation<Success>
  ) -> some ComposableOperation<Success> {
    RecoveringOperation(base: self) { error, context in
      // No caller receives the error.
      error.discardCarriedValues()
      return try await context.heldResult(of: other)
    }
  }

  /// Runs other operations, one after another, until one does not fail.
  ///
  /// ```swift
  /// let page = FetchPage(mirrorA).fallingBack(toEachOf: [FetchPage(mirrorB), ReadCache(mirrorA)])
  /// ```
  ///
  /// The first result or cancellation is the outcome of the run. If all operations fail, it ends in
  /// the last error. Without other operations, the run ends as this operation does.
  ///
  /// - Parameter others: The operations to run after an error, in order.
  @inlinable public func fallingBack(
    toEachOf others: [any ComposableOperation<Success>]
  ) -> some ComposableOperation<Success> {
    let others = StackSafe(others)
    return RecoveringOperation(base: self) { error, context in
      try await context.heldResult(ofFirstWithoutErrorOf: others.value, after: error)
    }
  }

  /// Unavailable. All operations have the result type of this one.
  // Without it, swiftc 6.3.1 produces no diagnostic for an operation with another result type.
  @_disfavoredOverload
  @available(
    *, unavailable, message: "all operations must have the result type of the first one"
  )
  public func fallingBack(toEachOf others: [any ComposableOperation]) -> Self {
    preconditionFailure("unavailable")
  }

  /// Runs another operation, made from the error, if this one fails.
  ///
  /// ```swift
  /// let page = FetchPage(mirrorA).catching { error in
  ///   if error is NetworkError { ReadCache(mirrorA) } else { FetchPage(mirrorB) }
  /// }
  /// ```
  ///
  /// The run then ends as the other operation does. Results and cancellations are passed on.
  ///
  /// - Parameter next: Makes the other operation. It may choose among several types by `if` and
  ///   `switch`, without `return` (see ``OperationBuilder``). An error that it throws ends the run.
  @inlinable public func catching<Next: ComposableOperation>(
    @TypedOperationBuilder<Success> _ next:
      nonisolated(nonsending) @escaping @Sendable (any Error) async throws -> Next
  ) -> some ComposableOperation<Success> where Next.Success == Success {
    RecoveringOperation(base: self) { error, context in
      try await context.heldResult(of: try await next(error))
    }
  }

  /// Replaces any error with a value.
  ///
  /// Results and cancellations are passed on.
  ///
  /// - Parameter value: The result after an error.
  @inlinable public func ignoringErrors(with value: Success) -> some ComposableOperation<Success> {
    RecoveringOperation(base: self) { error, _ in
      error.discardCarriedValues()
      return HeldResult(value)
    }
  }

  /// Transforms the error of the operation.
  ///
  /// Results and cancellations are passed on. If the new error means a cancellation, the run ends
  /// as cancelled.
  ///
  /// - Parameter transform: Makes the new error.
  @inlinable public func mapError(
    _ transform: @escaping @Sendable (any Error) -> any Error
  ) -> some ComposableOperation<Success> {
    recovering { error in throw transform(error) }
  }
}

@usableFromInline
struct RecoveringOperation<Base: ComposableOperation>: SeparateRun {
  @usableFromInline typealias Recovery =
    nonisolated(nonsending) @Sendable (
      any Error, OperationContext
    ) async throws -> HeldResult<Base.Success>

  @usableFromInline let base: Base
  @usableFromInline let recover: Recovery

  @inlinable init(base: Base, recover: @escaping Recovery) {
    self.base = base
    self.recover = recover
  }

  @inlinable nonisolated(nonsending) func performHeld(
    in context: OperationContext
  ) async throws -> HeldResult<Base.Success> {
    let completion = await context.complete(base)
    if let error = completion.error { return try await recover(error, context) }
    return try completion.held()
  }
}

extension OperationContext {
  /// Runs a child whose end is the end of the body.
  @inlinable nonisolated(nonsending) func heldResult<Child: ComposableOperation>(
    of child: Child
  ) async throws -> HeldResult<Child.Success> {
    try await complete(child).held()
  }

  /// Runs children one after another, until one does not fail. Its end is the end of the body.
  @usableFromInline nonisolated(nonsending) func heldResult<Success: Sendable>(
    ofFirstWithoutErrorOf children: [any ComposableOperation<Success>], after error: any Error
  ) async throws -> HeldResult<Success> {
    var error = error
    var yields = YieldSchedule()
    for child in children {
      // No caller receives the error.
      error.discardCarriedValues()
      await yields.stepEnded()
      let completion = await complete(child)
      guard let childError = completion.error else { return try completion.held() }
      error = childError
    }
    throw error
  }
}
