extension Crew {
  /// Where one task is that takes children and runs them one after another.
  struct Puller {
    enum Stage {
      case pulling
      /// Others are to have the thread before it goes on.
      case yielding
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

    init(_ number: UInt64, on lane: Int, in slice: Slice, at pace: Pace) {
      self.lane = lane
      self.number = number
      self.slice = slice
      self.pace = pace
    }
  }

  // MARK: Taking children

  /// The next child, which is the caller's to run; nil if the puller takes no more for now.
  func take(_ puller: inout Puller, in task: UnsafeCurrentTask) -> Int? {
    puller.child = -1
    if puller.stage == .pulling {
      if unsafe !task.isCancelled, let child = board.take(for: puller.lane) {
        puller.child = child
        return child
      }
      puller.stage = .over
    }
    return nil
  }

  /// Notes that the child which runs, if one does, has left a result, and takes the next one.
  @inline(__always) func next(
    _ puller: inout Puller, after disposal: Disposal?, in task: UnsafeCurrentTask
  ) -> Int? {
    let ended = puller.child
    if ended < 0 { return unsafe take(&puller, in: task) }
    puller.child = -1
    // Asked once a child, for its end and for the beginning of the next.
    if unsafe task.isCancelled {
      puller.stage = board.endedLate(ended, disposal: disposal) ? .stopping : .over
      return nil
    }
    if board.endedInResult(ended, disposal: disposal) { puller.stage = .stopping }
    if puller.pace.isTimeToLook() { lookAround(&puller) }
    if puller.stage == .pulling {
      if let child = board.take(for: puller.lane) {
        puller.child = child
        return child
      }
      puller.stage = .over
    }
    return nil
  }

  /// Notes how the child that runs ended where it left no result.
  func childThrew(_ error: any Error, _ puller: inout Puller, in task: UnsafeCurrentTask) {
    let wasCancelled = unsafe task.isCancelled
    childEnded(
      &puller, isToStop: board.ended(puller.child, with: error, wasCancelled: wasCancelled))
  }

  /// Goes on from a child whose end has been noted.
  func childEnded(_ puller: inout Puller, isToStop: Bool) {
    puller.child = -1
    if isToStop { puller.stage = .stopping }
    if puller.pace.isTimeToLook() { lookAround(&puller) }
  }

  // MARK: Looking around

  private func lookAround(_ puller: inout Puller) {
    guard puller.stage == .pulling, !isLong || board.goesOn else { return }
    let each = puller.pace.look()
    if let each, !isLong { Helpers.note(each) }
    // On the lane's own stack it gives the thread back to the lane, which then looks further.
    let isOver = puller.slice.isOver || isReproducible
    if board.isOnStack(puller.number, of: puller.lane) {
      if isOver || isHelperWelcome(in: puller.slice) { puller.stage = .over }
    } else if isOver, board.goesOn {
      puller.stage = .yielding
    }
  }

  /// Others have had the thread.
  func beginSlice(_ puller: inout Puller) {
    puller.slice = Slice(isReproducible: isReproducible)
    puller.stage = .pulling
  }
}
