package import CompositeOperations
import DurableOperations
import SystemSupport

/// A run of a flow in the journal of the engine. Its only step is the graph of the flow.
///
/// The flow file is not part of the state: a run can be resumed with a changed file.
package struct StoredFlowRun: DurableSequence {
  package static let flowName = "flow"

  let flow: String
  let number: Int
  /// The values of the flow.
  package let values: [String: String]
  /// See ``FlowSelection/text``.
  package let selection: String?
  /// The name that `--run` gave it.
  package let name: String?

  package mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    previous == nil ? FlowGraph() : nil
  }

  package func output(of steps: FinishedSteps) -> Int { steps.count }
}

/// The graph of a flow: an operation for each step that has to run.
struct FlowGraph: ComposableOperation {
  var operationName: String { FlowSession.current?.file.name ?? "flow" }

  func perform(in context: OperationContext) async throws {
    guard let session = FlowSession.current else {
      throw FlowFailure.other("a flow can only be run by coop flow run")
    }
    let count = session.file.steps.count
    let settled = session.plan.count(\.isSettled)
    context.report(settled, of: count, unit: "steps")
    session.reporter.setProgress { context.report(settled + $0, of: count, unit: "steps") }
    // Fails if a step fails. The ends of all steps, also of those that did not begin, decide.
    var problem: (any Error)?
    do { _ = try await session.graph.perform(in: context) } catch { problem = error }
    try Task.checkCancellation()
    let ends = session.stepEnds.values
    let failed = ends.count { $0.state == .failed && !$0.isChild }
    if failed > 0 { throw FlowFailure.other("\(failed.counted("step")) failed") }
    // A signal reaches the commands before it cancels this task.
    if ends.contains(where: { $0.state == .cancelled }) { throw CancellationError() }
    // An error that no step explains.
    if let problem, !ends.contains(where: { $0.state == .skipped }) { throw problem }
  }
}
