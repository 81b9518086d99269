/// A modifier whose operation has a run of its own, apart from the run of the modifier.
///
/// Observers of the modified operation see only that run.
@usableFromInline protocol SeparateRun<Success>: ComposableOperation
where Success == Base.Success {
  associatedtype Base: ComposableOperation
  var base: Base { get }

  /// Whether the modifier runs the operation again after a result.
  var isRepeating: Bool { get }

  /// Whether the operation runs as a child, not as a run without a parent.
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
