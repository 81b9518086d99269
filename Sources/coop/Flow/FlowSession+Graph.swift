import CompositeOperations
import FlowFiles

/// The end of a step, for the steps that depend on it.
enum FlowDependency: Sendable {
  /// The dependent step needs it, and it has succeeded.
  case succeeded(String, FlowStepState)
  /// The dependent step runs after it.
  case ended
}

extension FlowSession {
  /// The graph of the steps that have to run.
  var graph: OperationGraph<Void> {
    OperationGraph(giving: Void.self, onFailure: .runAll) { graph in
      file.addSteps(to: &graph) { [plan] in
        plan.decisions[$0.name]?.isSettled != true
      } operation: { [self] step, dependencies in
        FlowStepOperation(step: step, needs: needs(of: step, dependencies), session: self)
      }
    }
  }

  /// The states of the steps that a step needs, by name.
  private func needs(
    of step: FlowStep, _ dependencies: [FlowDependency]
  ) -> [String: FlowStepState] {
    var states: [String: FlowStepState] = [:]
    for name in step.neededNames { states[name] = plan.state(of: name) }
    for case .succeeded(let name, let state) in dependencies { states[name] = state }
    return states
  }
}

extension FlowFile {
  /// Adds an operation for each step to a graph.
  ///
  /// A step with `same-as` does not depend on the other step as a whole: it begins when that step
  /// can begin, and waits for its children one by one.
  func addSteps<Step: ComposableOperation<FlowStepState>>(
    to graph: inout GraphBuilder, where isIncluded: (FlowStep) -> Bool,
    operation: @escaping @Sendable (FlowStep, [FlowDependency]) -> Step
  ) {
    var nodes: [String: GraphNode<FlowStepState>] = [:]
    for index in order {
      let step = steps[index]
      guard isIncluded(step) else { continue }
      let (needs, after) = beginningDependencies(of: step)
      let dependencies =
        needs.compactMap { name in
          nodes[name].map { node in node.map { FlowDependency.succeeded(name, $0) } }
        } + after.compactMap { name in nodes[name].map { $0.outcome.map { _ in .ended } } }
      nodes[step.name] = graph.add(needingAll: dependencies, named: step.name) {
        operation(step, $0)
      }
    }
  }

  /// The names of the steps that must have ended before a step begins.
  func beginningDependencies(of step: FlowStep) -> (needs: [String], after: [String]) {
    var needs: [String] = []
    var after: [String] = []
    var next: FlowStep? = step
    while let step = next {
      next = nil
      needs += step.needs.map(\.name)
      after += step.after.map(\.name)
      switch step.each {
      case .linesOf(let source): needs.append(source.name)
      case .sameAs(let source): next = self.step(named: source.name)
      case nil, .list, .glob: break
      }
    }
    var seen: Set<String> = []
    needs = needs.filter { seen.insert($0).inserted }
    return (needs, after.filter { seen.insert($0).inserted })
  }
}
