/// A node of an ``OperationGraph``, for those that need what it gives.
public struct GraphNode<Value: Sendable>: Sendable {
  @usableFromInline typealias Reader = @Sendable (GraphBoard) -> Value

  @usableFromInline let index: Int
  @usableFromInline let graph: GraphIdentity
  @usableFromInline let asksForOutcome: Bool
  /// Where the node's result lies in the memory for all results, in bytes.
  @usableFromInline let offset: Int
  /// Makes something of what the node gives; nil for the node itself.
  @usableFromInline let reader: Reader?

  @inlinable init(
    _ index: Int, of graph: GraphIdentity, at offset: Int, asksForOutcome: Bool = false,
    reader: Reader? = nil
  ) {
    self.index = index
    self.graph = graph
    self.asksForOutcome = asksForOutcome
    self.offset = offset
    self.reader = reader
  }

  @inlinable var input: GraphPlan.Input {
    GraphPlan.Input(node: index, asksForOutcome: asksForOutcome)
  }

  /// Reads it when the node has ended.
  @inlinable func read(_ board: GraphBoard) -> Value {
    if let reader { return reader(board) }
    return board.slot(at: offset).value(as: Value.self)
  }

  /// The same node, for those that want to know how it ended and run in any case.
  ///
  /// If the node could not begin, its outcome is that of the one that is to blame. The failure of a node
  /// whose outcome somebody asks for, and of one that it needs, is theirs to deal with: by itself it does not
  /// make the graph fail.
  ///
  /// - Precondition: It is not an outcome already, or something that is made of one.
  public var outcome: GraphNode<Outcome<Value>> {
    precondition(!asksForOutcome, "an outcome has no `outcome`; use the node itself")
    return GraphNode<Outcome<Value>>(index, of: graph, at: offset, asksForOutcome: true) {
      [self] board in board.outcome(of: index) { read(board) }
    }
  }

  /// The same node, for those that need something that is made of what it gives.
  ///
  /// - Parameter transform: Makes it, whenever somebody needs it.
  public func map<Other>(
    _ transform: @escaping @Sendable (Value) -> Other
  ) -> GraphNode<Other> {
    GraphNode<Other>(index, of: graph, at: offset, asksForOutcome: asksForOutcome) { [self] board in
      transform(read(board))
    }
  }
}
