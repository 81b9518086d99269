extension OperationGraph {
  /// The nodes and their dependencies, for drawing. The graph need not have run.
  public var diagram: OperationDiagram {
    let isOutput = Set(plan.outputs.map(\.node))
    let nodes = plan.nodes.enumerated().map { index, node in
      OperationDiagram.Node(name: node.work.name, isOutput: isOutput.contains(index))
    }
    var edges: [OperationDiagram.Edge] = []
    for target in 0..<plan.count {
      var isKnown: Set<GraphPlan.Input> = []
      for input in plan.inputs(of: target) where isKnown.insert(input).inserted {
        edges.append(
          OperationDiagram.Edge(
            source: input.node, target: target, asksForOutcome: input.asksForOutcome))
      }
    }
    return OperationDiagram(nodes: nodes, edges: edges)
  }
}

extension OperationGraph: OutlineBearing {
  var outline: OperationOutline { .graph(diagram) }
}
