package import CompositeOperations
import SystemSupport

/// The end of a step, for the steps that depend on it.
enum FlowDependency: Sendable {
  /// The dependent step needs it, and it has succeeded.
  case succeeded(String, FlowStepState)
  /// The dependent step runs after it. The state is nil if it has not succeeded.
  case ended(String, FlowStepState?)
}

/// The error of a run that another process has cancelled.
struct FlowCancelledError: Error {}

// MARK: Running

extension FlowSession {
  /// Runs the steps that have to run, until another process asks for the end of the run.
  func outcome(in context: OperationContext) async -> Result<Void, any Error> {
    let isCancelled = Lock(false)
    let steps = Task { try await runSteps(in: context) }
    let watch = Task { [journal, run = checker.run] in
      try await journal.waitForCancellation(ofRun: run)
      isCancelled.withLock { $0 = true }
      steps.cancel()
    }
    defer { watch.cancel() }
    let result = await withTaskCancellationHandler {
      await steps.result
    } onCancel: {
      steps.cancel()
    }
    if case .failure = result, isCancelled.withLock(\.self) {
      return .failure(FlowCancelledError())
    }
    return result
  }

  private func runSteps(in context: OperationContext) async throws {
    let count = file.steps.count
    let settled = plan.count(\.isSettled)
    context.report(settled, of: count, unit: "steps")
    reporter.setProgress { context.report(settled + $0, of: count, unit: "steps") }
    // Fails if a step fails. The ends of all steps, also of those that did not begin, decide.
    var problem: (any Error)?
    do { _ = try await graph.perform(in: context) } catch { problem = error }
    try Task.checkCancellation()
    let ends = stepEnds.values
    let failed = ends.count { $0.state == .failed && !$0.isChild }
    if failed > 0 { throw FlowFailure.other("\(failed.counted("step")) failed") }
    // A signal reaches the commands before it cancels this task.
    if ends.contains(where: { $0.state == .cancelled }) { throw CancellationError() }
    // An error that no step explains.
    if let problem, !ends.contains(where: { $0.state == .skipped }) { throw problem }
  }
}

// MARK: The graph

extension FlowSession {
  /// The graph of the steps that have to run.
  private var graph: OperationGraph<Void> {
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
    for name in step.usedNames { states[name] = plan.state(of: name) }
    for dependency in dependencies {
      switch dependency {
      // A step with `same-as` also begins after what the other step needs.
      case .succeeded(let name, let state):
        if step.neededNames.contains(name) { states[name] = state }
      case .ended(let name, let state):
        // A step that failed may have changed anything. No success has a negative number.
        if step.usedNames.contains(name) {
          states[name] = state ?? FlowStepState(FlowMade(number: -1 - lastNumber))
        }
      }
    }
    return states
  }
}

extension FlowFile {
  /// The graph of the steps, for a diagram. It runs nothing.
  package var stepGraph: OperationGraph<Void> {
    OperationGraph(giving: Void.self) { [self] graph in
      addSteps(to: &graph) { _ in
        true
      } operation: { _, _ in
        SimpleOperation { FlowStepState(nil) }
      }
    }
  }

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
        }
        + after.compactMap { name in
          nodes[name].map { $0.outcome.map { FlowDependency.ended(name, try? $0.get()) } }
        }
      nodes[step.name] = graph.add(needingAll: dependencies, named: step.name) {
        operation(step, $0)
      }
    }
  }
}
