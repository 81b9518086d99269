/// The state of a task that takes children and runs them one after another.
///
/// Small, because its copies and the frames of the children share the first kilobyte of the task's
/// memory. If they do not fit, every child that suspends takes another kilobyte.
struct Puller<Source: WorkSource> {
  enum Stage {
    case pulling
    /// The task yields its thread before it continues.
    case yielding
    case over
    /// The end of a child stops the run.
    case stopping
  }

  let lane: Int
  /// Changes while the puller is on the lane's stack, so that the monitor sees that children end.
  var number: UInt64
  var slice: TimeSlice
  var pace: SamplingInterval
  var stage = Stage.pulling
  /// What the source keeps.
  var sourceState: Source.PullerState
}

extension Scheduler {
  /// Runs children one after another.
  ///
  /// Inlined, because another frame would not fit into the first kilobyte of the task's memory.
  @inline(__always) nonisolated(nonsending) func pull(
    _ puller: consuming Puller<Source>
  ) async throws {
    // An unretained reference, to check for cancellation. It is valid, because this task runs here.
    let task = unsafe UnsafeCurrentTask.own
    while puller.stage == .pulling {
      do {
        try await unsafe Source.runChildren(of: &puller, in: task, by: self)
      } catch {
        unsafe Source.childThrew(error, of: &puller, in: task, by: self)
      }
      if puller.stage == .yielding { await letOthersRun(&puller) }
    }
    source.end(&puller.sourceState)
    if puller.stage == .stopping { throw ScheduledRun.Stop() }
  }

  /// Continues after a child whose end has been recorded.
  @inline(__always) func childEnded(_ puller: inout Puller<Source>, isToStop: Bool) {
    if isToStop { puller.stage = .stopping }
    if puller.pace.isTimeToLook() { lookAround(&puller) }
  }

  private func lookAround(_ puller: inout Puller<Source>) {
    guard puller.stage == .pulling, source.mayHaveWork || hint != nil && !source.isLong else {
      return
    }
    var needsMonitor = false
    if let each = puller.pace.look(longest: Source.longestStride) {
      if !source.isLong { hint?.note(each) }
      let now = puller.pace.lastLook
      if ExtraWorkers.areWorthwhile(forChildrenOf: each, in: puller.slice, at: now) {
        source.wakeWorker()
        needsMonitor = !startStandby()
      }
    }
    if puller.slice.isOver(at: puller.pace.lastLook) || isReproducible {
      // On the stack of the lane, it returns the thread to the lane, which then yields.
      if run.endTurn(of: puller.number, on: puller.lane) {
        puller.stage = .over
      } else if source.mayHaveWork {
        puller.stage = .yielding
      }
    } else if !needsMonitor, let number = run.renumber(puller.number, on: puller.lane) {
      puller.number = number
    }
  }

  @inline(never) nonisolated(nonsending) func letOthersRun(
    _ puller: inout Puller<Source>
  ) async {
    await Task.yield()
    puller.slice = TimeSlice(isReproducible: isReproducible)
    puller.pace.restart()
    puller.stage = .pulling
  }
}
