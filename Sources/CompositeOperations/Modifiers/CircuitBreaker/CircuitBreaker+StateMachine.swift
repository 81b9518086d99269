extension CircuitBreaker {
  /// The state of a circuit breaker, the last failures, and the tasks that wait for a change.
  ///
  /// A stopwatch can hold the last reference to a clock of a user, so it is returned and freed
  /// outside of the lock.
  package struct StateMachine: Sendable {
    typealias Waiter = CancellableWaiters.Waiter

    package enum Answer: Sendable {
      case admitted(CircuitAdmission)
      case refused(Refusal)
    }

    /// Why a run was refused.
    package struct Refusal: Sendable {
      package let state: CircuitOpenError.State
      package let period: Int
      /// Measures the time since the period began.
      package let stopwatch: Stopwatch
    }

    /// How a run ended.
    package enum End: Sendable {
      case success
      case failure(at: Stopwatch)
      case cancellation
    }

    /// The readers to resume, and the stopwatch to free, after the lock.
    package struct Change: Sendable {
      fileprivate(set) var readers: [Waiter] = []
      fileprivate var stopwatch: Stopwatch?
    }

    enum Reading: Sendable {
      case state(State, number: Int)
      case wait(as: Int)
    }

    private enum Phase: Sendable {
      case closed
      case open(since: Stopwatch)
      /// - Parameters:
      ///   - left: How many more probes may begin.
      ///   - missing: How many more probes must succeed.
      case halfOpen(since: Stopwatch, left: Int, missing: Int)
    }

    private let probes: Int
    private var window: FailureWindow
    private var phase = Phase.closed
    /// The number of the period between two changes. Runs of earlier periods do not count.
    private var period = 0
    /// How often the state has changed. A half-open period can follow another one.
    private var stateNumber = 0
    /// The tasks that wait for the next state.
    var readers = CancellableWaiters()

    package init(failures: Int, ofLast runs: Int, probes: Int) {
      self.probes = probes
      window = FailureWindow(of: runs, limit: failures)
    }

    package var state: State {
      switch phase {
      case .closed: .closed
      case .open: .open
      case .halfOpen: .halfOpen
      }
    }

    // MARK: Runs

    /// - Parameter probe: The period of the probe that the run is part of; nil if there is none.
    package mutating func asked(partOf probe: Int?) -> Answer {
      switch phase {
      case .closed: return .admitted(CircuitAdmission(kind: .ordinary, period: period))
      case .open(let stopwatch):
        return .refused(Refusal(state: .open, period: period, stopwatch: stopwatch))
      case .halfOpen(let stopwatch, let left, let missing):
        if probe == period {
          return .admitted(CircuitAdmission(kind: .partOfProbe, period: period))
        }
        guard left > 0 else {
          return .refused(Refusal(state: .halfOpen, period: period, stopwatch: stopwatch))
        }
        phase = .halfOpen(since: stopwatch, left: left - 1, missing: missing)
        return .admitted(CircuitAdmission(kind: .probe, period: period))
      }
    }

    /// Lets other probes begin. Has no effect if a later period has begun meanwhile.
    ///
    /// - Parameters:
    ///   - period: The period since whose beginning the pause has passed.
    ///   - stopwatch: Started now.
    package mutating func pauseEnded(of period: Int, at stopwatch: Stopwatch) -> Change {
      guard period == self.period else { return Change() }
      return enter(.halfOpen(since: stopwatch, left: probes, missing: probes))
    }

    /// Whether a run began in the present period.
    package func counts(_ admission: CircuitAdmission) -> Bool { admission.period == period }

    /// Counts the end of a run, if it began in the present period.
    package mutating func ended(_ admission: CircuitAdmission, _ end: End) -> Change {
      guard counts(admission) else { return Change() }
      switch (phase, end) {
      case (.closed, .cancellation): return Change()
      case (.closed, .success):
        window.add(hasFailed: false)
        return Change()
      case (.closed, .failure(let stopwatch)):
        window.add(hasFailed: true)
        guard window.isAtLimit else { return Change() }
        return enter(.open(since: stopwatch))
      case (.halfOpen, .failure(let stopwatch)): return enter(.open(since: stopwatch))
      case (.halfOpen(_, _, let missing), .success) where missing == 1: return enter(.closed)
      case (.halfOpen(let stopwatch, let left, let missing), .success):
        phase = .halfOpen(since: stopwatch, left: left, missing: missing - 1)
        return Change()
      case (.halfOpen(let stopwatch, let left, let missing), .cancellation):
        phase = .halfOpen(since: stopwatch, left: left + 1, missing: missing)
        return Change()
      case (.open, _): preconditionFailure("ended: no run begins while the circuit breaker is open")
      }
    }

    private mutating func enter(_ next: Phase) -> Change {
      var change = Change()
      let before = state
      switch phase {
      case .closed: window.clear()
      case .open(let stopwatch), .halfOpen(let stopwatch, _, _): change.stopwatch = stopwatch
      }
      phase = next
      period += 1
      if state != before {
        stateNumber += 1
        change.readers = readers.removeAll()
      }
      return change
    }

    // MARK: Readers

    mutating func askedForState(after number: Int?) -> Reading {
      number == stateNumber ? .wait(as: readers.register()) : .state(state, number: stateNumber)
    }

    /// - Returns: The waiter itself if there is nothing to wait for.
    mutating func waited(_ waiter: Waiter, as reader: Int, after number: Int?) -> Waiter? {
      if number == stateNumber { return readers.waits(waiter, as: reader) }
      readers.remove(reader)
      return waiter
    }
  }

  /// Which of the last runs have failed. It takes memory for failures alone; failures in a row are
  /// only counted.
  private struct FailureWindow: Sendable {
    private let runs: Int
    private let limit: Int
    private var failuresInRow = 0
    private var runCount = 0
    /// The numbers of the failed runs, without the oldest one.
    private var failed = FIFOQueue<Int>()
    private var oldest: Int?

    init(of runs: Int, limit: Int) {
      self.runs = runs
      self.limit = limit
    }

    private var isInRow: Bool { runs == limit }

    var isAtLimit: Bool {
      (isInRow ? failuresInRow : failed.count + (oldest == nil ? 0 : 1)) >= limit
    }

    mutating func add(hasFailed: Bool) {
      failuresInRow = hasFailed ? failuresInRow + 1 : 0
      if isInRow { return }
      runCount += 1
      if hasFailed { failed.append(runCount) }
      if oldest == nil { oldest = failed.popFirst() }
      while let first = oldest, first <= runCount - runs { oldest = failed.popFirst() }
    }

    mutating func clear() { self = FailureWindow(of: runs, limit: limit) }
  }
}
