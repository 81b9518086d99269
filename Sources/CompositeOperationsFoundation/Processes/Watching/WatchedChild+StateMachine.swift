extension WatchedChild {
  /// Tracks the state of a process and its group, with deadlines.
  struct StateMachine {
    typealias Moment = SuspendingClock.Instant

    private enum State {
      /// The program runs.
      case running
      /// SIGTERM was sent to the group, and the program is still running.
      case ending(until: Moment)
      /// SIGKILL was sent to the group, and the end of the program is awaited.
      case killed
      /// The run is over, but the program is still running, because this process may not signal it.
      case leftBehind
      /// The program has ended by itself, and its output is still open.
      case draining(until: Moment)
      /// The program has ended after SIGTERM, and its group may still be running.
      case sweeping(until: Moment, looks: Looks)
      case over
    }

    enum Action {
      case none
      case terminate
      case kill
      case lookAtGroup
      case finish
      case killAndFinish
      /// End the run, and continue to wait for the program.
      case leave
      /// Forget the program, whose run has already ended.
      case forget
    }

    private var state = State.running
    private var hasOutputEnded = false
    private let gracePeriod: Duration
    private let drainTime: Duration

    init(gracePeriod: Duration, drainTime: Duration) {
      self.gracePeriod = gracePeriod
      self.drainTime = drainTime
    }

    /// The time of the next call of ``timePassed(at:)``.
    var deadline: Moment? {
      switch state {
      case .running, .killed, .leftBehind, .over: nil
      case .ending(let moment), .draining(let moment): moment
      case .sweeping(let moment, let looks): min(moment, looks.next)
      }
    }

    /// Whether the run is cancelled, so that its lines are not delivered any more.
    var isCancelled: Bool {
      switch state {
      case .running, .draining: false
      case .ending, .killed, .leftBehind, .sweeping, .over: true
      }
    }

    /// Whether the end of the group is awaited.
    var isSweeping: Bool {
      if case .sweeping = state { true } else { false }
    }

    mutating func cancelled(at now: Moment) -> Action {
      switch state {
      case .running:
        state = gracePeriod > .zero ? .ending(until: now.advanced(by: gracePeriod)) : .killed
        return gracePeriod > .zero ? .terminate : .kill
      case .draining:
        if gracePeriod <= .zero { return finished(by: .killAndFinish) }
        // The first check is later, when the signal has had time to work.
        state = .sweeping(
          until: now.advanced(by: gracePeriod),
          looks: Looks(from: now.advanced(by: .milliseconds(1))))
        return .terminate
      case .ending, .killed, .leftBehind, .sweeping, .over: return .none
      }
    }

    mutating func programEnded(at now: Moment) -> Action {
      switch state {
      case .running:
        if hasOutputEnded || drainTime <= .zero { return finished(by: .finish) }
        state = .draining(until: now.advanced(by: drainTime))
        return .none
      case .ending(let moment):
        // At once, together with other groups that have to be checked.
        state = .sweeping(until: moment, looks: Looks(from: now))
        return .none
      case .killed: return finished(by: .finish)
      case .leftBehind: return finished(by: .forget)
      case .draining, .sweeping, .over: return .none
      }
    }

    mutating func outputEnded() -> Action {
      hasOutputEnded = true
      switch state {
      case .draining: return finished(by: .finish)
      case .running, .ending, .killed, .leftBehind, .sweeping, .over: return .none
      }
    }

    /// The system refused SIGKILL.
    mutating func killRefused() -> Action {
      switch state {
      case .killed:
        state = .leftBehind
        return .leave
      case .running, .ending, .leftBehind, .draining, .sweeping, .over: return .none
      }
    }

    mutating func timePassed(at now: Moment) -> Action {
      switch state {
      case .ending(let moment) where moment <= now:
        state = .killed
        return .kill
      case .draining(let moment) where moment <= now: return finished(by: .finish)
      case .sweeping(let moment, _) where moment <= now: return finished(by: .killAndFinish)
      case .sweeping(_, let looks) where looks.next <= now: return .lookAtGroup
      case .running, .ending, .killed, .leftBehind, .draining, .sweeping, .over: return .none
      }
    }

    /// - Parameter lives: Whether any process of the group is left.
    mutating func looked(lives: Bool, at now: Moment) -> Action {
      switch state {
      case .sweeping(let moment, var looks):
        // SIGKILL once more, for systems on which groups cannot be checked.
        if !lives || moment <= now { return finished(by: .killAndFinish) }
        // It may have been checked early, together with another group.
        if looks.next <= now { looks.lookedInVain(at: now) }
        state = .sweeping(until: moment, looks: looks)
        return .none
      case .running, .ending, .killed, .leftBehind, .draining, .over: return .none
      }
    }

    private mutating func finished(by action: Action) -> Action {
      state = .over
      return action
    }
  }
}
