/// A modifier that has the result type of its operation and shares its run.
@usableFromInline protocol TransparentOperation<Success>: ComposableOperation
where Success == Base.Success {
  associatedtype Base: ComposableOperation
  var base: Base { get }
}

extension TransparentOperation {
  @inlinable public var operationName: String { modifiedName(within: ModifiedName.reach).text }
  @inlinable public var modifiedOperation: (any ComposableOperation)? { base }

  @inlinable public func modifiedName(within reach: Int) -> ModifiedName {
    base.nameForModifier(within: reach)
  }

  @inlinable public nonisolated(nonsending) func perform(
    in context: OperationContext
  ) async throws -> Success {
    do { return try await performHeld(in: context).value } catch { throw error.withoutLateOutcome }
  }

  @inlinable public nonisolated(nonsending) func performHeld(
    in context: OperationContext
  ) async throws -> HeldResult<Success> {
    try await base.performHeld(in: context)
  }
}
