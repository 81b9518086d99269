/// Returns an operation that acquires a resource, runs another operation with it, and releases it.
///
/// ```swift
/// let text = using(OpenFile(path), release: { file in file.close() }) { file in
///   ReadText(from: file)
/// }
/// ```
///
/// A resource that was acquired is released exactly once, and before the run ends, however it ends:
/// also if the operation fails, is cancelled or never begins, such as because of a condition that is
/// not met, refused permits or a closed pool; if the closure throws; and if the run is cancelled as
/// soon as the resource has been acquired. A cancellation does not reach the release.
///
/// The run ends as the operation does; if there is no resource, as `acquire` does.
///
/// - Parameters:
///   - acquire: Acquires the resource, such as by opening a file. Each run needs a resource of its
///     own, so do not share this operation. A resource that one of its own modifiers drops, such as
///     a race or a timeout, is cleaned up by ``ComposableOperation/discarding(_:)`` below that
///     modifier.
///   - release: Releases the resource. It has the task-local values, the priority and the executor
///     of the run.
///   - operation: Makes the operation that uses the resource. It may choose among operations of
///     different types by `if` and `switch`, without `return` (see ``OperationBuilder``). An error
///     that it throws ends the run. A body that an abandoning timeout leaves behind may still use the
///     resource when it is released.
@inlinable public func using<Acquire: ComposableOperation, Body: ComposableOperation>(
  _ acquire: Acquire, release: @escaping @Sendable (Acquire.Success) async -> Void,
  @OperationBuilder _ operation:
    nonisolated(nonsending) @escaping @Sendable (Acquire.Success) async throws -> Body
) -> some ComposableOperation<Body.Success> {
  UsingOperation(acquire: acquire, release: release, makeBody: operation)
}

@usableFromInline
struct UsingOperation<Acquire: ComposableOperation, Body: ComposableOperation>: ComposableOperation
{
  @usableFromInline let acquire: Acquire
  @usableFromInline let release: @Sendable (Acquire.Success) async -> Void
  @usableFromInline let makeBody:
    nonisolated(nonsending) @Sendable (Acquire.Success) async throws -> Body

  @inlinable init(
    acquire: Acquire, release: @escaping @Sendable (Acquire.Success) async -> Void,
    makeBody: nonisolated(nonsending) @escaping @Sendable (Acquire.Success) async throws -> Body
  ) {
    self.acquire = acquire
    self.release = release
    self.makeBody = makeBody
  }

  @inlinable var operationName: String { modifiedName(within: ModifiedName.reach).text }

  @inlinable func modifiedName(within reach: Int) -> ModifiedName {
    acquire.nameForModifier(within: reach).modified(by: "using")
  }

  @inlinable nonisolated(nonsending) func perform(in context: OperationContext) async throws
    -> Body.Success
  {
    do { return try await performHeld(in: context).value } catch { throw error.withoutLateOutcome }
  }

  @inlinable nonisolated(nonsending) func performHeld(
    in context: OperationContext
  ) async throws -> HeldResult<Body.Success> {
    context.expectChildren(2)
    let acquired = await context.complete(acquire)
    guard let resource = acquired.anyValue else { throw acquired.errorToPassOn.withoutLateValue }
    let completion: Completion<Body.Success>
    do {
      if acquired.isCancelled { throw CancellationError() }
      completion = await context.complete(try await makeBody(resource))
    } catch {
      await context.runShielded { [release] in await release(resource) }
      throw error
    }
    await context.runShielded { [release] in await release(resource) }
    return try completion.held()
  }
}

extension UsingOperation: OutlineBearing {
  var outline: OperationOutline { .start([acquire]) }
}
