/// The nodes of a graph and their dependencies, without the types of the results.
@usableFromInline final class GraphPlan: Sendable {
  /// Runs a node. The node ends with what this returns or throws.
  ///
  /// In an observed run the body records on the runState how the node ended, and throws only if the
  /// operation cannot be created.
  @usableFromInline typealias Body =
    nonisolated(nonsending) @Sendable (
      _ runState: GraphRunState, _ node: Int, _ context: OperationContext
    ) async throws -> Cleanup?

  @usableFromInline struct Node: Sendable {
    let body: Body
    let work: any GraphWork
    /// The offset of its slot in the memory for all results, in bytes.
    let offset: Int
    /// The index of its first input among the inputs of all nodes.
    let firstInput: Int
    /// Whether its result needs no deinitialization.
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

  /// A dependency of a node on another node.
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
  /// For each node, whether its failure does not fail the graph: its outcome is requested, or the
  /// outcome of a node that cannot begin without it.
  private let isTolerated: [Bool]
  /// The size of the memory for all results, in bytes.
  let size: Int
  let alignment: Int
  /// For each node, the index of its first dependent in ``needing``, which is grouped by node.
  private let firstNeeding: [Int32]
  private let needing: [Int32]

  /// Whether no two nodes can ever be in flight at the same time.
  let isChain: Bool
  /// The nodes whose results or outcomes the graph returns.
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
    // Dependents come after the node that they need.
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

  /// Calls a closure with each dependent of a node, in the order in which they were added. A
  /// dependent that needs the node twice is passed twice.
  @inline(__always) func forEachNeeding(_ node: Int, _ body: (Int) -> Void) {
    // Not a slice, which would retain the array.
    for place in firstNeeding[node]..<firstNeeding[node + 1] { body(Int(needing[Int(place)])) }
  }
}
