public import CompositeOperations

extension OperationDiagram {
  /// Creates a diagram of the operations that an operation will run, as far as they are known in
  /// advance.
  ///
  /// ```swift
  /// let all = ParallelOperation([FetchIssues(repository: repository)], width: .serial)
  /// print(OperationDiagram(of: all.named("Sync")).mermaid)
  /// ```
  ///
  /// An arrow points from a parallel composite to each of its children, from a linear sequence to
  /// each of its steps, and from a graph to each of its nodes without dependencies. Arrows between
  /// the nodes of a graph are its dependencies. Steps that a sequence or a closure decides at run
  /// time are a single node. Of a list of children or steps, only the first 100 are shown.
  ///
  /// - Parameter operation: The operation. A simple operation is a single node.
  public init(of operation: some ComposableOperation) {
    var drawing = CompositionDrawing()
    drawing.add(operation, below: nil, level: 0)
    self.init(nodes: drawing.nodes, edges: drawing.edges)
  }
}

extension OperationGraph {
  /// The nodes and their dependencies, for drawing. The graph need not have run.
  public var diagram: OperationDiagram { OperationDiagram(graphOutline) }
}

extension OperationDiagram {
  fileprivate init(_ graph: GraphOutline) {
    self.init(
      nodes: graph.nodes.map { Node(name: $0.name, isOutput: $0.isOutput) },
      edges: graph.edges.map {
        Edge(source: $0.source, target: $0.target, asksForOutcome: $0.asksForOutcome)
      })
  }
}

private struct CompositionDrawing {
  private static let mostChildren = 100
  /// Limits the depth of the picture and of the recursion.
  private static let mostLevels = 64

  private(set) var nodes: [OperationDiagram.Node] = []
  private(set) var edges: [OperationDiagram.Edge] = []

  /// - Parameters:
  ///   - parent: The node of the parent.
  ///   - number: The position among the steps, from 1.
  mutating func add(
    _ operation: any ComposableOperation, below parent: Int?, level: Int, number: Int? = nil
  ) {
    if level == Self.mostLevels { return addNode("…", below: parent) }
    let name = (number.map { "\($0). " } ?? "") + operation.operationName
    let node = nodes.count
    switch outline(of: operation) {
    case nil: addNode(name, below: parent)
    case .parallel(let children):
      addNode(name + "\nin parallel", below: parent)
      add(children, below: node, level: level + 1, areSteps: false)
    case .sequence(let steps):
      addNode(name + "\nin sequence", below: parent)
      add(steps, below: node, level: level + 1, areSteps: true)
    case .start(let steps):
      addNode(name + "\nin sequence", below: parent)
      add(steps, below: node, level: level + 1, areSteps: true)
      addNode("decided at run time", below: node, isDecidedLater: true)
    case .graph(let graph):
      addNode(name + "\nin dependency order", below: parent)
      add(graph, below: node)
    }
  }

  private func outline(of operation: any ComposableOperation) -> OperationOutline? {
    var next: (any ComposableOperation)? = operation
    while let current = next {
      if let bearing = current as? any OutlineBearing { return bearing.outline }
      next = current.modifiedOperation
    }
    return nil
  }

  private mutating func add(
    _ operations: [any ComposableOperation], below parent: Int, level: Int, areSteps: Bool
  ) {
    for (index, operation) in operations.prefix(Self.mostChildren).enumerated() {
      add(operation, below: parent, level: level, number: areSteps ? index + 1 : nil)
    }
    let left = operations.count - Self.mostChildren
    if left > 0 { addNode("… and \(left) more", below: parent) }
  }

  private mutating func add(_ outline: GraphOutline, below parent: Int) {
    let graph = OperationDiagram(outline)
    let first = nodes.count
    let needing = Set(graph.edges.map(\.target))
    for (index, node) in graph.nodes.enumerated() {
      nodes.append(node)
      if !needing.contains(index) { addEdge(from: parent, to: first + index) }
    }
    for edge in graph.edges {
      edges.append(
        OperationDiagram.Edge(
          source: first + edge.source, target: first + edge.target,
          asksForOutcome: edge.asksForOutcome))
    }
  }

  private mutating func addNode(
    _ name: String, below parent: Int?, isDecidedLater: Bool = false
  ) {
    if let parent { addEdge(from: parent, to: nodes.count) }
    nodes.append(OperationDiagram.Node(name: name, isDecidedLater: isDecidedLater))
  }

  private mutating func addEdge(from source: Int, to target: Int) {
    edges.append(OperationDiagram.Edge(source: source, target: target, asksForOutcome: false))
  }
}
