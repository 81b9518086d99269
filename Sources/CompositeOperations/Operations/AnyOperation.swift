/// A type-erased operation, known only by the type of its result.
///
/// ```swift
/// let source: AnyOperation<[Issue]> =
///   isOffline ? AnyOperation(CachedIssues()) : AnyOperation(fetch)
/// ```
public struct AnyOperation<Success: Sendable>: ComposableOperation {
  @usableFromInline let storage: Storage

  @usableFromInline final class Storage: Sendable {
    @usableFromInline let base: any ComposableOperation<Success>
    @usableFromInline let release = NestedRelease()

    @inlinable init(_ base: any ComposableOperation<Success>) { self.base = base }

    deinit { NestedRelease.begin(base) }
  }

  /// Creates an operation that erases the type of another one.
  ///
  /// - Parameter base: The operation to perform.
  // Inlinable: unspecialized code looks up the metadata of `Storage` on every call, which takes
  // longer than the allocation.
  @inlinable public init(_ base: some ComposableOperation<Success>) { storage = Storage(base) }

  /// Creates an operation from one whose type is erased already.
  ///
  /// - Parameter base: The operation to perform.
  // Disfavored: with this initializer alone, swiftc 6.3.1 crashes on an error beside
  // `AnyOperation(SimpleOperation { … })` in a list. Without it, an existential is not always opened.
  @_disfavoredOverload
  @inlinable public init(_ base: any ComposableOperation<Success>) { storage = Storage(base) }

  public var operationName: String { modifiedName(within: ModifiedName.reach).text }

  @_documentation(visibility: internal)
  public func modifiedName(within reach: Int) -> ModifiedName {
    storage.base.nameForModifier(within: reach)
  }

  public nonisolated(nonsending) func perform(
    in context: OperationContext
  ) async throws -> Success {
    try await storage.base.perform(in: context)
  }

  @_documentation(visibility: internal)
  public nonisolated(nonsending) func performHeld(
    in context: OperationContext
  ) async throws -> HeldResult<Success> {
    try await storage.base.performHeld(in: context)
  }

  @_documentation(visibility: internal)
  public nonisolated(nonsending) func perform(
    into slot: ResultSlot, in context: OperationContext
  ) async throws -> Cleanup? {
    try await storage.base.perform(into: slot, in: context)
  }

  @_documentation(visibility: internal)
  public var modifiedOperation: (any ComposableOperation)? { storage.base }
}
