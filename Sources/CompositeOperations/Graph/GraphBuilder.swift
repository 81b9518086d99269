/// Takes the nodes of an ``OperationGraph``.
///
/// A node can only need nodes that have been added before it, so there are no circles.
public struct GraphBuilder {
  private(set) var plan = GraphPlan()
  private let identity = GraphIdentity()

  init() {}

  /// Adds an operation that needs nothing.
  @discardableResult public mutating func add<Child: ComposableOperation>(
    _ operation: Child
  ) -> GraphNode<Child.Success> {
    add(GivenWork(operation: operation), needing: [])
  }

  /// Adds an operation that is made of what other nodes give, when they have ended.
  ///
  /// ```swift
  /// let overview = OperationGraph { graph in
  ///   let user = graph.add(FetchUser())
  ///   let news = graph.add(FetchNews())
  ///   return graph.add(needing: user, news.outcome) { user, news in
  ///     SimpleOperation { "\(user.name), \(news.result?.count ?? 0) news" }
  ///   }
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - nodes: The nodes that it needs. If one of them ends without a result the operation does not
  ///     run; ``GraphNode/outcome`` asks for more.
  ///   - name: What events and errors call it; the operation's own name if it is left out.
  ///   - make: Makes the operation. An error that it throws is the node's.
  @discardableResult public mutating func add<each Input, Child: ComposableOperation>(
    needing nodes: repeat GraphNode<each Input>, named name: String? = nil,
    _ make: @escaping @Sendable (repeat each Input) throws -> Child
  ) -> GraphNode<Child.Success> {
    var inputs: [GraphPlan.Input] = []
    for node in repeat each nodes { inputs.append(input(node)) }
    let work = MakingWork(ownName: name) { board in try make(repeat (each nodes).read(board)) }
    return add(work, needing: inputs)
  }

  /// Adds an operation that is made of what any number of nodes give, in their order.
  ///
  /// As with nodes of several types in all else.
  @discardableResult public mutating func add<Input, Child: ComposableOperation>(
    needingAll nodes: [GraphNode<Input>], named name: String? = nil,
    _ make: @escaping @Sendable ([Input]) throws -> Child
  ) -> GraphNode<Child.Success> {
    let work = MakingWork(ownName: name) { board in try make(nodes.map { $0.read(board) }) }
    return add(work, needing: nodes.map { input($0) })
  }

  private mutating func add<Work: GraphWork>(
    _ work: Work, needing inputs: [GraphPlan.Input]
  ) -> GraphNode<Work.Success> {
    let index = plan.add(work, needing: inputs)
    return GraphNode(index: index, graph: identity, asksForOutcome: false) { board in
      board.slot(of: index).value(as: Work.Success.self)
    }
  }

  func input<Value>(_ node: GraphNode<Value>) -> GraphPlan.Input {
    precondition(node.graph === identity, "A node can only need nodes of its own graph.")
    return node.input
  }
}
