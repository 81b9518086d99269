/// Children of a run that somebody observes: each is a run that tells of itself.
extension Crew {
  /// Runs children, and tells the one that runs when the task is cancelled.
  nonisolated(nonsending) func pullObserved(_ puller: inout Puller) async throws {
    let watch = Watch()
    puller.watch = watch
    try await withTaskCancellationHandler {
      try await pull(&puller)
    } onCancel: {
      watch.taskWasCancelled()
    }
  }

  /// Runs the children that a puller takes, until it takes no more or one of them throws.
  nonisolated(nonsending) func runObservedChildren(
    of puller: inout Puller, in task: UnsafeCurrentTask
  ) async throws {
    while let index = take(&puller, isCancelled: unsafe task.isCancelled) {
      guard let context = unsafe beginObserved(&puller, in: task) else { return }
      var disposal: Disposal?
      switch list.children {
      case .uniform(let type, _, _):
        var next: ListedOperation? = list.listed(at: index)
        try await type.performListed(in: context) { ended in
          defer { next = nil }
          disposal = ended
          return next
        }
      case .mixed(let place):
        disposal = try await unsafe place[index].perform(into: list.slot(at: index), in: context)
      }
      unsafe endObserved(&puller, in: task) { .value(disposal: disposal, wasCancelled: $0) }
    }
  }

  /// Tells that the child begins.
  ///
  /// - Returns: What its body sees; nil if the body is not to begin.
  private func beginObserved(
    _ puller: inout Puller, in task: UnsafeCurrentTask
  ) -> OperationContext? {
    let scope = list.childScope(at: puller.child, in: context)
    puller.scope = scope
    scope.report(.created)
    puller.watch?.begin(scope)
    if scope.begins(isTaskCancelled: unsafe task.isCancelled) {
      return OperationContext(scope: scope, depth: context.depth)
    }
    end(&puller, .neverBegan)
    return nil
  }

  /// Decides how the child that runs ended.
  ///
  /// - Parameter ending: How it ended, cancelled or not.
  func endObserved(
    _ puller: inout Puller, in task: UnsafeCurrentTask, _ ending: (_ wasCancelled: Bool) -> Ending
  ) {
    guard let scope = puller.scope else { return }
    let isTaskCancelled = unsafe task.isCancelled
    end(&puller, ending(scope.decideEnd() || isTaskCancelled))
  }

  private func end(_ puller: inout Puller, _ ending: Ending) {
    puller.untold = ending
    if puller.watch?.end() == true { tellEnd(&puller) } else { puller.stage = .telling }
  }

  /// Tells how the child ended, and notes it. Nobody tells of a cancellation any more.
  func tellEnd(_ puller: inout Puller) {
    guard let ending = puller.untold, let scope = puller.scope else { return }
    let child = puller.child
    scope.tell(ending) { list.value(at: child) }
    puller.untold = nil
    puller.scope = nil
    puller.stage = .pulling
    childEnded(&puller, isToStop: note(ending, of: child))
  }

  /// - Returns: Whether the run is to stop.
  private func note(_ ending: Ending, of child: Int) -> Bool {
    if let error = ending.error { return board.ended(child, in: .error, error: error) }
    if !ending.isCancelled { return board.endedInResult(child, disposal: ending.disposal) }
    // What came too late has been given up; a value still lies in its slot.
    if ending.hasLateValue { return board.endedLate(child, disposal: nil) }
    return board.ended(child, in: ending.wasCancelled ? .cancelledWithComposite : .cancelledItself)
  }
}

extension Crew {
  /// Tells the child that a puller runs of the cancellation of the puller's task: when it comes, but
  /// not when the child has told its end.
  final class Watch: Sendable {
    private enum State {
      case nobody
      case watching(OperationScope)
      case telling
    }

    private let state = Lock(State.nobody)
    private let told = Alarm()

    init() { told.branchBegan() }

    func begin(_ scope: OperationScope) { state.withLock { $0 = .watching(scope) } }

    /// - Returns: Whether the end can be told at once, and not only behind the cancellation.
    func end() -> Bool {
      state.withLock { state in
        if case .telling = state { return false }
        state = .nobody
        return true
      }
    }

    func taskWasCancelled() {
      let scope = state.withLock { state -> OperationScope? in
        guard case .watching(let scope) = state else { return nil }
        state = .telling
        return scope
      }
      guard let scope else { return }
      scope.reportCancellation()
      told.ring()
    }

    /// Waits until the cancellation has been told.
    nonisolated(nonsending) func waitUntilTold() async { await told.wait() }
  }
}
