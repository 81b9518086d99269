internal import Synchronization

/// Adds the nodes of an ``OperationGraph`` and their dependencies.
///
/// A node can only depend on nodes that were added before it, so a graph has no cycles.
public struct GraphBuilder: ~Copyable {
  @usableFromInline let graph = GraphIdentity()
  @usableFromInline var nodes: [GraphPlan.Node] = []
  @usableFromInline var inputs: [GraphPlan.Input] = []
  /// The memory for all results, in bytes.
  @usableFromInline var size = 0
  @usableFromInline var alignment = 1

  @usableFromInline init() {}

  /// Adds an operation without dependencies.
  ///
  /// - Parameter operation: The operation.
  /// - Returns: The node, on which later nodes can depend.
  @inlinable @discardableResult public mutating func add<Child: ComposableOperation>(
    _ operation: Child
  ) -> GraphNode<Child.Success> {
    add(GivenWork(operation), inputCount: 0) { runState, node, context in
      try await operation.perform(as: node, of: runState, in: context)
    }
  }

  /// Adds an operation without dependencies, under another name.
  ///
  /// - Parameters:
  ///   - operation: The operation.
  ///   - name: The name in events, errors and diagrams.
  /// - Returns: The node, on which later nodes can depend.
  @inlinable @discardableResult public mutating func add<Child: ComposableOperation>(
    _ operation: Child, named name: String
  ) -> GraphNode<Child.Success> {
    add(operation.named(name))
  }

  /// Adds an operation that is made from the results of other nodes.
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
  ///   - nodes: The nodes that it depends on. If one of them ends without a result, the operation
  ///     does not run. To run it in any case, depend on the ``GraphNode/outcome`` of the node.
  ///   - name: The name in events, errors and diagrams. By default the name of the operation, or
  ///     the name of its type where there is no operation yet: in a diagram, and in an error about
  ///     a node that did not fail.
  ///   - make: Makes the operation. An error that it throws is the error of the node.
  /// - Returns: The node, on which later nodes can depend.
  /// - Precondition: The nodes belong to this graph, which has fewer than 2³¹ nodes and fewer than
  ///   2³¹ dependencies.
  // Disfavored: the compiler need not try it for one node or two.
  @_disfavoredOverload
  @inlinable @discardableResult public mutating func add<each Input, Child: ComposableOperation>(
    needing nodes: repeat GraphNode<each Input>, named name: String? = nil,
    @OperationBuilder _ make: @escaping @Sendable (repeat each Input) throws -> Child
  ) -> GraphNode<Child.Success> {
    var count = 0
    for node in repeat each nodes {
      inputs.append(input(node))
      count += 1
    }
    return add(MadeWork<Child>(named: name), inputCount: count) { runState, node, context in
      try await make(repeat (each nodes).read(runState))
        .perform(as: node, of: runState, in: context)
    }
  }

  // Overloads for one node and for two, which are faster: the compiler does not specialize packs.

  /// Adds an operation that is made from the result of another node.
  ///
  /// Behaves like the method for several nodes.
  @inlinable @discardableResult public mutating func add<Input, Child: ComposableOperation>(
    needing node: GraphNode<Input>, named name: String? = nil,
    @OperationBuilder _ make: @escaping @Sendable (Input) throws -> Child
  ) -> GraphNode<Child.Success> {
    inputs.append(input(node))
    return add(MadeWork<Child>(named: name), inputCount: 1) { runState, index, context in
      try await make(node.read(runState)).perform(as: index, of: runState, in: context)
    }
  }

  /// Adds an operation that is made from the results of two other nodes.
  ///
  /// Behaves like the method for several nodes.
  @inlinable @discardableResult public mutating func add<One, Other, Child: ComposableOperation>(
    needing one: GraphNode<One>, _ other: GraphNode<Other>, named name: String? = nil,
    @OperationBuilder _ make: @escaping @Sendable (One, Other) throws -> Child
  ) -> GraphNode<Child.Success> {
    inputs.append(input(one))
    inputs.append(input(other))
    return add(MadeWork<Child>(named: name), inputCount: 2) { runState, node, context in
      try await make(one.read(runState), other.read(runState))
        .perform(as: node, of: runState, in: context)
    }
  }

  /// Adds an operation that is made from the results of a list of nodes, in their order.
  ///
  /// Behaves like the method for several nodes.
  @inlinable @discardableResult public mutating func add<Input, Child: ComposableOperation>(
    needingAll nodes: [GraphNode<Input>], named name: String? = nil,
    @OperationBuilder _ make: @escaping @Sendable ([Input]) throws -> Child
  ) -> GraphNode<Child.Success> {
    for node in nodes { inputs.append(input(node)) }
    return add(MadeWork<Child>(named: name), inputCount: nodes.count) { runState, node, context in
      try await make(nodes.map { $0.read(runState) })
        .perform(as: node, of: runState, in: context)
    }
  }

  /// - Parameter inputCount: How many inputs have been added for the node.
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

/// Distinguishes the nodes of different graphs.
@usableFromInline struct GraphIdentity: Hashable, Sendable {
  private static let last = Atomic(0)

  private let number = last.wrappingAdd(1, ordering: .relaxed).newValue

  @usableFromInline static func == (one: GraphIdentity, other: GraphIdentity) -> Bool {
    one.number == other.number
  }
}
