/// One evaluation of the conditions of an operation.
///
/// Each condition that may wait is evaluated in a separate task. The evaluation ends as soon as the
/// verdict is certain or the run is cancelled. Conditions that have no verdict by then are
/// abandoned: they are cancelled, and an event of the run reports their end.
final class ConditionEvaluation: Sendable {
  private let plan: ConditionPlan
  private let machine: Lock<StateMachine>
  private let context: OperationContext
  /// Whether the conditions begin on the thread of the run. That is four times as fast as waking
  /// another thread. Several conditions are evaluated concurrently even if they compute.
  private let isImmediate: Bool

  private init(_ plan: ConditionPlan, _ verdicts: ConditionVerdicts, in context: OperationContext) {
    self.plan = plan
    let count = plan.suspending.count { verdicts.matters($0) }
    isImmediate = count == 1 && !context.isTooDeep
    self.context = isImmediate ? context.oneDeeper : context.onFreshStack
    machine = Lock(StateMachine(verdicts, count: plan.nodes.count))
  }

  /// Evaluates the conditions of a plan that matter and may wait, until the verdict is certain.
  static func verdicts(
    of plan: ConditionPlan, after verdicts: ConditionVerdicts, in context: OperationContext
  ) async -> ConditionVerdicts {
    let evaluation = ConditionEvaluation(plan, verdicts, in: context)
    await withTaskCancellationHandler {
      await withTaskPriorityEscalationHandler {
        evaluation.start(verdicts)
        await evaluation.wait()
      } onPriorityEscalated: { _, priority in
        for task in evaluation.tasks { task.escalatePriority(to: priority) }
      }
    } onCancel: {
      evaluation.cancel()
    }
    return evaluation.machine.withLock { $0.verdicts }
  }

  private func start(_ verdicts: ConditionVerdicts) {
    for index in plan.suspending where verdicts.matters(index) {
      let node = plan.nodes[index]
      guard case .operation(let operation) = node.kind else { continue }
      let question = ConditionQuestion(
        operationName: node.name, operation: operation, evaluation: self, index: index)
      let task = LinkedTask<Void, Never>()
      guard machine.withLock({ $0.starts(index, task) }) else { continue }
      task.start(on: Task.preferredExecutor, isImmediate: isImmediate) { [self] in
        guard machine.withLock({ $0.began(index) }) else { return }
        ended(index, await context.complete(question).outcome)
      }
    }
  }

  private func wait() async {
    await withCheckedContinuation { waiter in
      machine.withLock { $0.waited(waiter) }?.resume()
    }
  }

  /// Ends the evaluation without a verdict, and cancels the conditions.
  private func cancel() {
    let (tasks, waiter) = machine.withLock { $0.left() }
    // First, because the conditions' cancellation handlers may block.
    waiter?.resume()
    // On this thread, because the run may get no thread as long as the conditions compute.
    cancel(tasks)
  }

  private var tasks: [LinkedTask<Void, Never>] { machine.withLock { $0.tasks } }

  fileprivate func created(_ index: Int) { machine.withLock { $0.created(index) }?.resume() }

  private func ended(_ index: Int, _ outcome: Outcome<Verdict>) {
    // A run that was cancelled at its creation has no body.
    created(index)
    let verdict = Verdict(outcome, of: plan.nodes[index].name)
    switch machine.withLock({ $0.ended(index, verdict) }) {
    case .stop(let tasks, let waiter):
      waiter?.resume()
      cancel(tasks)
    case .report:
      context.scope?.report(.abandonedBodyEnded(outcome.map { $0.isProceed as any Sendable }))
      outcome.error?.discardCarriedValues()
    }
  }

  private func cancel(_ tasks: [LinkedTask<Void, Never>]) {
    CancellationReports.deferring {
      for task in tasks { NestedCalls.make(.cancel) { task.cancel() } }
    }
  }
}

/// Evaluates one condition in a separate run.
private struct ConditionQuestion: ComposableOperation {
  let operationName: String
  let operation: any ComposableOperation<Bool>
  let evaluation: ConditionEvaluation
  let index: Int

  func perform(in context: OperationContext) async throws -> Verdict {
    evaluation.created(index)
    let verdict = await verdict(of: operation, in: context)
    if case .fail(let error) = verdict { throw error }
    return verdict
  }

  private func verdict(
    of operation: some ComposableOperation<Bool>, in context: OperationContext
  ) async -> Verdict {
    do {
      return Verdict(try await operation.perform(in: context), of: operationName)
    } catch {
      return Verdict(throwing: error, of: operationName)
    }
  }
}
