/// An operation that runs other operations as soon as the results that they depend on are
/// available.
///
/// ```swift
/// let overview = OperationGraph { graph in
///   let user = graph.add(FetchUser())
///   let profile = graph.add(needing: user) { FetchProfile($0) }
///   let issues = graph.add(needing: user) { FetchIssuesOf($0) }
///   return graph.add(needing: profile, issues) { profile, issues in
///     SimpleOperation { "\(profile.user.name) has \(issues.count) issues" }
///   }
/// }
/// let text = try await overview.run().get()
/// ```
///
/// The closure adds the nodes with their dependencies. It returns the node whose result is the
/// result of the graph, or several nodes for a tuple. It is called once, when the graph is created;
/// the graph can run any number of times. All nodes run, even if no other node depends on them.
///
/// A node ends without a result if it fails, is cancelled, or *cancels itself*: for example, its
/// body throws `CancellationError`. The nodes that depend on its result, directly or indirectly,
/// then never begin. By default, all other nodes are cancelled. With ``FailureMode/runAll``, they
/// run.
///
/// A node can also depend on the ``GraphNode/outcome`` of another node. The dependent node then
/// begins whatever this outcome is, and *handles* it: if the other node fails or cancels itself, no
/// running node is cancelled because of this.
///
/// A failure or self-cancellation of a node *counts* if no other node handles it. If one does, it
/// counts only if a result is missing that the graph returns: because the node itself was to provide
/// it, or because the node that was to provide it never began. The first row that applies determines
/// the outcome:
///
/// | outcome | condition |
/// |---|---|
/// | cancelled | the graph was cancelled from outside |
/// | error | a failure of a node counts |
/// | cancelled | a self-cancellation counts |
/// | result | otherwise |
public struct OperationGraph<Success: Sendable>: ComposableOperation {
  private let storedPlan: StackSafe<GraphPlan>
  var plan: GraphPlan { storedPlan.value }
  private let width: OperationWidth
  private let mode: FailureMode
  private let read: @Sendable (GraphRunState) -> Success

  public var operationName: String { "OperationGraph" }

  /// Creates a graph with the result of one of its nodes.
  ///
  /// - Parameters:
  ///   - width: How many nodes may be in flight at once.
  ///   - mode: How the graph reacts if a node ends without a result.
  ///   - build: Adds the nodes and returns the node whose result is the result of the graph.
  /// - Throws: The error that `build` throws.
  @inlinable public init(
    width: OperationWidth = .adaptive, onFailure mode: FailureMode = .cancelRemaining,
    _ build: (inout GraphBuilder) throws -> GraphNode<Success>
  ) rethrows {
    var builder = GraphBuilder()
    let node = try build(&builder)
    self.init(builder, width, mode, [builder.input(node)]) { runState in node.read(runState) }
  }

  /// Creates a graph with the results of several of its nodes, as a tuple.
  ///
  /// - Parameters:
  ///   - width: How many nodes may be in flight at once.
  ///   - mode: How the graph reacts if a node ends without a result.
  ///   - build: Adds the nodes and returns the nodes whose results are the result of the graph.
  /// - Throws: The error that `build` throws.
  // Two or more: a closure without a `return` statement gives an empty tuple. Disfavored, as the next
  // one: the compiler checks the whole closure again for each initializer that it tries.
  @_disfavoredOverload
  @inlinable public init<First, Second, each Other>(
    width: OperationWidth = .adaptive, onFailure mode: FailureMode = .cancelRemaining,
    _ build: (inout GraphBuilder) throws -> (
      GraphNode<First>, GraphNode<Second>, repeat GraphNode<each Other>
    )
  ) rethrows where Success == (First, Second, repeat each Other) {
    try self.init(width, mode, giving: build)
  }

  @inlinable init<each Output>(
    _ width: OperationWidth, _ mode: FailureMode,
    giving build: (inout GraphBuilder) throws -> (repeat GraphNode<each Output>)
  ) rethrows where Success == (repeat each Output) {
    var builder = GraphBuilder()
    let nodes = try build(&builder)
    var outputs: [GraphPlan.Input] = []
    for node in repeat each nodes { outputs.append(builder.input(node)) }
    self.init(builder, width, mode, outputs) { runState in (repeat (each nodes).read(runState)) }
  }

  /// Creates a graph with the results of any number of its nodes, in their order.
  ///
  /// - Parameters:
  ///   - width: How many nodes may be in flight at once.
  ///   - mode: How the graph reacts if a node ends without a result.
  ///   - build: Adds the nodes and returns the nodes whose results are the result of the graph.
  /// - Throws: The error that `build` throws.
  @_disfavoredOverload
  @inlinable public init<Output>(
    width: OperationWidth = .adaptive, onFailure mode: FailureMode = .cancelRemaining,
    _ build: (inout GraphBuilder) throws -> [GraphNode<Output>]
  ) rethrows where Success == [Output] {
    var builder = GraphBuilder()
    let nodes = try build(&builder)
    self.init(builder, width, mode, nodes.map { builder.input($0) }) { runState in
      nodes.map { $0.read(runState) }
    }
  }

  /// Creates a graph without a result, which ends when all of its nodes have ended.
  ///
  /// ```swift
  /// let warmUp = OperationGraph(giving: Void.self) { graph in
  ///   let database = graph.add(OpenDatabase())
  ///   graph.add(needing: database) { MigrateSchema() }
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - type: `Void.self`. It distinguishes such a graph from one whose closure lacks its `return`
  ///     statement.
  ///   - width: How many nodes may be in flight at once.
  ///   - mode: How the graph reacts if a node ends without a result.
  ///   - build: Adds the nodes.
  /// - Throws: The error that `build` throws.
  @inlinable public init(
    giving type: Void.Type, width: OperationWidth = .adaptive,
    onFailure mode: FailureMode = .cancelRemaining,
    _ build: (inout GraphBuilder) throws -> Void
  ) rethrows where Success == Void {
    var builder = GraphBuilder()
    try build(&builder)
    self.init(builder, width, mode, []) { _ in }
  }

  /// Unavailable, so that the compiler reports a missing `return` statement.
  @available(
    *, unavailable,
    message: """
      return the node whose result is the result of the graph, or use \
      OperationGraph(giving: Void.self) if it has none
      """
  )
  public init(
    width: OperationWidth = .adaptive, onFailure mode: FailureMode = .cancelRemaining,
    _ build: (inout GraphBuilder) throws -> Void
  ) rethrows where Success == Void { preconditionFailure("Unavailable.") }

  @usableFromInline init(
    _ builder: borrowing GraphBuilder, _ width: OperationWidth, _ mode: FailureMode,
    _ outputs: [GraphPlan.Input], read: @escaping @Sendable (GraphRunState) -> Success
  ) {
    storedPlan = StackSafe(builder.plan(giving: outputs))
    self.width = width
    self.mode = mode
    self.read = read
  }

  public nonisolated(nonsending) func perform(in context: OperationContext) async throws -> Success
  {
    try await performHeld(in: context).value
  }

  @_documentation(visibility: internal)
  @concurrent public func performHeld(
    in context: OperationContext
  ) async throws -> HeldResult<Success> {
    // This check keeps the hop off the caller's actor, which a plain forwarding call would lose.
    if Task.isCancelled { throw CancellationError() }
    let runState = GraphRunState(
      plan, limit: width.limit, goal: mode.goal, isObserved: context.scope?.isObserved == true)
    if runState.isObserved { context.expectChildren(plan.count) }
    await runState.run(in: context.oneDeeper)
    guard runState.isComplete else { throw OperationGraphError(runState) }
    return HeldResult(read(runState), cleanup: runState.cleanupOfOutputs())
  }
}

extension GraphRunState {
  /// Discards the values that no closure has taken, except those in the outputs.
  ///
  /// - Returns: A closure that discards the outputs. It is used if no caller receives the result of
  ///   the graph.
  fileprivate func cleanupOfOutputs() -> Cleanup? {
    var left = untakenCleanups
    for (node, error) in untakenErrors { left[node] = error.cleanupOfCarriedValues }
    if left.isEmpty { return nil }
    let outputs = shownNodes
    left.filter { !outputs.contains($0.key) }.runInOrder()
    return cleanup(ofAll: left.filter { outputs.contains($0.key) })
  }
}

extension OperationGraph: OutlineBearing {
  package var outline: OperationOutline { .graph(graphOutline) }

  /// The nodes and their dependencies. The graph need not have run.
  package var graphOutline: GraphOutline {
    let isOutput = Set(plan.outputs.map(\.node))
    let nodes = plan.nodes.enumerated().map { index, node in
      GraphOutline.Node(name: node.work.name, isOutput: isOutput.contains(index))
    }
    var edges: [GraphOutline.Edge] = []
    for target in 0..<plan.count {
      var isKnown: Set<GraphPlan.Input> = []
      for input in plan.inputs(of: target) where isKnown.insert(input).inserted {
        edges.append(
          GraphOutline.Edge(
            source: input.node, target: target, asksForOutcome: input.asksForOutcome))
      }
    }
    return GraphOutline(nodes: nodes, edges: edges)
  }
}
