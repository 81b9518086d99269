extension ComposableOperation {
  /// Transforms the result of the operation.
  ///
  /// Errors and cancellations are passed on.
  ///
  /// ```swift
  /// let titles = FetchIssues(repository: repository).map { issues in issues.map(\.title) }
  /// ```
  ///
  /// - Parameter transform: Makes the new result. An error that it throws ends the run.
  @inlinable public func map<Value: Sendable>(
    _ transform: nonisolated(nonsending) @escaping @Sendable (Success) async throws -> Value
  ) -> some ComposableOperation<Value> {
    MappedOperation(base: self, transform: transform)
  }
}

@usableFromInline
struct MappedOperation<Base: ComposableOperation, Success: Sendable>: ComposableOperation {
  @usableFromInline let base: Base
  @usableFromInline let transform:
    nonisolated(nonsending) @Sendable (Base.Success) async throws -> Success

  @inlinable init(
    base: Base,
    transform: nonisolated(nonsending) @escaping @Sendable (Base.Success) async throws -> Success
  ) {
    self.base = base
    self.transform = transform
  }

  @inlinable var operationName: String { modifiedName(within: ModifiedName.reach).text }

  @inlinable func modifiedName(within reach: Int) -> ModifiedName {
    base.nameForModifier(within: reach).modified(by: "map")
  }

  @inlinable nonisolated(nonsending) func perform(in context: OperationContext) async throws
    -> Success
  {
    do { return try await performHeld(in: context).value } catch { throw error.withoutLateOutcome }
  }

  @inlinable nonisolated(nonsending) func performHeld(
    in context: OperationContext
  ) async throws -> HeldResult<Success> {
    context.expectChildren(1)
    return HeldResult(try await transform(try await context.complete(base).valueForClosure()))
  }
}

extension MappedOperation: OutlineBearing {
  var outline: OperationOutline { .sequence([base]) }
}
