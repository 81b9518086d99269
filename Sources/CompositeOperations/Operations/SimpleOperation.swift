/// An operation that runs a closure.
///
/// ```swift
/// let fetch = SimpleOperation { try await api.issues() }
/// let outcome = await fetch.run()
/// ```
///
/// ``withContext(_:)`` creates an operation from a closure that takes an ``OperationContext``, and
/// ``withCallback(_:)`` creates one from an API with a completion handler.
public struct SimpleOperation<Success: Sendable>: ComposableOperation {
  // The closure has no generic result, so calling it needs no thunk. The initializers that create
  // it are inlinable, so it calls the user's closure directly.
  @usableFromInline let body:
    nonisolated(nonsending) @Sendable (ResultSlot, OperationContext) async throws -> Void

  // There is a single initializer, because an expression whose closures match several of them takes
  // exponential time to compile, and the compiler reports its errors at the wrong closure.

  /// Creates an operation that runs a closure.
  ///
  /// - Parameter body: The body of the operation.
  @inlinable public init(
    _ body: nonisolated(nonsending) @escaping @Sendable () async throws -> Success
  ) {
    self.body = { slot, _ in slot.initialize(to: try await body()) }
  }

  @inlinable init(
    filling body:
      nonisolated(nonsending) @escaping @Sendable (ResultSlot, OperationContext) async throws ->
      Void
  ) {
    self.body = body
  }

  /// Returns an operation that runs a closure with the context of the run.
  ///
  /// ```swift
  /// let profile = SimpleOperation.withContext { context in
  ///   let user = try await context.run(FetchUser())
  ///   return try await context.run(FetchProfile(user))
  /// }
  /// ```
  ///
  /// - Parameter body: The body of the operation. Its context runs other operations as children and
  ///   reports progress.
  @inlinable public static func withContext(
    _ body: nonisolated(nonsending) @escaping @Sendable (OperationContext) async throws -> Success
  ) -> SimpleOperation {
    SimpleOperation(filling: { slot, context in slot.initialize(to: try await body(context)) })
  }

  public nonisolated(nonsending) func perform(
    in context: OperationContext
  ) async throws -> Success {
    let memory = UnsafeMutablePointer<Success>.allocate(capacity: 1)
    defer { unsafe memory.deallocate() }
    try await body(unsafe ResultSlot(at: memory), context)
    return unsafe memory.move()
  }

  @_documentation(visibility: internal)
  public nonisolated(nonsending) func perform(
    into slot: ResultSlot, in context: OperationContext
  ) async throws -> Cleanup? {
    try await body(slot, context)
    return nil
  }

  // A separate implementation, because the default one needs an additional frame.
  @_documentation(visibility: internal)
  public nonisolated(nonsending) static func performListed(
    in context: OperationContext, next: (Cleanup?) -> ListedOperation?
  ) async throws {
    while let listed = next(nil) {
      try await unsafe listed.pointer(to: Self.self).pointee.body(listed.slot, context)
    }
  }
}
