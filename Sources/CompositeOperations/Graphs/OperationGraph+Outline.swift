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
