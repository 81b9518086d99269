/// An operation made from a closure.
///
/// ```swift
/// let fetch = SimpleOperation { try await api.issues() }
/// let outcome = await fetch.run()
/// ```
///
/// A closure that takes an ``OperationContext`` can run other operations below itself. An API with
/// a completion handler becomes an operation with ``init(callback:)``.
public struct SimpleOperation<Success: Sendable>: ComposableOperation {
  // The closure has no generic result, so that calling it costs no thunk; the initialisers that
  // make it are inlinable, so that the author's closure is called directly inside it.
  @usableFromInline let body:
    nonisolated(nonsending) @Sendable (ResultSlot, OperationContext) async throws -> Void

  /// An operation that does what a closure does.
  @inlinable public init(
    _ body: nonisolated(nonsending) @escaping @Sendable () async throws -> Success
  ) {
    self.body = { slot, _ in slot.initialize(to: try await body()) }
  }

  /// An operation that does what a closure does, which can run other operations below itself.
  @inlinable public init(
    _ body: nonisolated(nonsending) @escaping @Sendable (OperationContext) async throws -> Success
  ) {
    self.body = { slot, context in slot.initialize(to: try await body(context)) }
  }

  public nonisolated(nonsending) func perform(
    in context: OperationContext
  ) async throws -> Success {
    let memory = UnsafeMutablePointer<Success>.allocate(capacity: 1)
    defer { unsafe memory.deallocate() }
    try await body(unsafe ResultSlot(at: memory), context)
    return unsafe memory.move()
  }

  public nonisolated(nonsending) func perform(
    into slot: ResultSlot, in context: OperationContext
  ) async throws -> Disposal? {
    try await body(slot, context)
    return nil
  }

  // By itself, because the way of all operations takes a frame more.
  public nonisolated(nonsending) static func performListed(
    in context: OperationContext, next: (Disposal?) -> ListedOperation?
  ) async throws {
    while let listed = next(nil) {
      try await unsafe listed.pointer(to: Self.self).pointee.body(listed.slot, context)
    }
  }
}
