/// A list as the source of the children of a parallel run.
struct ListSource: WorkSource {
  let list: ChildList
  let runState: ListRunState
  let isObserved: Bool

  struct PullerState {
    /// The running child without observers, or -1.
    var child = -1
    /// A child of a mixed list that has been taken and does not run yet.
    var taken: Int?
    /// The state of the observed child; nil if the run has no observers.
    var observed: Observed?
  }

  var run: ScheduledRun { runState }
  var isLong: Bool { runState.count >= ListRunState.longCount }
  var hintedType: Any.Type? { list.firstType }
  var mayHaveWork: Bool { runState.mayHaveWork }

  var hasWorkForHelper: Bool { runState.isLaneFree && mayHaveWork && runState.left > 1 }
  var hasWorkForAnother: Bool { runState.isLaneFree && mayHaveWork }

  @inline(__always) nonisolated(nonsending) func waitForWork() async -> Readiness {
    mayHaveWork && runState.places.isFree ? .ready : .over
  }

  func pullerState() -> PullerState { PullerState() }

  func end(_ state: inout PullerState) {}

  // MARK: Running children

  // The functions that it calls are not inlined, and none calls another one: only one of them must
  // fit into the first kilobyte of the task's memory.
  @inline(__always) static nonisolated(nonsending) func runChildren(
    of puller: inout Puller<Self>, in task: UnsafeCurrentTask, by scheduler: Scheduler<Self>
  ) async throws {
    if scheduler.source.isObserved {
      await unsafe runObservedChildren(of: &puller, in: task, by: scheduler)
    } else if case .uniform(let type, _, _) = scheduler.source.list.children {
      try await unsafe runUniform(type, of: &puller, in: task, by: scheduler)
    } else if let type = unsafe typeOfRun(for: &puller, in: task, by: scheduler) {
      try await unsafe runChildrenOfOneType(type, of: &puller, in: task, by: scheduler)
    } else {
      try await unsafe runMixed(of: &puller, in: task, by: scheduler)
    }
  }

  @inline(never) private static nonisolated(nonsending) func runUniform(
    _ type: any ComposableOperation.Type, of puller: inout Puller<Self>,
    in task: UnsafeCurrentTask, by scheduler: Scheduler<Self>
  ) async throws {
    let runState = scheduler.source.runState
    try await type.performListed(in: scheduler.context) { cleanup in
      guard let index = unsafe next(&puller, after: cleanup, in: task, by: scheduler, runState)
      else {
        return nil
      }
      return scheduler.source.list.listed(at: index)
    }
  }

  /// Runs children of a mixed list.
  ///
  /// Returns after a number of them, to compare the types of the next two.
  @inline(never) private static nonisolated(nonsending) func runMixed(
    of puller: inout Puller<Self>, in task: UnsafeCurrentTask, by scheduler: Scheduler<Self>
  ) async throws {
    guard case .mixed(let place) = scheduler.source.list.children else { return }
    let runState = scheduler.source.runState
    var child = puller.sourceState.taken
    puller.sourceState.taken = nil
    while let index = child {
      puller.sourceState.child = index
      let slot = scheduler.source.list.slot(at: index)
      let cleanup = try await unsafe place[index].perform(into: slot, in: scheduler.context)
      child = unsafe next(&puller, after: cleanup, in: task, by: scheduler, runState)
      if let next = child, next % stride == 0 {
        puller.sourceState.child = -1
        puller.sourceState.taken = next
        return
      }
    }
  }

  /// The number of children of a mixed list after which the types of the next two are compared.
  private static var stride: Int { 64 }

  /// Takes a child of a mixed list, unless one has been taken.
  ///
  /// - Returns: Its type, if the next child has the same one.
  @inline(never) private static func typeOfRun(
    for puller: inout Puller<Self>, in task: UnsafeCurrentTask, by scheduler: Scheduler<Self>
  ) -> (any ComposableOperation.Type)? {
    let source = scheduler.source
    if puller.sourceState.taken == nil {
      puller.sourceState.taken = take(
        &puller, isCancelled: unsafe task.isCancelled, from: source.runState)
    }
    guard let first = puller.sourceState.taken,
      source.list.hasRunOfOneType(at: first, of: source.runState.count)
    else { return nil }
    return source.list.type(at: first)
  }

  /// Runs the child that has been taken, and further children of a mixed list as long as they have
  /// the same type.
  @inline(never) private static nonisolated(nonsending) func runChildrenOfOneType(
    _ type: any ComposableOperation.Type, of puller: inout Puller<Self>,
    in task: UnsafeCurrentTask, by scheduler: Scheduler<Self>
  ) async throws {
    guard let first = puller.sourceState.taken else { return }
    let runState = scheduler.source.runState
    try await type.performListed(in: scheduler.context) { cleanup in
      if puller.sourceState.taken != nil {
        puller.sourceState.taken = nil
        puller.sourceState.child = first
        return scheduler.source.list.listedInMixed(at: first)
      }
      guard let index = unsafe next(&puller, after: cleanup, in: task, by: scheduler, runState)
      else {
        return nil
      }
      if scheduler.source.list.haveOneType(first, index) {
        return scheduler.source.list.listedInMixed(at: index)
      }
      puller.sourceState.child = -1
      puller.sourceState.taken = index
      return nil
    }
  }

  /// Records the result of the running child, if there is one, and takes the next child.
  ///
  /// - Returns: The index of the child, for the caller to run; nil if the puller takes no more now.
  @inline(__always) private static func next(
    _ puller: inout Puller<Self>, after cleanup: Cleanup?, in task: UnsafeCurrentTask,
    by scheduler: Scheduler<Self>, _ runState: ListRunState
  ) -> Int? {
    // Read once per child, for its end and for the start of the next one: no user code runs in
    // between, unless the task is cancelled.
    let isCancelled = unsafe task.isCancelled
    let child = puller.sourceState.child
    if child >= 0 {
      puller.sourceState.child = -1
      let isToStop: Bool
      if isCancelled {
        isToStop = runState.endedLate(child, cleanup: cleanup)
      } else {
        runState.endedInResult(child, cleanup: cleanup)
        isToStop = runState.stopsAfterResult(of: child)
      }
      scheduler.childEnded(&puller, isToStop: isToStop)
    }
    let taken = take(&puller, isCancelled: isCancelled, from: runState)
    if let taken { puller.sourceState.child = taken }
    return taken
  }

  /// Takes the next child and returns its index; nil if the puller takes no more for now.
  @inline(__always) static func take(
    _ puller: inout Puller<Self>, isCancelled: Bool, from runState: ListRunState
  ) -> Int? {
    guard puller.stage == .pulling else { return nil }
    guard !isCancelled, let child = runState.take(for: puller.lane) else {
      puller.stage = .over
      return nil
    }
    return child
  }

  @inline(never) static func childThrew(
    _ error: any Error, of puller: inout Puller<Self>, in task: UnsafeCurrentTask,
    by scheduler: Scheduler<Self>
  ) {
    let child = puller.sourceState.child
    puller.sourceState.child = -1
    let wasCancelled = unsafe task.isCancelled
    let isToStop = scheduler.source.runState.ended(child, with: error, wasCancelled: wasCancelled)
    scheduler.childEnded(&puller, isToStop: isToStop)
  }
}

extension ListRunState {
  /// Runs the children and returns when all that began have ended.
  @usableFromInline nonisolated(nonsending) func run(
    _ list: ChildList, in context: OperationContext
  ) async {
    // Without children there are no lanes.
    if count == 0 { return }
    let isObserved = context.scope?.isObserved == true
    if isObserved, goal != .firstResult {
      context.expectChildren(weighing: list.weight(of: count))
    }
    let source = ListSource(list: list, runState: self, isObserved: isObserved)
    await Scheduler(source, in: context.oneDeeper).runChildren()
  }
}
