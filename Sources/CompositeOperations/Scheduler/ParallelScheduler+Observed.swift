internal import SystemSupport

/// Children of an observed run: each is a run that reports its own events.
extension ParallelScheduler {
  /// Runs children. If the task is cancelled, reports that for the running child.
  nonisolated(nonsending) func pullObserved(_ puller: Puller) async throws {
    let observed = Observed()
    let watch = observed.watch
    var puller = puller
    puller.observed = observed
    try await withTaskCancellationHandler {
      try await pull(puller)
    } onCancel: {
      watch.taskWasCancelled()
    }
  }

  /// Runs the children that a puller takes, until it takes no more or a child throws.
  nonisolated(nonsending) func runObservedChildren(
    of puller: inout Puller, in task: UnsafeCurrentTask
  ) async throws {
    while let index = take(&puller, isCancelled: unsafe task.isCancelled) {
      guard let context = unsafe beginObserved(&puller, in: task) else { return }
      var cleanup: Cleanup?
      switch list.children {
      case .uniform(let type, _, _):
        // A list of one child, because each child has its own context.
        var only: ListedOperation? = list.listed(at: index)
        try await type.performListed(in: context) { left in
          cleanup = left
          return only.take()
        }
      case .mixed(let place):
        cleanup = try await unsafe place[index].perform(into: list.slot(at: index), in: context)
      }
      unsafe endObserved(&puller, in: task) { .value((), cleanup: cleanup, wasCancelled: $0) }
    }
  }

  /// Reports the start of the child.
  ///
  /// - Returns: The context for its body; nil if the body must not start.
  private func beginObserved(
    _ puller: inout Puller, in task: UnsafeCurrentTask
  ) -> OperationContext? {
    // One reading of the clock, because only observers run between the three events.
    let time = EventTime.now
    let scope = list.childScope(at: puller.child, in: context, at: time)
    scope.report(.created, step: .created, at: time)
    puller.attended.begin(scope)
    if scope.begin(isTaskCancelled: unsafe task.isCancelled, at: time) {
      return OperationContext(ofBodyIn: scope, depth: context.depth)
    }
    tellEnd(.neverBegan, of: &puller)
    return nil
  }

  /// Decides how the running child ended, and reports it.
  ///
  /// - Parameter completion: Returns the completion of a child that was cancelled, or was not.
  @inline(never) func endObserved(
    _ puller: inout Puller, in task: UnsafeCurrentTask,
    _ completion: (_ wasCancelled: Bool) -> Completion<Void>
  ) {
    let isTaskCancelled = unsafe task.isCancelled
    let wasCancelled = puller.attended.markEnded() || isTaskCancelled
    tellEnd(completion(wasCancelled), of: &puller)
  }

  private func tellEnd(_ completion: Completion<Void>, of puller: inout Puller) {
    puller.attended.completion = completion
    if puller.attended.watch.letGo() { tellEnd(of: &puller) } else { puller.stage = .telling }
  }

  @inline(never) nonisolated(nonsending) func tellEndBehindCancellation(
    of puller: inout Puller
  ) async {
    await puller.attended.watch.waitUntilTold()
    tellEnd(of: &puller)
  }

  /// Reports how the child ended, and records it. No thread reports its cancellation any more.
  private func tellEnd(of puller: inout Puller) {
    let (scope, completion) = puller.attended.end()
    let child = puller.child
    scope.reportEnd(completion) { list.value(at: child) }
    completion.discardLateOutcome()
    puller.stage = .pulling
    childEnded(&puller, isToStop: note(completion, of: child))
  }

  /// Records how a child ended.
  ///
  /// - Returns: Whether the run must stop.
  private func note(_ completion: Completion<Void>, of child: Int) -> Bool {
    let state = ChildState(of: completion)
    return state == .result
      ? runState.endedInResult(child, cleanup: completion.cleanup)
      : runState.ended(child, in: state, error: completion.error)
  }
}

extension ParallelScheduler {
  /// The state of the observed child that a puller runs.
  final class Observed {
    let watch = CancellationRelay()
    private var scope: OperationScope?
    /// How the child ended, until that has been reported.
    var completion: Completion<Void>?

    func begin(_ scope: OperationScope) {
      self.scope = scope
      watch.watch(scope)
    }

    /// Decides the outcome of the child.
    ///
    /// - Returns: Whether the run's handle cancelled it before.
    func markEnded() -> Bool { scope?.markEnded() == true }

    func end() -> (OperationScope, Completion<Void>) {
      guard let scope = scope.take(), let completion = completion.take() else {
        preconditionFailure("end() was called without a running child and its completion")
      }
      return (scope, completion)
    }
  }
}

extension ParallelScheduler.Puller {
  fileprivate var attended: ParallelScheduler.Observed {
    guard let observed else { preconditionFailure("the run has no observers") }
    return observed
  }
}
