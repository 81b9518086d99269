/// What a graph runs and who needs whom, without the types of the results.
struct GraphPlan: Sendable {
  struct Node: Sendable {
    let work: any GraphWork
    /// Where its result lies in the memory for all results, in bytes.
    let offset: Int
    /// Where its inputs begin among all inputs.
    let firstInput: Int
    /// Whether somebody asks how it ended, so that its failure is not the graph's.
    var isTolerated = false
  }

  struct Input: Sendable {
    let node: Int
    let asksForOutcome: Bool
  }

  private(set) var nodes: [Node] = []
  private var inputs: [Input] = []
  /// How much memory all results take, in bytes.
  private(set) var size = 0
  private(set) var alignment = 1
  /// Those that need a node stand side by side, by the node.
  private var firstNeeding: [Int32] = []
  private var needing: [Int32] = []

  var count: Int { nodes.count }

  /// - Returns: The index of the new node.
  mutating func add<Success>(
    _ work: any GraphWork, giving type: Success.Type, needing needed: [Input]
  ) -> Int {
    precondition(count < Int(Int32.max), "A graph has at most \(Int32.max) nodes.")
    let mask = MemoryLayout<Success>.alignment - 1
    let offset = (size + mask) & ~mask
    nodes.append(Node(work: work, offset: offset, firstInput: inputs.count))
    inputs += needed
    for input in needed where input.asksForOutcome { nodes[input.node].isTolerated = true }
    size = offset + MemoryLayout<Success>.size
    alignment = max(alignment, MemoryLayout<Success>.alignment)
    return count - 1
  }

  func inputs(of node: Int) -> ArraySlice<Input> {
    let end = node + 1 < count ? nodes[node + 1].firstInput : inputs.count
    return inputs[nodes[node].firstInput..<end]
  }

  /// Those that need a node, in the order in which they were added; one that needs it twice, twice.
  func needing(_ node: Int) -> ArraySlice<Int32> {
    needing[Int(firstNeeding[node])..<Int(firstNeeding[node + 1])]
  }

  /// Finds out who needs whom, when all nodes have been added.
  mutating func complete() {
    firstNeeding = [Int32](repeating: 0, count: count + 1)
    for input in inputs { firstNeeding[input.node + 1] += 1 }
    for node in 0..<count { firstNeeding[node + 1] += firstNeeding[node] }
    needing = [Int32](repeating: 0, count: inputs.count)
    var next = firstNeeding
    for node in 0..<count {
      for input in inputs(of: node) {
        needing[Int(next[input.node])] = Int32(node)
        next[input.node] += 1
      }
    }
  }
}

/// What one node does, whatever it gives.
protocol GraphWork: Sendable {
  var name: String { get }

  /// Makes the operation of what it needs, and performs it.
  nonisolated(nonsending) func perform(
    from board: GraphBoard, into slot: ResultSlot, in context: OperationContext
  ) async throws -> Disposal?

  /// The same as a run that somebody observes.
  nonisolated(nonsending) func observedEnding(
    from board: GraphBoard, into slot: ResultSlot, in context: OperationContext
  ) async -> Ending

  /// A copy of the result in a slot.
  func value(in slot: ResultSlot) -> any Sendable

  /// Takes the result out of a slot and drops it.
  func drop(_ slot: ResultSlot)
}

/// A node whose operation is made of what it needs.
struct MakingWork<Child: ComposableOperation>: GraphWork {
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

  func value(in slot: ResultSlot) -> any Sendable { slot.value(as: Child.Success.self) }

  func drop(_ slot: ResultSlot) { _ = slot.move(as: Child.Success.self) }
}

/// Stands for an operation whose making failed.
private struct NeverMade<Success: Sendable>: ComposableOperation {
  let operationName: String
  let error: any Error

  func perform(in context: OperationContext) async throws -> Success { throw error }
}
