internal import ThreadSupport

/// Children of an observed run: each is a run that reports its own events.
extension ListSource {
  /// Runs the children that a puller takes. If the task is cancelled, reports that for the running
  /// child.
  static nonisolated(nonsending) func runObservedChildren(
    of puller: inout Puller<Self>, in task: UnsafeCurrentTask, by scheduler: Scheduler<Self>
  ) async {
    let observed = puller.sourceState.observed ?? Observed()
    puller.sourceState.observed = observed
    let relay = observed.relay
    await withTaskCancellationHandler {
      await unsafe runEach(of: &puller, in: task, by: scheduler, observed)
    } onCancel: {
      relay.taskWasCancelled()
    }
  }

  private static nonisolated(nonsending) func runEach(
    of puller: inout Puller<Self>, in task: UnsafeCurrentTask, by scheduler: Scheduler<Self>,
    _ observed: Observed
  ) async {
    while let child = unsafe take(
      &puller, isCancelled: task.isCancelled, from: scheduler.source.runState)
    {
      var completion = Completion<Void>.neverBegan
      if let context = unsafe begin(child, observed, in: task, by: scheduler) {
        do {
          let cleanup = try await scheduler.source.list.perform(child, in: context)
          completion = unsafe .value(
            (), cleanup: cleanup, wasCancelled: observed.markEnded(in: task))
        } catch {
          completion = unsafe .error(error, wasCancelled: observed.markEnded(in: task))
        }
      }
      // No thread reports the cancellation of a child after its end.
      if !observed.relay.stopWatching() { await observed.relay.waitUntilReported() }
      ended(child, in: completion, observed, of: &puller, by: scheduler)
    }
  }

  /// Reports the start of the child.
  ///
  /// - Returns: The context for its body; nil if the body must not start.
  private static func begin(
    _ child: Int, _ observed: Observed, in task: UnsafeCurrentTask, by scheduler: Scheduler<Self>
  ) -> OperationContext? {
    // One reading of the clock, because only observers run between the three events.
    let time = EventTime.now
    let context = scheduler.context
    let scope = scheduler.source.list.childScope(
      at: child, in: context, at: time, using: &observed.spare)
    scope.report(.created, step: .created, at: time)
    observed.begin(scope)
    if scope.begin(isTaskCancelled: unsafe task.isCancelled, at: time) {
      return OperationContext(ofBodyIn: scope, depth: context.depth)
    }
    return nil
  }

  /// Reports how a child ended, and records it.
  private static func ended(
    _ child: Int, in completion: Completion<Void>, _ observed: Observed,
    of puller: inout Puller<Self>, by scheduler: Scheduler<Self>
  ) {
    let runState = scheduler.source.runState
    let scope = observed.end()
    scope.reportEnd(completion) { scheduler.source.list.value(at: child) }
    observed.spare = scope
    completion.discardLateOutcome()
    let state = ChildState(of: completion)
    let isToStop: Bool
    if state == .result {
      runState.endedInResult(child, cleanup: completion.cleanup)
      isToStop = runState.stopsAfterResult(of: child)
    } else {
      isToStop = runState.ended(child, in: state, error: completion.error)
    }
    scheduler.childEnded(&puller, isToStop: isToStop)
  }
}

extension ChildList {
  /// Runs one child, in a context of its own.
  @inline(__always) fileprivate nonisolated(nonsending) func perform(
    _ child: Int, in context: OperationContext
  ) async throws -> Cleanup? {
    switch children {
    case .uniform(let type, _, _):
      var only: ListedOperation? = listed(at: child)
      var cleanup: Cleanup?
      try await type.performListed(in: context) { left in
        cleanup = left
        return only.take()
      }
      return cleanup
    case .mixed(let place):
      return try await unsafe place[child].perform(into: slot(at: child), in: context)
    }
  }
}

extension ListSource {
  /// The run of the observed child that a puller runs.
  final class Observed {
    let relay = CancellationRelay()
    private var scope: OperationScope?
    /// The scope of the child before, for the next one.
    var spare: OperationScope?

    func begin(_ scope: OperationScope) {
      self.scope = scope
      relay.watch(scope)
    }

    /// Decides the outcome of the child.
    ///
    /// - Returns: Whether it was cancelled before.
    func markEnded(in task: UnsafeCurrentTask) -> Bool {
      let isTaskCancelled = unsafe task.isCancelled
      return scope?.markEnded() == true || isTaskCancelled
    }

    func end() -> OperationScope {
      guard let scope = scope.take() else {
        preconditionFailure("end() was called without a running child")
      }
      return scope
    }
  }
}
