/// The operations that an operation will run, as far as they are known in advance.
@usableFromInline package enum OperationOutline {
  /// In parallel.
  case parallel([any ComposableOperation])
  /// In sequence.
  case sequence([any ComposableOperation])
  /// In sequence. How they end decides what follows.
  case start([any ComposableOperation])
  /// In the order of their dependencies.
  case graph(GraphOutline)
}

/// The nodes of a graph and their dependencies.
@usableFromInline package struct GraphOutline: Sendable {
  package struct Node: Sendable {
    package let name: String
    /// Whether the result of this operation is the result of the graph.
    package let isOutput: Bool
  }

  package struct Edge: Sendable {
    /// The index of the node that is needed.
    package let source: Int
    /// The index of the node that needs it.
    package let target: Int
    /// Whether the target needs the outcome of the source, and so runs even if the source fails.
    package let asksForOutcome: Bool
  }

  package let nodes: [Node]
  /// The dependencies without duplicates, sorted by target.
  package let edges: [Edge]
}

/// An operation that knows in advance some of the operations that it will run.
package protocol OutlineBearing: ComposableOperation {
  var outline: OperationOutline { get }
}
