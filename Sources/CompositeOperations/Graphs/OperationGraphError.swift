/// The error of an ``OperationGraph``, with the outcome of every node.
public struct OperationGraphError: Error, Sendable {
  /// A node and how it ended.
  public struct Node: Sendable {
    /// The cause of an outcome.
    public enum Origin: Sendable {
      /// The node ended by itself.
      case itself
      /// The graph cancelled the node, because of another node or because the graph was cancelled.
      case graph
      /// The node did not begin, because a node that it depends on gave no result.
      case input
      /// The graph stopped before the node began.
      case neverBegan
    }

    /// The index of the node in the order in which nodes were added, from 0.
    public let index: Int
    /// The name of the node.
    public let name: String
    /// How the node ended; cancelled if it never began.
    public let outcome: Outcome<any Sendable>
    /// The cause of the outcome.
    public let origin: Origin
    /// The indices of the nodes that this one depends on.
    public let needs: [Int]
  }

  private let storedBoard: StackSafe<GraphRunState>
  private var runState: GraphRunState { storedBoard.value }
  /// For each node, whether it did not begin because another node ended by itself without a result.
  private let isConsequence: [Bool]

  /// Whether no failure is the cause: the required nodes without a result cancelled themselves or
  /// were cancelled, and other nodes handled the outcome of those that failed.
  public let representsCancellation: Bool

  var shares: [Shares] = []

  init(_ runState: GraphRunState) {
    storedBoard = StackSafe(runState)
    isConsequence = runState.unbegun(behind: \.isOwnLoss)
    representsCancellation = !runState.hasFailed
  }

  /// All nodes, in the order in which they were added.
  public var nodes: [Node] { (0..<runState.plan.count).map(node) }

  /// The nodes that ended in an error of their own, in chronological order.
  public var failures: [Node] { failed.map(node) }

  private var failed: [Int] { runState.causes.filter { runState.error(of: $0) != nil } }

  /// The nodes that did not begin because a node that they depend on, directly or not, gave no
  /// result.
  public var consequences: [Node] {
    isConsequence.indices.filter { isConsequence[$0] }.map(node)
  }

  private func node(at index: Int) -> Node {
    let work = runState.plan.nodes[index].work
    let state = runState.state(of: index)
    let outcome =
      state.isUnbegun
      ? .cancelled : runState.outcome(of: index) { work.value(in: runState.slot(of: index)) }
    return Node(
      index: index, name: runState.name(of: index), outcome: outcome,
      origin: isConsequence[index] ? .input : state.originInGraph,
      needs: runState.plan.inputs(of: index).map(\.node))
  }
}

extension GraphRunState {
  /// For each node, whether it did not begin because a node that it depends on, directly or not,
  /// ended in certain states.
  fileprivate func unbegun(behind isCause: (ChildState) -> Bool) -> [Bool] {
    var isUnbegun = [Bool](repeating: false, count: plan.count)
    for node in 0..<plan.count where state(of: node).isUnbegun {
      isUnbegun[node] = plan.inputs(of: node).contains { input in
        !input.asksForOutcome && (isUnbegun[input.node] || isCause(state(of: input.node)))
      }
    }
    return isUnbegun
  }
}

extension ChildState {
  fileprivate var isUnbegun: Bool { self == .notBegun || self == .withoutInput }

  fileprivate var originInGraph: OperationGraphError.Node.Origin {
    switch self {
    case .notBegun, .withoutInput: .neverBegan
    case .result, .error, .cancelledItself: .itself
    case .lateResult, .cancelledWithComposite: .graph
    }
  }
}

extension GraphRunState {
  /// Whether a node ended in an error that no node handles, or because of which an output is
  /// missing.
  fileprivate var hasFailed: Bool {
    let isBehindError = unbegun { $0 == .error }
    return missingOutputs.contains { state(of: $0) == .error || isBehindError[$0] }
      || isBehindError.indices.contains { state(of: $0) == .error && !plan.isTolerated($0) }
  }
}

extension OperationGraphError: CancellationRepresenting {}

extension OperationGraphError: ValueCarrying {
  func discardOwnValues() { runState.untakenCleanups.runInOrder() }
  var carriedErrors: [any Error] { runState.untakenErrors.map(\.value) }
}

extension OperationGraphError: ErrorTreeDescribing {
  package var branches: [ErrorBranch] {
    var branches = failed.map { node in
      ErrorBranch(
        label: label(of: node), cause: runState.error(of: node).map { .error($0) } ?? .text(""))
    }
    var consequences = Examples()
    for node in isConsequence.indices where isConsequence[node] { consequences.add(node) }
    if !branches.isEmpty, consequences.count > 0 {
      let names = consequences.list(named: runState.name)
      let count = consequences.count > 3 ? " (\(consequences.count) in all)" : ""
      branches.append(ErrorBranch(label: "did not begin", cause: .text(names + count)))
    }
    if !branches.isEmpty { return branches }
    return isConsequence.indices.filter { runState.state(of: $0) == .cancelledItself }.map { node in
      ErrorBranch(label: label(of: node), cause: .text("cancelled itself"))
    }
  }

  package var aftermath: [String] {
    var (cancelled, unbegun) = (Examples(), 0)
    for node in isConsequence.indices where !isConsequence[node] {
      switch runState.state(of: node).originInGraph {
      case .graph: cancelled.add(node)
      case .neverBegan: unbegun += 1
      case .itself, .input: break
      }
    }
    return .aftermath(of: cancelled, named: label, unbegun: unbegun)
  }

  private func label(of node: Int) -> String { "[\(node)] \(runState.name(of: node))" }
}
