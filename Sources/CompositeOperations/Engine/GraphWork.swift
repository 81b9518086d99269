/// What one node of a graph does, whatever it gives.
protocol GraphWork<Success>: Sendable {
  associatedtype Success: Sendable

  var name: String { get }

  /// Makes the operation of what it needs, and performs it.
  nonisolated(nonsending) func perform(
    from board: GraphBoard, into slot: ResultSlot, in context: OperationContext
  ) async throws -> Disposal?

  /// The same as a run that somebody observes.
  nonisolated(nonsending) func observedEnding(
    from board: GraphBoard, into slot: ResultSlot, in context: OperationContext
  ) async -> Ending
}

extension GraphWork {
  /// A copy of the result in a slot.
  func value(in slot: ResultSlot) -> any Sendable { slot.value(as: Success.self) }

  /// Takes the result out of a slot and drops it.
  func drop(_ slot: ResultSlot) { _ = slot.move(as: Success.self) }
}

/// A node whose operation is there from the start.
struct GivenWork<Child: ComposableOperation>: GraphWork {
  typealias Success = Child.Success

  let operation: Child

  var name: String { operation.operationName }

  nonisolated(nonsending) func perform(
    from board: GraphBoard, into slot: ResultSlot, in context: OperationContext
  ) async throws -> Disposal? {
    try await operation.perform(into: slot, in: context)
  }

  nonisolated(nonsending) func observedEnding(
    from board: GraphBoard, into slot: ResultSlot, in context: OperationContext
  ) async -> Ending {
    await operation.observedEnding(into: slot, in: context)
  }
}

/// A node whose operation is made of what it needs.
struct MakingWork<Child: ComposableOperation>: GraphWork {
  typealias Success = Child.Success

  let ownName: String?
  let make: @Sendable (GraphBoard) throws -> Child

  var name: String { ownName ?? "\(Child.self)" }

  nonisolated(nonsending) func perform(
    from board: GraphBoard, into slot: ResultSlot, in context: OperationContext
  ) async throws -> Disposal? {
    try await make(board).perform(into: slot, in: context)
  }

  nonisolated(nonsending) func observedEnding(
    from board: GraphBoard, into slot: ResultSlot, in context: OperationContext
  ) async -> Ending {
    do {
      let child = try make(board)
      guard let ownName else { return await child.observedEnding(into: slot, in: context) }
      return await child.named(ownName).observedEnding(into: slot, in: context)
    } catch {
      let child = NeverMade<Child.Success>(operationName: name, error: error)
      return await child.observedEnding(into: slot, in: context)
    }
  }
}

/// Stands for an operation whose making failed.
private struct NeverMade<Success: Sendable>: ComposableOperation {
  let operationName: String
  let error: any Error

  func perform(in context: OperationContext) async throws -> Success { throw error }
}
