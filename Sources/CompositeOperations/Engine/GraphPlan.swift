/// What a graph runs and who needs whom, without the types of the results.
@usableFromInline final class GraphPlan: Sendable {
  /// What a node does. How it ends is what this returns and throws, or, where somebody observes the run,
  /// noted on the board; what it throws there is an error of what makes the operation.
  @usableFromInline typealias Body =
    nonisolated(nonsending) @Sendable (
      _ board: GraphBoard, _ node: Int, _ context: OperationContext
    ) async throws -> Disposal?

  @usableFromInline struct Node: Sendable {
    let body: Body
    let work: any GraphWork
    /// Where its result lies in the memory for all results, in bytes.
    let offset: Int
    /// Where its inputs begin among all inputs.
    let firstInput: Int
    /// Whether its result can be forgotten without being dropped.
    let isTrivial: Bool

    @usableFromInline init(
      body: @escaping Body, work: any GraphWork, isTrivial: Bool, offset: Int, firstInput: Int
    ) {
      self.body = body
      self.work = work
      self.isTrivial = isTrivial
      self.offset = offset
      self.firstInput = firstInput
    }
  }

  /// A need of a node.
  @usableFromInline struct Input: Hashable, Sendable {
    private let index: Int32
    let asksForOutcome: Bool

    var node: Int { Int(index) }

    @usableFromInline init(node: Int, asksForOutcome: Bool) {
      index = Int32(node)
      self.asksForOutcome = asksForOutcome
    }
  }

  let nodes: [Node]
  private let inputs: [Input]
  /// Of each node whether somebody asks how it ended, or how one ended that cannot begin without it, so
  /// that its failure is not the graph's.
  private let isTolerated: [Bool]
  /// How much memory all results take, in bytes.
  let size: Int
  let alignment: Int
  /// Those that need a node stand side by side, by the node.
  private let firstNeeding: [Int32]
  private let needing: [Int32]

  /// Whether no two nodes can ever be in flight at the same time.
  let isChain: Bool
  /// The nodes whose results, or outcomes, are the graph's.
  let outputs: [Input]

  init(_ nodes: [Node], inputs: [Input], size: Int, alignment: Int, outputs: [Input]) {
    let count = nodes.count
    precondition(
      max(count, inputs.count) < Int(Int32.max),
      "a graph must have fewer than \(Int32.max) nodes and inputs (was \(count), \(inputs.count))")
    self.nodes = nodes
    self.inputs = inputs
    self.size = size
    self.alignment = alignment
    var isTolerated = [Bool](repeating: false, count: count)
    var firstNeeding = [Int32](repeating: 0, count: count + 1)
    for input in inputs {
      firstNeeding[input.node + 1] += 1
      if input.asksForOutcome { isTolerated[input.node] = true }
    }
    for output in outputs where output.asksForOutcome { isTolerated[output.node] = true }
    // Those that need a node come after it.
    var end = inputs.count
    for node in nodes.indices.reversed() {
      let first = nodes[node].firstInput
      if isTolerated[node] {
        for input in inputs[first..<end] where !input.asksForOutcome {
          isTolerated[input.node] = true
        }
      }
      end = first
    }
    let roots = nodes.indices.count { node in
      nodes[node].firstInput == (node + 1 < count ? nodes[node + 1].firstInput : inputs.count)
    }
    isChain = roots <= 1 && firstNeeding.allSatisfy { $0 <= 1 }
    self.outputs = outputs
    for node in 0..<count { firstNeeding[node + 1] += firstNeeding[node] }
    var needing = [Int32](repeating: 0, count: inputs.count)
    var next = firstNeeding
    for node in 0..<count {
      let end = node + 1 < count ? nodes[node + 1].firstInput : inputs.count
      for input in inputs[nodes[node].firstInput..<end] {
        needing[Int(next[input.node])] = Int32(node)
        next[input.node] += 1
      }
    }
    self.isTolerated = isTolerated
    self.firstNeeding = firstNeeding
    self.needing = needing
  }

  var count: Int { nodes.count }

  func isTolerated(_ node: Int) -> Bool { isTolerated[node] }

  func inputs(of node: Int) -> ArraySlice<Input> {
    let end = node + 1 < count ? nodes[node + 1].firstInput : inputs.count
    return inputs[nodes[node].firstInput..<end]
  }

  /// Calls the body with those that need a node, in the order in which they were added; with one that
  /// needs it twice, twice.
  @inline(__always) func forEachNeeding(_ node: Int, _ body: (Int) -> Void) {
    // Not a slice, which would be counted.
    for place in firstNeeding[node]..<firstNeeding[node + 1] { body(Int(needing[Int(place)])) }
  }
}
