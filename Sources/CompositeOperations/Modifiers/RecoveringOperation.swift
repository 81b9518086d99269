extension ComposableOperation {
  /// The same operation, with a value that a closure makes of an error.
  ///
  /// ```swift
  /// let issues = FetchIssues(repository: repository).recovering { error in
  ///   guard error is NetworkError else { throw error }
  ///   return []
  /// }
  /// ```
  ///
  /// Results and cancellations are handed on.
  ///
  /// - Parameter recover: Makes the result. An error that it throws is the run's.
  @inlinable public func recovering(
    _ recover: nonisolated(nonsending) @escaping @Sendable (any Error) async throws -> Success
  ) -> some ComposableOperation<Success> {
    RecoveringOperation(base: self) { error, _ in HeldResult(try await recover(error)) }
  }

  /// The same operation, and after an error another one, whose end is then the run's.
  ///
  /// Results and cancellations are handed on.
  @inlinable public func fallingBack(
    to other: some ComposableOperation<Success>
  ) -> some ComposableOperation<Success> {
    RecoveringOperation(base: self) { error, context in
      // Nobody sees it.
      error.discardCarriedValues()
      return try await context.heldResult(of: other)
    }
  }

  /// Returns an operation that, after an error, runs another operation that a closure makes from
  /// the error.
  ///
  /// ```swift
  /// let page = FetchPage(mirrorA).catching { error in
  ///   if error is NetworkError { ReadCache(mirrorA) } else { FetchPage(mirrorB) }
  /// }
  /// ```
  ///
  /// Results and cancellations are passed on. After an error, the run ends as the other operation
  /// does.
  ///
  /// - Parameter next: Makes the other operation, of one type or, by `if` and `switch` without
  ///   `return`, of several: ``OperationBuilder``. An error that it throws is the run's.
  @inlinable public func catching<Next: ComposableOperation>(
    @TypedOperationBuilder<Success> _ next:
      nonisolated(nonsending) @escaping @Sendable (any Error) async throws -> Next
  ) -> some ComposableOperation<Success> where Next.Success == Success {
    RecoveringOperation(base: self) { error, context in
      try await context.heldResult(of: try await next(error))
    }
  }

  /// The same operation, with a value in place of any error.
  ///
  /// Cancellations are handed on.
  @inlinable public func ignoringErrors(with value: Success) -> some ComposableOperation<Success> {
    RecoveringOperation(base: self) { error, _ in
      error.discardCarriedValues()
      return HeldResult(value)
    }
  }

  /// The same operation, with the error that a closure makes of its error.
  ///
  /// Results and cancellations are handed on. An error that means a cancellation makes the run end
  /// as cancelled.
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
    let end = await context.end(of: base)
    switch end.outcome {
    case .result(let value): return HeldResult(value, disposal: end.disposal)
    case .error(let error): return try await recover(error, context)
    case .cancelled: throw end.reason ?? CancellationError()
    }
  }
}

extension OperationContext {
  /// Runs a child whose end is that of the body.
  @inlinable nonisolated(nonsending) func heldResult<Child: ComposableOperation>(
    of child: Child
  ) async throws -> HeldResult<Child.Success> {
    let end = await end(of: child)
    return HeldResult(try end.get(), disposal: end.disposal)
  }
}
