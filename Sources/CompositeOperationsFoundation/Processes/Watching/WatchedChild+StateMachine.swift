extension WatchedChild {
  /// Tracks the state of a process and its group, with deadlines.
  struct StateMachine {
    typealias Instant = SuspendingClock.Instant

    private enum State {
      /// The program runs.
      case running
      /// SIGTERM was sent to the group, and the program is still running.
      case ending(until: Instant)
      /// SIGKILL was sent to the group, and the end of the program is awaited.
      case killed
      /// The run is over, but the program is still running, because this process may not signal it.
      case abandoned
      /// The program has ended by itself, and its output is still open.
      case draining(until: Instant)
      /// The program has ended after SIGTERM, and its group may still be running.
      case awaitingGroup(until: Instant, polling: PollSchedule)
      case over
    }

    enum Action {
      case none
      case terminate
      case kill
      case checkGroup
      case finish
      case killAndFinish
      /// End the run, and continue to wait for the program.
      case abandon
      /// Forget the program, whose run has already ended.
      case forget
    }

    private var state = State.running
    private var hasOutputEnded = false
    /// Whether the run has ended although other processes held the output of the program open.
    private(set) var isOutputHeldOpen = false
    private let gracePeriod: Duration
    private let drainTime: Duration

    init(gracePeriod: Duration, drainTime: Duration) {
      self.gracePeriod = gracePeriod
      self.drainTime = drainTime
    }

    /// The time of the next call of ``timePassed(at:)``.
    var deadline: Instant? {
      switch state {
      case .running, .killed, .abandoned, .over: nil
      case .ending(let deadline), .draining(let deadline): deadline
      case .awaitingGroup(let deadline, let polling): min(deadline, polling.nextPoll)
      }
    }

    /// Whether the program is being ended, so that its lines are not delivered any more.
    var isCancelled: Bool {
      switch state {
      case .running, .draining: false
      case .ending, .killed, .abandoned, .awaitingGroup, .over: true
      }
    }

    /// Whether the end of the group is awaited.
    var isAwaitingGroup: Bool {
      if case .awaitingGroup = state { true } else { false }
    }

    mutating func cancelled(at now: Instant) -> Action {
      switch state {
      case .running:
        state = gracePeriod > .zero ? .ending(until: now.advanced(by: gracePeriod)) : .killed
        return gracePeriod > .zero ? .terminate : .kill
      case .draining:
        if gracePeriod <= .zero { return finished(by: .killAndFinish) }
        // The first check is later, when the signal has had time to work.
        state = .awaitingGroup(
          until: now.advanced(by: gracePeriod),
          polling: PollSchedule(from: now.advanced(by: .milliseconds(1))))
        return .terminate
      case .ending, .killed, .abandoned, .awaitingGroup, .over: return .none
      }
    }

    /// An output that has to be whole has exceeded its limit.
    mutating func limitExceeded(at now: Instant) -> Action {
      switch state {
      case .running: return cancelled(at: now)
      case .draining: return finished(by: .finish)
      case .ending, .killed, .abandoned, .awaitingGroup, .over: return .none
      }
    }

    mutating func programEnded(at now: Instant) -> Action {
      switch state {
      case .running:
        if hasOutputEnded || drainTime <= .zero {
          isOutputHeldOpen = !hasOutputEnded
          return finished(by: .finish)
        }
        state = .draining(until: now.advanced(by: drainTime))
        return .none
      case .ending(let deadline):
        // At once, together with other groups that have to be checked.
        state = .awaitingGroup(until: deadline, polling: PollSchedule(from: now))
        return .none
      case .killed: return finished(by: .finish)
      case .abandoned: return finished(by: .forget)
      case .draining, .awaitingGroup, .over: return .none
      }
    }

    mutating func outputEnded() -> Action {
      hasOutputEnded = true
      switch state {
      case .draining: return finished(by: .finish)
      case .running, .ending, .killed, .abandoned, .awaitingGroup, .over: return .none
      }
    }

    /// Output is read again, after a closure has handled earlier output. The time in which nothing
    /// was read does not count as time for which the output is held open.
    mutating func readingResumed(at now: Instant) {
      if case .draining = state { state = .draining(until: now.advanced(by: drainTime)) }
    }

    /// The system refused SIGKILL.
    mutating func killDenied() -> Action {
      switch state {
      case .killed:
        state = .abandoned
        return .abandon
      case .running, .ending, .abandoned, .draining, .awaitingGroup, .over: return .none
      }
    }

    /// - Parameter isReadingPaused: Whether output waits for a closure that handles it. The time
    ///   begins again when it is read.
    mutating func timePassed(at now: Instant, isReadingPaused: Bool) -> Action {
      switch state {
      case .ending(let deadline) where deadline <= now:
        state = .killed
        return .kill
      case .draining(let deadline) where deadline <= now:
        if isReadingPaused {
          state = .draining(until: now.advanced(by: drainTime))
          return .none
        }
        isOutputHeldOpen = true
        return finished(by: .finish)
      case .awaitingGroup(let deadline, _) where deadline <= now:
        return finished(by: .killAndFinish)
      case .awaitingGroup(_, let polling) where polling.nextPoll <= now: return .checkGroup
      case .running, .ending, .killed, .abandoned, .draining, .awaitingGroup, .over: return .none
      }
    }

    /// - Parameter isRunning: Whether any process of the group is left.
    mutating func groupChecked(isRunning: Bool, at now: Instant) -> Action {
      switch state {
      case .awaitingGroup(let deadline, var polling):
        // SIGKILL once more, for systems on which groups cannot be checked.
        if !isRunning || deadline <= now { return finished(by: .killAndFinish) }
        // It may have been checked early, together with another group.
        if polling.nextPoll <= now { polling.pollFailed(at: now) }
        state = .awaitingGroup(until: deadline, polling: polling)
        return .none
      case .running, .ending, .killed, .abandoned, .draining, .over: return .none
      }
    }

    private mutating func finished(by action: Action) -> Action {
      state = .over
      return action
    }
  }
}
