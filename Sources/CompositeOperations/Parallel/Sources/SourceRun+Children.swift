internal import Synchronization

extension SourceRun {
  /// A child that a puller runs, and the place for its result.
  struct Begun: Sendable {
    let child: any ComposableOperation
    let index: Int
    let place: SlotBlocks.Place
    /// Discards the result, if the child has ended in one.
    var cleanup: Cleanup?
  }

  /// What a puller does after the end of its child.
  enum Action {
    case proceed
    /// It has left its place with the result to another puller.
    case proceedInNewPlace
    /// It consumes the result.
    case consume
    case stop
  }

  @safe struct PullerState {
    // Not in the frame of the puller: with it, the frames of most children would not fit into the
    // first kilobyte of the task's memory, and each child would take another kilobyte.
    fileprivate nonisolated(unsafe) let begun: UnsafeMutablePointer<Begun>
    /// The puller's own place for results, if they are consumed.
    fileprivate var place: SlotBlocks.Place?
  }

  func pullerState() -> PullerState { unsafe PullerState(begun: .allocate(capacity: 1)) }

  func end(_ state: inout PullerState) {
    if let place = state.place { results.consumption?.leave(place) }
    unsafe state.begun.deallocate()
  }

  @inline(never) static nonisolated(nonsending) func runChildren(
    of puller: inout Puller<SourceRun>, in task: UnsafeCurrentTask,
    by scheduler: Scheduler<SourceRun>
  ) async throws {
    let run = scheduler.source
    let begun = unsafe puller.sourceState.begun
    while puller.stage == .pulling {
      // Not in a function with more frames below it: a slab that a task has needed once stays.
      if let consumption = run.results.consumption, puller.sourceState.place == nil {
        puller.sourceState.place = await consumption.takePlace()
      }
      if let isBegun = unsafe run.beginNow(&puller, as: task) {
        if !isBegun { return }
      } else if await unsafe !run.beginLater(&puller, as: task) {
        return
      }
      let action: Action
      if run.isObserved {
        action = await unsafe run.runObserved(begun, in: scheduler.context)
      } else {
        unsafe begun.pointee.cleanup = try await unsafe begun.pointee.child.perform(
          into: begun.pointee.place.slot, in: scheduler.context)
        action = unsafe task.isCancelled ? run.lostLate(begun.pointee) : run.gained(begun)
      }
      if action == .consume {
        await unsafe run.consume(&puller, as: task, by: scheduler)
      } else {
        run.ended(&puller, action, by: scheduler)
      }
    }
  }

  @inline(never) static func childThrew(
    _ error: any Error, of puller: inout Puller<SourceRun>, in task: UnsafeCurrentTask,
    by scheduler: Scheduler<SourceRun>
  ) {
    let run = scheduler.source
    let action = unsafe run.lost(
      puller.sourceState.begun.pointee, with: error, wasCancelled: task.isCancelled)
    run.ended(&puller, action, by: scheduler)
  }

  /// Continues after a child whose result is not consumed by this puller.
  private func ended(
    _ puller: inout Puller<SourceRun>, _ action: Action, by scheduler: Scheduler<SourceRun>
  ) {
    unsafe puller.sourceState.begun.deinitialize(count: 1)
    if action == .proceedInNewPlace { puller.sourceState.place = nil }
    scheduler.childEnded(&puller, isToStop: action == .stop)
  }

  // MARK: Taking children

  /// Takes the next child, if that needs no wait.
  ///
  /// - Returns: Whether there is one. If not, the puller takes no more for now. If nil, call
  ///   ``beginLater(_:as:)``.
  // Not inlined, as other functions here: their temporaries would be in the frame of the puller.
  @inline(never) private func beginNow(
    _ puller: inout Puller<SourceRun>, as task: UnsafeCurrentTask
  ) -> Bool? {
    let (begun, place) = unsafe (puller.sourceState.begun, puller.sourceState.place)
    let isBegun = children.takeNow(
      ifWanted: { unsafe isWanted(by: task) }, take: { unsafe begin($0, at: begun, place) })
    if isBegun == false { puller.stage = stageAfterLast }
    return isBegun
  }

  /// Waits for the next child, and takes it.
  ///
  /// - Returns: Whether there is one. If not, the puller takes no more for now.
  @inline(never) private nonisolated(nonsending) func beginLater(
    _ puller: inout Puller<SourceRun>, as task: UnsafeCurrentTask
  ) async -> Bool {
    let (begun, place) = unsafe (puller.sourceState.begun, puller.sourceState.place)
    var isBegun = false
    do {
      isBegun = try await children.next(
        ifWanted: { unsafe isWanted(by: task) }, take: { unsafe begin($0, at: begun, place) })
    } catch {
      // The task was cancelled, from outside or by a sibling, and the source only reacted to that.
      if unsafe task.isCancelled {
        isCutShort.store(true, ordering: .relaxed)
      } else {
        sourceError.withLock { $0 = error }
        if goal == .everyResult { stop() }
      }
    }
    // The wait is not part of the duration of a child. It may not have suspended, so it is part of
    // the time slice.
    puller.pace.restart()
    if !isBegun { puller.stage = stageAfterLast }
    return isBegun
  }

  private var stageAfterLast: Puller<SourceRun>.Stage {
    goal == .everyResult && isStopped ? .stopping : .over
  }

  private func isWanted(by task: UnsafeCurrentTask) -> Bool {
    unsafe !isStopped && !task.isCancelled
  }

  private func begin(
    _ child: any ComposableOperation, at place: UnsafeMutablePointer<Begun>,
    _ own: SlotBlocks.Place?
  ) {
    let index = begun.wrappingAdd(1, ordering: .relaxed).oldValue
    let slot: SlotBlocks.Place
    switch results {
    case .kept(let blocks): slot = blocks.add()
    case .consumed:
      guard let own else { preconditionFailure("the puller has no place for its results") }
      slot = own
    }
    unsafe place.initialize(to: Begun(child: child, index: index, place: slot))
  }

  // MARK: Ends of children

  /// Runs an observed child, which reports its own events, and records how it ended.
  @inline(never) nonisolated(nonsending) func runObserved(
    _ place: UnsafeMutablePointer<Begun>, in context: OperationContext
  ) async -> Action {
    let completion = await unsafe place.pointee.child.completeAsChild(
      into: place.pointee.place.slot, in: context)
    let state = ChildState(of: completion)
    if state != .result { return unsafe lost(place.pointee, in: state, completion.error) }
    unsafe place.pointee.cleanup = completion.cleanup
    return unsafe gained(place)
  }

  /// Records a result that came in time.
  @inline(never) func gained(_ place: UnsafeMutablePointer<Begun>) -> Action {
    guard let consumption = results.consumption else {
      unsafe place.pointee.place.note(.result)
      if let cleanup = unsafe place.pointee.cleanup {
        hold(cleanup, for: unsafe place.pointee.index)
      }
      children.childEnded?()
      return .proceed
    }
    return unsafe consumption.add(place.pointee) ? .consume : .proceedInNewPlace
  }

  /// Records a result that came after the cancellation, and discards it.
  @inline(never) func lostLate(_ begun: Begun) -> Action {
    begun.cleanup?()
    return lost(begun, in: .lateResult)
  }

  @inline(never) func lost(_ begun: Begun, with error: any Error, wasCancelled: Bool) -> Action {
    let state = ChildState(endedBy: error, wasCancelled: wasCancelled)
    return lost(begun, in: state, state == .error ? error : nil)
  }

  private func lost(_ begun: Begun, in state: ChildState, _ error: (any Error)? = nil) -> Action {
    begun.place.note(state)
    if state.hasValue { results.consumption?.drop(begun.place.slot) }
    recordLoss(
      Loss(index: begun.index, state: state, error: error, name: begun.child.operationName))
    children.childEnded?()
    return stopsAfter(begun.index, in: state) ? .stop : .proceed
  }
}

// MARK: - Consuming results

extension SourceRun {
  /// Consumes the result of a puller, and then those that other pullers have left to it.
  ///
  /// The puller's own place is free as soon as its result has been consumed. If there is another
  /// result, the puller frees it and gets the place of that result.
  @inline(never) private nonisolated(nonsending) func consume(
    _ puller: inout Puller<SourceRun>, as task: UnsafeCurrentTask,
    by scheduler: Scheduler<SourceRun>
  ) async {
    guard let consumption = results.consumption else {
      preconditionFailure("the results are kept")
    }
    let begun = unsafe puller.sourceState.begun
    var isToStop = await unsafe consume(at: begun, by: consumption, as: task) == .stop
    scheduler.childEnded(&puller, isToStop: isToStop)
    while unsafe consumption.next(at: begun) {
      if let place = puller.sourceState.place { consumption.leave(place) }
      puller.sourceState.place = unsafe begun.pointee.place
      // The puller cannot end before it has consumed the results that were left to it.
      if puller.stage == .yielding || puller.stage == .over {
        await scheduler.letOthersRun(&puller)
      }
      let next =
        if unsafe task.isCancelled, !isStopped, !isCancelled {
          // The consumer has cancelled its own task. That does not concern the other results.
          await consumeElsewhere(unsafe begun.move(), by: consumption)
        } else {
          await unsafe consume(at: begun, by: consumption, as: task)
        }
      if next == .stop { isToStop = true }
      scheduler.childEnded(&puller, isToStop: isToStop)
    }
  }

  @inline(__always) private nonisolated(nonsending) func consume(
    at place: UnsafeMutablePointer<Begun>, by consumption: Consumption, as task: UnsafeCurrentTask
  ) async -> Action {
    defer { unsafe place.deinitialize(count: 1) }
    if unsafe !isWanted(by: task) { return unsafe lostLate(place.pointee) }
    do {
      try await unsafe consumption.consume(place.pointee.place.slot)
      children.childEnded?()
      return .proceed
    } catch {
      return unsafe lost(place.pointee, with: error, wasCancelled: task.isCancelled)
    }
  }

  /// Consumes a result in a task that is cancelled only with the run.
  private nonisolated(nonsending) func consumeElsewhere(
    _ begun: Begun, by consumption: Consumption
  ) async -> Action {
    await runInSubstitute { [self] in
      let place = UnsafeMutablePointer<Begun>.allocate(capacity: 1)
      defer { unsafe place.deallocate() }
      unsafe place.initialize(to: begun)
      return await unsafe consume(at: place, by: consumption, as: UnsafeCurrentTask.own)
    }
  }
}
