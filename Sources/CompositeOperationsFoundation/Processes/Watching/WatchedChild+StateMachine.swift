extension WatchedChild {
  /// What becomes of a process and its group, and when.
  struct StateMachine {
    typealias Moment = SuspendingClock.Instant

    private enum State {
      /// The program runs.
      case running
      /// The group has got SIGTERM, and the program runs.
      case ending(until: Moment)
      /// The group has got SIGKILL, and the program's end will be heard of.
      case killed
      /// The program goes on though the run is over, because this process may not signal it.
      case leftBehind
      /// The program has ended by itself, and its output has not.
      case draining(until: Moment)
      /// The program has ended after SIGTERM, and its group may not have.
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
      /// End the run, and go on waiting for the program.
      case leave
      /// The run is over long since.
      case forget
    }

    private var state = State.running
    private var hasOutputEnded = false
    private let grace: Duration
    private let drainTime: Duration

    init(grace: Duration, drainTime: Duration) {
      self.grace = grace
      self.drainTime = drainTime
    }

    /// When ``timePassed(at:)`` is to be called next.
    var deadline: Moment? {
      switch state {
      case .running, .killed, .leftBehind, .over: nil
      case .ending(let moment), .draining(let moment): moment
      case .sweeping(let moment, let looks): min(moment, looks.next)
      }
    }

    /// Whether what is written still matters to anybody.
    var isCancelled: Bool {
      switch state {
      case .running, .draining: false
      case .ending, .killed, .leftBehind, .sweeping, .over: true
      }
    }

    /// Whether the end of the group is waited for.
    var isSweeping: Bool {
      if case .sweeping = state { true } else { false }
    }

    mutating func cancelled(at now: Moment) -> Action {
      switch state {
      case .running:
        state = grace > .zero ? .ending(until: now.advanced(by: grace)) : .killed
        return grace > .zero ? .terminate : .kill
      case .draining:
        if grace <= .zero { return finished(by: .killAndFinish) }
        // The first look is soon enough when the signal has had time to work.
        state = .sweeping(
          until: now.advanced(by: grace), looks: Looks(from: now.advanced(by: .milliseconds(1))))
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
        // At once, with the others of whom the same is to be known.
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

    /// The program cannot be ended.
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

    /// - Parameter lives: Whether anything of the group is left.
    mutating func looked(lives: Bool, at now: Moment) -> Action {
      switch state {
      case .sweeping(let moment, var looks):
        // The signal once more, for where nobody can look into groups.
        if !lives || moment <= now { return finished(by: .killAndFinish) }
        // It may have been looked at with another whose moment had come.
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
