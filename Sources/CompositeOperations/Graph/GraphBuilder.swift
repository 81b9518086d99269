internal import Synchronization

/// Takes the nodes of an ``OperationGraph``.
///
/// A node can only need nodes that have been added before it, so there are no circles.
public struct GraphBuilder: ~Copyable {
  @usableFromInline let graph = GraphIdentity()
  @usableFromInline var nodes: [GraphPlan.Node] = []
  @usableFromInline var inputs: [GraphPlan.Input] = []
  /// How much memory all results take, in bytes.
  @usableFromInline var size = 0
  @usableFromInline var alignment = 1

  @usableFromInline init() {}

  /// Adds an operation that needs nothing.
  @inlinable @discardableResult public mutating func add<Child: ComposableOperation>(
    _ operation: Child
  ) -> GraphNode<Child.Success> {
    add(GivenWork(operation), inputCount: 0) { board, node, context in
      try await operation.perform(as: node, of: board, in: context)
    }
  }

  /// Adds an operation that needs nothing, under a name of its own.
  @inlinable @discardableResult public mutating func add<Child: ComposableOperation>(
    _ operation: Child, named name: String
  ) -> GraphNode<Child.Success> {
    add(operation.named(name))
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
  ///   - name: What events, errors and pictures call it. If it is left out that is the operation's own name
  ///     where there is an operation, and else its type: in a picture, and in an error about one that did not
  ///     fail.
  ///   - make: Makes the operation. An error that it throws is the node's.
  /// - Precondition: The nodes are of this graph, which has less than 2³¹ nodes and less than 2³¹ needs.
  @inlinable @discardableResult public mutating func add<each Input, Child: ComposableOperation>(
    needing nodes: repeat GraphNode<each Input>, named name: String? = nil,
    @OperationBuilder _ make: @escaping @Sendable (repeat each Input) throws -> Child
  ) -> GraphNode<Child.Success> {
    var count = 0
    for node in repeat each nodes {
      inputs.append(input(node))
      count += 1
    }
    return add(MadeWork<Child>(named: name), inputCount: count) { board, node, context in
      try await make(repeat (each nodes).read(board))
        .perform(as: node, of: board, in: context)
    }
  }

  // The same for one node and for two, which the compiler makes quick: it does not specialise packs.

  /// Adds an operation that is made of what another node gives, when it has ended.
  ///
  /// As with several nodes in all else.
  @inlinable @discardableResult public mutating func add<Input, Child: ComposableOperation>(
    needing node: GraphNode<Input>, named name: String? = nil,
    @OperationBuilder _ make: @escaping @Sendable (Input) throws -> Child
  ) -> GraphNode<Child.Success> {
    inputs.append(input(node))
    return add(MadeWork<Child>(named: name), inputCount: 1) { board, index, context in
      try await make(node.read(board)).perform(as: index, of: board, in: context)
    }
  }

  /// Adds an operation that is made of what two other nodes give, when they have ended.
  ///
  /// As with several nodes in all else.
  @inlinable @discardableResult public mutating func add<One, Other, Child: ComposableOperation>(
    needing one: GraphNode<One>, _ other: GraphNode<Other>, named name: String? = nil,
    @OperationBuilder _ make: @escaping @Sendable (One, Other) throws -> Child
  ) -> GraphNode<Child.Success> {
    inputs.append(input(one))
    inputs.append(input(other))
    return add(MadeWork<Child>(named: name), inputCount: 2) { board, node, context in
      try await make(one.read(board), other.read(board))
        .perform(as: node, of: board, in: context)
    }
  }

  /// Adds an operation that is made of what any number of nodes give, in their order.
  ///
  /// As with nodes of several types in all else.
  @inlinable @discardableResult public mutating func add<Input, Child: ComposableOperation>(
    needingAll nodes: [GraphNode<Input>], named name: String? = nil,
    @OperationBuilder _ make: @escaping @Sendable ([Input]) throws -> Child
  ) -> GraphNode<Child.Success> {
    for node in nodes { inputs.append(input(node)) }
    return add(MadeWork<Child>(named: name), inputCount: nodes.count) { board, node, context in
      try await make(nodes.map { $0.read(board) })
        .perform(as: node, of: board, in: context)
    }
  }

  /// - Parameter inputCount: How many inputs have been added for it.
  @inlinable mutating func add<Work: GraphWork>(
    _ work: Work, inputCount: Int, body: @escaping GraphPlan.Body
  ) -> GraphNode<Work.Success> {
    let alignment = MemoryLayout<Work.Success>.alignment
    let offset = (size + alignment - 1) & ~(alignment - 1)
    size = offset + MemoryLayout<Work.Success>.size
    self.alignment = max(self.alignment, alignment)
    nodes.append(
      GraphPlan.Node(
        body: body, work: work, isTrivial: _isPOD(Work.Success.self), offset: offset,
        firstInput: inputs.count - inputCount))
    return GraphNode(nodes.count - 1, of: graph, at: offset)
  }

  @inlinable func input<Value>(_ node: GraphNode<Value>) -> GraphPlan.Input {
    precondition(node.graph == graph, "a node can only need nodes of its own graph")
    return node.input
  }

  func plan(giving outputs: [GraphPlan.Input]) -> GraphPlan {
    GraphPlan(nodes, inputs: inputs, size: size, alignment: alignment, outputs: outputs)
  }
}

/// Tells the nodes of one graph from those of others.
@usableFromInline struct GraphIdentity: Hashable, Sendable {
  private static let last = Atomic(0)

  private let number = last.wrappingAdd(1, ordering: .relaxed).newValue

  @usableFromInline static func == (one: GraphIdentity, other: GraphIdentity) -> Bool {
    one.number == other.number
  }
}
