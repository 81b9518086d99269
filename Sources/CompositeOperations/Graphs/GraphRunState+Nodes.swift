/// The nodes of a graph as the source of the children of a run.
///
/// A puller runs a node, then a dependent that has become ready, and so on. If there is none, it
/// takes a node from the queue. Workers wait while no node is ready.
extension GraphRunState {
  struct PullerState {
    /// The running node.
    fileprivate var node = -1
    /// A node that has become ready, for this puller; -1 if there is none.
    fileprivate var next = -1
    /// How many nodes have ended since that was last counted.
    fileprivate var finished = 0
  }

  static var hasWaitingWorkers: Bool { true }
  static var longestStride: Int32 { SamplingInterval.mixedStride }

  var run: ScheduledRun { self }
  var isLong: Bool { plan.count >= 256 }
  var hintedType: Any.Type? { plan.nodes.first.map { type(of: $0.work) } }
  var mayHaveWork: Bool { !isOver && !isStopped }
  var hasWorkForAnother: Bool { isLaneFree && places.isFree && queue.hasReady }
  var hasWorkForHelper: Bool { hasWorkForAnother }

  // Nodes may become ready at any time.
  var needsStandby: Bool { isLaneFree }

  nonisolated(nonsending) func waitForWork() async -> Readiness {
    await queue.waitForReady(ifPlaced: { places.isFree })
  }

  func wakeWorker() { queue.wakeOne(ifReady: true) }

  func pullerState() -> PullerState { PullerState() }

  func end(_ state: inout PullerState) { finished(state.finished) }

  /// Runs the nodes, and returns when all that began have ended.
  nonisolated(nonsending) func run(in context: OperationContext) async {
    await withTaskCancellationHandler {
      await Scheduler(self, in: context).runChildren()
    } onCancel: {
      cancel()
    }
  }

  @inline(never) static nonisolated(nonsending) func runChildren(
    of puller: inout Puller<GraphRunState>, in task: UnsafeCurrentTask,
    by scheduler: Scheduler<GraphRunState>
  ) async throws {
    let run = scheduler.source
    while let node = run.take(&puller, isCancelled: unsafe task.isCancelled) {
      let isToStop: Bool
      if run.isObserved {
        isToStop = await run.runObserved(node, in: scheduler.context)
      } else {
        let cleanup = try await run.plan.nodes[node].body(run, node, scheduler.context)
        if unsafe task.isCancelled {
          isToStop = run.endedLate(node, cleanup: cleanup)
        } else {
          run.endedInResult(node, cleanup: cleanup)
          isToStop = false
        }
      }
      run.ended(&puller, isToStop: isToStop, by: scheduler)
    }
  }

  /// Runs an observed node, which reports its own events.
  ///
  /// - Returns: Whether the run must stop.
  @inline(never) private nonisolated(nonsending) func runObserved(
    _ node: Int, in context: OperationContext
  ) async -> Bool {
    do {
      // The body records how the node ended.
      _ = try await plan.nodes[node].body(self, node, context)
      return isStopping(state(of: node), of: node)
    } catch {
      // The operation could not be created.
      let work = plan.nodes[node].work
      return ended(
        node, in: await work.completeUnmade(with: error, into: slot(of: node), in: context))
    }
  }

  @inline(never) static func childThrew(
    _ error: any Error, of puller: inout Puller<GraphRunState>, in task: UnsafeCurrentTask,
    by scheduler: Scheduler<GraphRunState>
  ) {
    let run = scheduler.source
    let wasCancelled = unsafe task.isCancelled
    let isToStop = run.ended(puller.sourceState.node, with: error, wasCancelled: wasCancelled)
    run.ended(&puller, isToStop: isToStop, by: scheduler)
  }

  /// Takes the next node and returns it; nil if the puller takes no more for now.
  @inline(__always) private func take(
    _ puller: inout Puller<GraphRunState>, isCancelled: Bool
  ) -> Int? {
    guard puller.stage == .pulling else { return nil }
    var node = puller.sourceState.next
    if isStopped || isCancelled {
      leaveNext(of: &puller)
      node = -1
    } else if node < 0, let queued = queue.take() {
      node = queued
      // Each woken worker wakes the next one before it runs a node.
      if puller.sourceState.node < 0 { wakeWorker() }
    }
    puller.sourceState.next = -1
    puller.sourceState.node = node
    if node >= 0 { return node }
    puller.stage = .over
    return nil
  }

  /// Continues after a node whose end has been recorded: releases its dependents.
  @inline(__always) private func ended(
    _ puller: inout Puller<GraphRunState>, isToStop: Bool, by scheduler: Scheduler<GraphRunState>
  ) {
    if !isToStop {
      puller.sourceState.next = release(
        behind: puller.sourceState.node, finished: &puller.sourceState.finished)
    }
    scheduler.childEnded(&puller, isToStop: isToStop)
    if puller.stage != .pulling { leaveNext(of: &puller) }
  }

  /// Leaves the node that has become ready to other pullers.
  private func leaveNext(of puller: inout Puller<GraphRunState>) {
    guard puller.sourceState.next >= 0 else { return }
    queue.add(puller.sourceState.next)
    puller.sourceState.next = -1
    queue.wakeOne()
  }
}
