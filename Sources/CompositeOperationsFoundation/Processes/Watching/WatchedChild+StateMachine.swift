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
      /// The program has ended by itself, and its output has not.
      case draining(until: Moment)
      /// The program has ended after SIGTERM, and its group may not have.
      case sweeping(until: Moment, nextLook: Moment, pause: Duration)
      case over
    }

    enum Action {
      case none
      case terminate
      case kill
      case lookAtGroup
      case finish
      case killAndFinish
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
      case .running, .killed, .over: nil
      case .ending(let moment), .draining(let moment), .sweeping(_, let moment, _): moment
      }
    }

    /// Whether what is written still matters to anybody.
    var isCancelled: Bool {
      switch state {
      case .running, .draining: false
      case .ending, .killed, .sweeping, .over: true
      }
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
          until: now.advanced(by: grace), nextLook: now.advanced(by: .milliseconds(1)),
          pause: .milliseconds(1))
        return .terminate
      case .ending, .killed, .sweeping, .over: return .none
      }
    }

    mutating func programEnded(at now: Moment) -> Action {
      switch state {
      case .running:
        if hasOutputEnded || drainTime <= .zero { return finished(by: .finish) }
        state = .draining(until: now.advanced(by: drainTime))
        return .none
      case .ending(let moment):
        state = .sweeping(until: moment, nextLook: now, pause: .milliseconds(1))
        return .lookAtGroup
      case .killed: return finished(by: .finish)
      case .draining, .sweeping, .over: return .none
      }
    }

    mutating func outputEnded() -> Action {
      hasOutputEnded = true
      switch state {
      case .draining: return finished(by: .finish)
      case .running, .ending, .killed, .sweeping, .over: return .none
      }
    }

    mutating func timePassed(at now: Moment) -> Action {
      switch state {
      case .ending(let moment) where moment <= now:
        state = .killed
        return .kill
      case .draining(let moment) where moment <= now: return finished(by: .finish)
      case .sweeping(let moment, _, _) where moment <= now: return finished(by: .killAndFinish)
      case .sweeping(_, let moment, _) where moment <= now: return .lookAtGroup
      case .running, .ending, .killed, .draining, .sweeping, .over: return .none
      }
    }

    /// - Parameter lives: Whether anything of the group is left.
    mutating func looked(lives: Bool, at now: Moment) -> Action {
      switch state {
      case .sweeping(let moment, _, let pause):
        // The signal once more, for where nobody can look into groups.
        if !lives || moment <= now { return finished(by: .killAndFinish) }
        state = .sweeping(
          until: moment, nextLook: min(moment, now.advanced(by: pause)),
          pause: min(pause * 2, .milliseconds(50)))
        return .none
      case .running, .ending, .killed, .draining, .over: return .none
      }
    }

    private mutating func finished(by action: Action) -> Action {
      state = .over
      return action
    }
  }
}
