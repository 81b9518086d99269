extension Crew {
  /// Where one task is that takes children and runs them one after another.
  ///
  /// Small, because its copies and the frames of the children share the first kilobyte of the task's
  /// memory: what does not fit costs a kilobyte more for every child that waits.
  struct Puller {
    enum Stage {
      case pulling
      /// Others are to have the thread before it goes on.
      case yielding
      /// Somebody is telling of a cancellation, behind which the end of the child is to be told.
      case telling
      case over
      /// A child's end ends the run.
      case stopping
    }

    let lane: Int
    let number: UInt64
    var slice: Slice
    var pace: Pace
    var stage = Stage.pulling
    /// The child that runs, or -1.
    var child = -1
    /// What it keeps where somebody observes the children.
    var observed: Observed?

    init(_ number: UInt64, on lane: Int, in slice: Slice, at pace: Pace) {
      self.lane = lane
      self.number = number
      self.slice = slice
      self.pace = pace
    }
  }

  // MARK: Taking children

  /// Notes that the child which runs, if one does, has left a result, and takes the next one.
  ///
  /// - Returns: The index of a child, which is the caller's to run; nil if the puller takes no more
  ///   for now.
  @inline(__always) func next(
    _ puller: inout Puller, after disposal: Disposal?, in task: UnsafeCurrentTask
  ) -> Int? {
    // Asked once a child, for its end and for the beginning of the next: nobody's code runs in
    // between, unless the task is cancelled.
    let isCancelled = unsafe task.isCancelled
    if puller.child >= 0 {
      let isToStop =
        isCancelled
        ? board.endedLate(puller.child, disposal: disposal)
        : board.endedInResult(puller.child, disposal: disposal)
      childEnded(&puller, isToStop: isToStop)
    }
    return take(&puller, isCancelled: isCancelled)
  }

  /// The next child; nil if the puller takes no more for now.
  @inline(__always) func take(_ puller: inout Puller, isCancelled: Bool) -> Int? {
    guard puller.stage == .pulling else { return nil }
    guard !isCancelled, let child = board.take(for: puller.lane) else {
      puller.stage = .over
      return nil
    }
    puller.child = child
    return child
  }

  /// Notes that the child which runs has thrown.
  @inline(never) func childThrew(
    _ error: any Error, _ puller: inout Puller, in task: UnsafeCurrentTask
  ) {
    if isObserved {
      return unsafe endObserved(&puller, in: task) { .error(error, wasCancelled: $0) }
    }
    let wasCancelled = unsafe task.isCancelled
    childEnded(
      &puller, isToStop: board.ended(puller.child, with: error, wasCancelled: wasCancelled))
  }

  /// Goes on from a child whose end has been noted.
  @inline(__always) func childEnded(_ puller: inout Puller, isToStop: Bool) {
    puller.child = -1
    if isToStop { puller.stage = .stopping }
    if puller.pace.isTimeToLook() { lookAround(&puller) }
  }

  // MARK: Looking around

  private func lookAround(_ puller: inout Puller) {
    guard puller.stage == .pulling, !isLong || board.goesOn else { return }
    let each = puller.pace.look()
    if let each {
      if !isLong { hint.note(each) }
      if each > ExtraWorkers.worthwhile { startStandby() }
    }
    // On the lane's own stack it gives the thread back to the lane, which then looks further.
    let isOver = puller.slice.isOver || isReproducible
    if isOver, board.isOnStack(puller.number, of: puller.lane) {
      puller.stage = .over
    } else if isOver, board.goesOn {
      puller.stage = .yielding
    }
  }

  @inline(never) nonisolated(nonsending) func letOthersRun(_ puller: inout Puller) async {
    await Task.yield()
    puller.slice = Slice(isReproducible: isReproducible)
    puller.stage = .pulling
  }
}
