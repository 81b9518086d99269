/// A node of an ``OperationGraph``, on which other nodes can depend.
///
/// ``GraphBuilder`` returns it. To depend on a part of the result, or on how the node ends, use
/// ``map(_:)`` or ``outcome``:
///
/// ```swift
/// let overview = OperationGraph { graph in
///   let user = graph.add(FetchUser())
///   let news = graph.add(FetchNews())
///   return graph.add(needing: user.map { $0.name }, news.outcome) { name, news in
///     SimpleOperation { "\(name), \(news.result?.count ?? 0) news" }
///   }
/// }
/// ```
public struct GraphNode<Value: Sendable>: Sendable {
  @usableFromInline typealias Reader = @Sendable (GraphRunState) -> Value

  @usableFromInline let index: Int
  @usableFromInline let graph: GraphIdentity
  @usableFromInline let asksForOutcome: Bool
  /// The offset of the result in the memory for all results, in bytes.
  @usableFromInline let offset: Int
  /// Makes the value from the result of the node; nil for the result itself.
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

  /// Reads the value after the node has ended.
  @inlinable func read(_ runState: GraphRunState) -> Value {
    if let reader { return reader(runState) }
    return runState.slot(at: offset).value(as: Value.self)
  }

  /// The node as a dependency on how it ends, instead of on its result.
  ///
  /// A node with this dependency begins whatever the outcome is. If this node could not begin, the
  /// dependent node receives the outcome of the node that prevented it. The dependent node handles
  /// the failures of this node and of the nodes that this node depends on: they do not make the
  /// graph fail by themselves.
  ///
  /// - Precondition: The node is not an outcome already, nor made from one by ``map(_:)``.
  public var outcome: GraphNode<Outcome<Value>> {
    precondition(!asksForOutcome, "an outcome has no `outcome`; use the node itself")
    return GraphNode<Outcome<Value>>(index, of: graph, at: offset, asksForOutcome: true) {
      [self] runState in runState.outcome(of: index) { read(runState) }
    }
  }

  /// Returns the node as a dependency on a value that is made from its result.
  ///
  /// - Parameter transform: Makes the value, each time a node needs it.
  public func map<Other>(
    _ transform: @escaping @Sendable (Value) -> Other
  ) -> GraphNode<Other> {
    GraphNode<Other>(index, of: graph, at: offset, asksForOutcome: asksForOutcome) {
      [self] runState in
      transform(read(runState))
    }
  }
}
