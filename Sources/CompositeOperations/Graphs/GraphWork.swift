/// The names and the type of result of a node.
@usableFromInline protocol GraphWork<Success>: Sendable {
  associatedtype Success: Sendable

  var name: String { get }
  /// The name that replaces the operation's own; nil if there is none.
  var ownName: String? { get }
}

extension GraphWork {
  /// Returns a copy of the result in a slot.
  func value(in slot: ResultSlot) -> any Sendable { slot.value(as: Success.self) }

  /// Moves the result out of a slot and releases it.
  func drop(_ slot: ResultSlot) { _ = slot.move(as: Success.self) }

  /// Reports the run of a node whose operation could not be created to the observers.
  nonisolated(nonsending) func completeUnmade(
    with error: any Error, into slot: ResultSlot, in context: OperationContext
  ) async -> Completion<Void> {
    let operation = NeverMade<Success>(operationName: name, error: error)
    return await operation.completeAsChild(into: slot, in: context)
  }
}

/// A node whose operation exists from the start.
@usableFromInline struct GivenWork<Child: ComposableOperation>: GraphWork {
  @usableFromInline typealias Success = Child.Success

  @usableFromInline let operation: Child

  @inlinable init(_ operation: Child) { self.operation = operation }

  @usableFromInline var name: String { operation.operationName }
  @usableFromInline var ownName: String? { nil }
}

/// A node whose operation is created from the results that it needs.
@usableFromInline struct MadeWork<Child: ComposableOperation>: GraphWork {
  @usableFromInline typealias Success = Child.Success

  @usableFromInline let ownName: String?

  @inlinable init(named ownName: String?) { self.ownName = ownName }

  @usableFromInline var name: String { ownName ?? "\(Child.self)" }
}

/// A placeholder for an operation that could not be created.
private struct NeverMade<Success: Sendable>: ComposableOperation {
  let operationName: String
  let error: any Error

  func perform(in context: OperationContext) async throws -> Success { throw error }
}

extension ComposableOperation {
  /// Performs the operation as a node of a graph.
  @inlinable nonisolated(nonsending) func perform(
    as node: Int, of runState: GraphRunState, in context: OperationContext
  ) async throws -> Cleanup? {
    if runState.isObserved {
      await performObserved(as: node, of: runState, in: context)
      return nil
    }
    do {
      return try await perform(into: runState.slot(of: node), in: context)
    } catch {
      if !Task.isCancelled { runState.failed(node, as: operationName) }
      throw error
    }
  }

  @usableFromInline nonisolated(nonsending) func performObserved(
    as node: Int, of runState: GraphRunState, in context: OperationContext
  ) async {
    let slot = runState.slot(of: node)
    let completion =
      if let name = runState.plan.nodes[node].work.ownName {
        await named(name).completeAsChild(into: slot, in: context)
      } else {
        await completeAsChild(into: slot, in: context)
      }
    if completion.error != nil { runState.failed(node, as: operationName) }
    runState.ended(node, in: completion)
  }
}
