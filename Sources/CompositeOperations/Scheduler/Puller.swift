extension ParallelScheduler {
  /// The state of a task that takes children and runs them one after another.
  ///
  /// Small, because its copies and the frames of the children share the first kilobyte of the
  /// task's memory. If they do not fit, every child that suspends takes another kilobyte.
  struct Puller {
    enum Stage {
      case pulling
      /// The task yields its thread before it continues.
      case yielding
      /// A thread is reporting the cancellation of the child. The end of the child is reported
      /// after it.
      case telling
      case over
      /// The end of a child stops the run.
      case stopping
    }

    let lane: Int
    let number: UInt64
    var slice: TimeSlice
    var pace: SamplingInterval
    var stage = Stage.pulling
    /// The running child, or -1.
    var child = -1
    /// The state of the observed child; nil if the run has no observers.
    var observed: Observed?

    init(_ number: UInt64, on lane: Int, in slice: TimeSlice, at pace: SamplingInterval) {
      self.lane = lane
      self.number = number
      self.slice = slice
      self.pace = pace
    }
  }

  // MARK: Taking children

  /// Records the result of the running child, if there is one, and takes the next child.
  ///
  /// - Returns: The index of the child, for the caller to run; nil if the puller takes no more now.
  @inline(__always) func next(
    _ puller: inout Puller, after cleanup: Cleanup?, in task: UnsafeCurrentTask
  ) -> Int? {
    // Read once per child, for its end and for the start of the next one: no user code runs in
    // between, unless the task is cancelled.
    let isCancelled = unsafe task.isCancelled
    if puller.child >= 0 {
      let isToStop =
        isCancelled
        ? runState.endedLate(puller.child, cleanup: cleanup)
        : runState.endedInResult(puller.child, cleanup: cleanup)
      childEnded(&puller, isToStop: isToStop)
    }
    return take(&puller, isCancelled: isCancelled)
  }

  /// Takes the next child and returns its index; nil if the puller takes no more for now.
  @inline(__always) func take(_ puller: inout Puller, isCancelled: Bool) -> Int? {
    guard puller.stage == .pulling else { return nil }
    guard !isCancelled, let child = runState.take(for: puller.lane) else {
      puller.stage = .over
      return nil
    }
    puller.child = child
    return child
  }

  /// Records the error that the running child has thrown.
  @inline(never) func childThrew(
    _ error: any Error, _ puller: inout Puller, in task: UnsafeCurrentTask
  ) {
    if isObserved {
      return unsafe endObserved(&puller, in: task) { .error(error, wasCancelled: $0) }
    }
    let wasCancelled = unsafe task.isCancelled
    childEnded(
      &puller, isToStop: runState.ended(puller.child, with: error, wasCancelled: wasCancelled))
  }

  /// Continues after a child whose end has been recorded.
  @inline(__always) func childEnded(_ puller: inout Puller, isToStop: Bool) {
    puller.child = -1
    if isToStop { puller.stage = .stopping }
    if puller.pace.isTimeToLook() { lookAround(&puller) }
  }

  // MARK: Measuring durations

  private func lookAround(_ puller: inout Puller) {
    guard puller.stage == .pulling, !isLong || runState.goesOn else { return }
    let each = puller.pace.look()
    if let each {
      if !isLong { hint.note(each) }
      if each > ExtraWorkers.worthwhile { startStandby() }
    }
    // A puller on the lane's stack returns the thread to the lane, which then yields or continues.
    let isOver = puller.slice.isOver || isReproducible
    if isOver, runState.isOnStack(puller.number, of: puller.lane) {
      puller.stage = .over
    } else if isOver, runState.goesOn {
      puller.stage = .yielding
    }
  }

  @inline(never) nonisolated(nonsending) func letOthersRun(_ puller: inout Puller) async {
    await Task.yield()
    puller.slice = TimeSlice(isReproducible: isReproducible)
    puller.stage = .pulling
  }
}
