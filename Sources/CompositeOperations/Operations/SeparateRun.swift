/// A modifier that runs the operation which it modifies as a child, not as the run that it is itself.
///
/// Observers of the modified operation see that child alone.
@usableFromInline protocol SeparateRun<Success>: ComposableOperation
where Success == Base.Success {
  associatedtype Base: ComposableOperation
  var base: Base { get }

  /// Whether it runs what it modifies again after it has ended in a result.
  var isRepeating: Bool { get }

  /// Whether it runs the operation as a child, and not as a run without a parent.
  var runsChild: Bool { get }
}

extension SeparateRun {
  @inlinable public var isRepeating: Bool { false }
  @inlinable public var runsChild: Bool { true }
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
}
