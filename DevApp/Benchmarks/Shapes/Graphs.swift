import CompositeOperations

extension Shape {
  /// Empty operations that need the results of one another.
  static func graph(
    _ id: String, _ dependencies: Dependencies, isShort: Bool = false, peerShapes: [String] = []
  ) -> Shape {
    let prepared = Prepared { graph(dependencies) }
    var ways = [
      Way("graph, built and run", .ours) { try await graph(dependencies).run().get().sum },
      Way("graph, run only", .ours) { try await prepared.value.run().get().sum },
      Way("a task a node", .swift) { try await tasks(dependencies).sum },
    ]
    if isShort {
      ways.append(
        .blocking("OperationQueue, dependencies", .swift) { Queues.dependencies(dependencies) })
    }
    return Shape(
      id: id, title: "\(dependencies.count.grouped) empty nodes \(dependencies.name)",
      operations: dependencies.count, peerShapes: peerShapes, ways: ways)
  }

  /// Creates a graph that returns the results of all nodes.
  private static func graph(
    _ dependencies: Dependencies
  ) -> OperationGraph<[UInt64]> {
    OperationGraph { graph in
      var nodes: [GraphNode<UInt64>] = []
      nodes.reserveCapacity(dependencies.count)
      for (index, needs) in dependencies.needs.enumerated() {
        nodes.append(add(UInt64(index), needs, of: nodes, to: &graph))
      }
      return nodes
    }
  }

  private static func add(
    _ seed: UInt64, _ needs: [Int], of nodes: [GraphNode<UInt64>], to graph: inout GraphBuilder
  ) -> GraphNode<UInt64> {
    switch needs.count {
    case 0: graph.add(Work(seed: seed))
    case 1: graph.add(needing: nodes[needs[0]]) { Dependent(seed: seed, needed: $0) }
    case 2:
      graph.add(needing: nodes[needs[0]], nodes[needs[1]]) { one, other in
        Dependent(seed: seed, needed: one &+ other)
      }
    default:
      graph.add(needingAll: needs.map { nodes[$0] }) { Dependent(seed: seed, needed: $0.sum) }
    }
  }

  /// Runs a task for each node, which awaits the tasks of the nodes that it needs.
  @concurrent private static func tasks(_ dependencies: Dependencies) async throws -> [UInt64] {
    var tasks: [Task<UInt64, any Error>] = []
    tasks.reserveCapacity(dependencies.count)
    for (index, needs) in dependencies.needs.enumerated() {
      let needed = needs.map { tasks[$0] }
      tasks.append(
        Task {
          var sum: UInt64 = 0
          for task in needed { sum &+= try await task.value }
          let operation = Dependent(seed: UInt64(index), needed: sum)
          return try await operation.perform(in: OperationContext())
        })
    }
    var results: [UInt64] = []
    results.reserveCapacity(tasks.count)
    for task in tasks { results.append(try await task.value) }
    return results
  }
}

/// Work that receives the results of earlier nodes, and returns the result for its own seed.
private struct Dependent: ComposableOperation {
  let seed: UInt64
  let needed: UInt64

  func perform(in context: OperationContext) async throws -> UInt64 {
    // Depends on the value, so that it is read.
    needed == .max ? 0 : work(seed)
  }
}
