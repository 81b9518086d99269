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
  mutating func add<Work: GraphWork>(_ work: Work, needing needed: [Input]) -> Int {
    precondition(count < Int(Int32.max), "A graph has at most \(Int32.max) nodes.")
    let mask = MemoryLayout<Work.Success>.alignment - 1
    let offset = (size + mask) & ~mask
    nodes.append(Node(work: work, offset: offset, firstInput: inputs.count))
    inputs += needed
    for input in needed where input.asksForOutcome { nodes[input.node].isTolerated = true }
    size = offset + MemoryLayout<Work.Success>.size
    alignment = max(alignment, MemoryLayout<Work.Success>.alignment)
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
