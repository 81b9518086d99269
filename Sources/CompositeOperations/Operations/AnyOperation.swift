/// An operation whose own type does not show, only what it gives.
///
/// ```swift
/// let source: AnyOperation<[Issue]> =
///   isOffline ? AnyOperation(CachedIssues()) : AnyOperation(fetch)
/// ```
public struct AnyOperation<Success: Sendable>: ComposableOperation {
  private let base: any ComposableOperation<Success>

  /// - Parameter base: The operation whose type is to be forgotten.
  public init(_ base: any ComposableOperation<Success>) { self.base = base }

  public var operationName: String { modifiedName(within: ModifiedName.reach).text }

  public func modifiedName(within reach: Int) -> ModifiedName {
    base.nameForModifier(within: reach)
  }

  public nonisolated(nonsending) func perform(
    in context: OperationContext
  ) async throws -> Success {
    try await base.perform(in: context)
  }

  public nonisolated(nonsending) func performHeld(
    in context: OperationContext
  ) async throws -> HeldResult<Success> {
    try await base.performHeld(in: context)
  }

  public nonisolated(nonsending) func perform(
    into slot: ResultSlot, in context: OperationContext
  ) async throws -> Disposal? {
    try await base.perform(into: slot, in: context)
  }

  public var modifiedOperation: (any ComposableOperation)? { base }
}
