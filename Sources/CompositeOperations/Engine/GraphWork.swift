/// What is known of a node besides its body, whatever it gives.
@usableFromInline protocol GraphWork<Success>: Sendable {
  associatedtype Success: Sendable

  var name: String { get }
  /// What the operation is called instead of its own name.
  var ownName: String? { get }
}

extension GraphWork {
  /// A copy of the result in a slot.
  func value(in slot: ResultSlot) -> any Sendable { slot.value(as: Success.self) }

  /// Takes the result out of a slot and drops it.
  func drop(_ slot: ResultSlot) { _ = slot.move(as: Success.self) }

  /// Tells those who observe of a run that ended before its operation could be made.
  nonisolated(nonsending) func endingUnmade(
    with error: any Error, into slot: ResultSlot, in context: OperationContext
  ) async -> Ending {
    let operation = NeverMade<Success>(operationName: name, error: error)
    return await operation.observedEnding(into: slot, in: context)
  }
}

/// A node whose operation is there from the start.
@usableFromInline struct GivenWork<Child: ComposableOperation>: GraphWork {
  @usableFromInline typealias Success = Child.Success

  @usableFromInline let operation: Child

  @inlinable init(_ operation: Child) { self.operation = operation }

  @usableFromInline var name: String { operation.operationName }
  @usableFromInline var ownName: String? { nil }
}

/// A node whose operation is made of what it needs.
@usableFromInline struct MadeWork<Child: ComposableOperation>: GraphWork {
  @usableFromInline typealias Success = Child.Success

  @usableFromInline let ownName: String?

  @inlinable init(named ownName: String?) { self.ownName = ownName }

  @usableFromInline var name: String { ownName ?? "\(Child.self)" }
}

/// Stands for an operation whose making failed.
private struct NeverMade<Success: Sendable>: ComposableOperation {
  let operationName: String
  let error: any Error

  func perform(in context: OperationContext) async throws -> Success { throw error }
}

extension ComposableOperation {
  /// Performs as a node of a graph.
  @inlinable nonisolated(nonsending) func perform(
    as node: Int, of board: GraphBoard, in context: OperationContext
  ) async throws -> Disposal? {
    if board.isObserved {
      await performObserved(as: node, of: board, in: context)
      return nil
    }
    do {
      return try await perform(into: board.slot(of: node), in: context)
    } catch {
      if !Task.isCancelled { board.failed(node, as: operationName) }
      throw error
    }
  }

  @usableFromInline nonisolated(nonsending) func performObserved(
    as node: Int, of board: GraphBoard, in context: OperationContext
  ) async {
    let slot = board.slot(of: node)
    let ending =
      if let name = board.plan.nodes[node].work.ownName {
        await named(name).observedEnding(into: slot, in: context)
      } else {
        await observedEnding(into: slot, in: context)
      }
    if ending.error != nil { board.failed(node, as: operationName) }
    board.ended(node, in: ending)
  }
}
