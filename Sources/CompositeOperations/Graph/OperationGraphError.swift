/// The error of an ``OperationGraph``: how every node ended, in the order in which they were added.
public struct OperationGraphError: Error, Sendable {
  /// One node and how it ended.
  public struct Node: Sendable {
    /// How an outcome came about.
    public enum Origin: Sendable {
      /// The node came to it by itself.
      case itself
      /// The graph cancelled the node, because of another one or because it was cancelled itself.
      case graph
      /// Something that the node needs gave no result, so it did not begin.
      case input
      /// The graph stopped before the node had begun.
      case neverBegan
    }

    /// The node's place in the order in which they were added, from 0.
    public let index: Int
    /// The node's name.
    public let name: String
    /// How the node ended; a node that never began is cancelled.
    public let outcome: Outcome<any Sendable>
    /// How that came about.
    public let origin: Origin
    /// The places of the nodes that it needs.
    public let needs: [Int]
  }

  private let board: GraphBoard
  /// Of every node whether it did not begin because of one that ended without a result of its own accord.
  private let isConsequence: [Bool]

  var disposalOfShare: Disposal?

  init(_ board: GraphBoard) {
    self.board = board
    isConsequence = board.unbegun(behind: \.isOwnLoss)
  }

  /// Every node, in the order in which they were added.
  public var nodes: [Node] { (0..<board.plan.count).map(node) }

  /// The nodes that ended in an error of their own, the first in time first.
  public var failures: [Node] { board.causes.map(node).filter { $0.outcome.error != nil } }

  /// The nodes that did not begin because something that they need gave no result, directly or not.
  public var consequences: [Node] {
    isConsequence.indices.filter { isConsequence[$0] }.map(node)
  }

  private func node(at index: Int) -> Node {
    let work = board.plan.nodes[index].work
    let state = board.state(of: index)
    let outcome =
      state.isUnbegun
      ? .cancelled : board.outcome(of: index) { work.value(in: board.slot(of: index)) }
    return Node(
      index: index, name: board.name(of: index), outcome: outcome,
      origin: isConsequence[index] ? .input : state.origin,
      needs: board.plan.inputs(of: index).map(\.node))
  }
}

extension GraphBoard {
  /// Of every node whether it did not begin because of one that ended in certain states: one that it needs,
  /// or one that another of these needs, and so on.
  fileprivate func unbegun(behind isCause: (NodeState) -> Bool) -> [Bool] {
    var isUnbegun = [Bool](repeating: false, count: plan.count)
    for node in 0..<plan.count where state(of: node).isUnbegun {
      isUnbegun[node] = plan.inputs(of: node).contains { input in
        !input.asksForOutcome && (isUnbegun[input.node] || isCause(state(of: input.node)))
      }
    }
    return isUnbegun
  }
}

extension GraphBoard.NodeState {
  fileprivate var isUnbegun: Bool { self == .notBegun || self == .withoutInput }

  fileprivate var origin: OperationGraphError.Node.Origin {
    switch self {
    case .notBegun, .withoutInput: .neverBegan
    case .result, .error, .cancelledItself: .itself
    case .lateResult, .cancelledWithGraph: .graph
    }
  }
}

extension OperationGraphError.Node {
  fileprivate var label: String { "[\(index)] \(name)" }
}

extension OperationGraphError: CancellationRepresenting {
  /// Whether no failure is to blame: the nodes that are missed cancelled themselves or were cancelled, and
  /// those that failed were dealt with by those who asked for their outcome.
  public var representsCancellation: Bool {
    let isBehindError = board.unbegun { $0 == .error }
    let isMissed = board.missingOutputs.contains {
      board.state(of: $0) == .error || isBehindError[$0]
    }
    return !isMissed
      && !isBehindError.indices.contains {
        board.state(of: $0) == .error && !board.plan.isTolerated($0)
      }
  }
}

extension OperationGraphError: ValueCarrying {
  func discardValues() {
    board.disposals.filter { !board.isTaken($0.key) }.disposeInOrder()
    for failure in failures { failure.outcome.error?.discardCarriedValues() }
  }
}

extension OperationGraphError: EvidenceDescribing {
  var branches: [ErrorBranch] {
    var branches = failures.map { node in
      ErrorBranch(label: node.label, cause: node.outcome.error.map { .error($0) } ?? .text(""))
    }
    let consequences = consequences
    if !branches.isEmpty, !consequences.isEmpty {
      let names = consequences.map(\.name).joined(separator: ", ")
      branches.append(ErrorBranch(label: "did not begin", cause: .text(names)))
    }
    if !branches.isEmpty { return branches }
    return nodes.filter { $0.origin == .itself && $0.outcome.isCancelled }.map { node in
      ErrorBranch(label: node.label, cause: .text("cancelled itself"))
    }
  }

  var aftermath: [String] {
    let nodes = nodes
    let cancelled = nodes.filter { $0.origin == .graph }.map(\.label)
    return .aftermath(
      cancelled: Array(cancelled.prefix(3)), of: cancelled.count,
      unbegun: nodes.count { $0.origin == .neverBegan })
  }
}
