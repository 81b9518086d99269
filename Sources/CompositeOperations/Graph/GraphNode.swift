/// A node of an ``OperationGraph``, for those that need what it gives.
public struct GraphNode<Value: Sendable>: Sendable {
  let index: Int
  let graph: GraphIdentity
  let asksForOutcome: Bool
  /// Reads it when the node has ended.
  let read: @Sendable (GraphBoard) -> Value

  var input: GraphPlan.Input { GraphPlan.Input(node: index, asksForOutcome: asksForOutcome) }

  /// The same node, for those that want to know how it ended and run in any case.
  ///
  /// The failure of a node whose outcome somebody asks for is theirs to deal with: by itself it does
  /// not make the graph fail.
  public var outcome: GraphNode<Outcome<Value>> {
    precondition(!asksForOutcome, "An outcome has no outcome; ask the node itself.")
    return GraphNode<Outcome<Value>>(index: index, graph: graph, asksForOutcome: true) {
      [index, read] board in board.outcome(of: index) { read(board) }
    }
  }

  /// The same node, for those that need something that is made of what it gives.
  ///
  /// - Parameter transform: Makes it, whenever somebody needs it.
  public func map<Other>(
    _ transform: @escaping @Sendable (Value) -> Other
  ) -> GraphNode<Other> {
    GraphNode<Other>(index: index, graph: graph, asksForOutcome: asksForOutcome) { [read] board in
      transform(read(board))
    }
  }
}

/// Tells the nodes of one graph from those of others.
final class GraphIdentity: Sendable {}
