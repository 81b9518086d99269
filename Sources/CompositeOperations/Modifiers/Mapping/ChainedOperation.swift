extension ComposableOperation {
  /// Runs a second operation, made from the result of this one.
  ///
  /// Errors and cancellations are passed on. The run ends in the result of the second operation.
  ///
  /// ```swift
  /// let issues = FetchRepositories(user: "octocat").then { repositories in
  ///   ParallelOperation(repositories.map { FetchIssues(repository: $0) })
  /// }
  /// ```
  ///
  /// The closure may choose among operations of different types by `if` and `switch`, without
  /// `return` (see ``OperationBuilder``).
  ///
  /// - Parameter next: Makes the second operation. An error that it throws ends the run.
  @inlinable public func then<Next: ComposableOperation>(
    @OperationBuilder _ next:
      nonisolated(nonsending) @escaping @Sendable (Success) async throws -> Next
  ) -> some ComposableOperation<Next.Success> {
    ChainedOperation(first: self, next: next)
  }
}

@usableFromInline
struct ChainedOperation<First: ComposableOperation, Next: ComposableOperation>: ComposableOperation
{
  @usableFromInline let first: First
  @usableFromInline let next: nonisolated(nonsending) @Sendable (First.Success) async throws -> Next

  @inlinable init(
    first: First,
    next: nonisolated(nonsending) @escaping @Sendable (First.Success) async throws -> Next
  ) {
    self.first = first
    self.next = next
  }

  @inlinable var operationName: String { modifiedName(within: ModifiedName.reach).text }

  @inlinable func modifiedName(within reach: Int) -> ModifiedName {
    first.nameForModifier(within: reach).modified(by: "then")
  }

  @inlinable nonisolated(nonsending) func perform(in context: OperationContext) async throws
    -> Next.Success
  {
    do { return try await performHeld(in: context).value } catch { throw error.withoutLateOutcome }
  }

  @inlinable nonisolated(nonsending) func performHeld(
    in context: OperationContext
  ) async throws -> HeldResult<Next.Success> {
    context.expectChildren(2)
    let second = try await next(try await context.complete(first).valueForClosure())
    return try await context.complete(second).held()
  }
}

extension ChainedOperation: OutlineBearing {
  var outline: OperationOutline { .start([first]) }
}
