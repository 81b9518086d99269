extension SharedRuns {
  /// The runs that are going on, who waits for them, and the results that are kept.
  ///
  /// What is removed is returned, so that it is freed outside the lock.
  struct StateMachine: Sendable {
    typealias Continuation = CheckedContinuation<RunEnd<Success>, Never>

    /// The place of one who waits for a run.
    struct Seat: Sendable {
      let key: Key
      let flight: Int
      let waiter: Int
      /// Stands for the end of the run.
      let hold: PermitHold
    }

    struct Kept: Sendable {
      let number: Int
      let value: Success
      let isOver: @Sendable () -> Bool
    }

    struct Flight: Sendable {
      let key: Key
      let hold: PermitHold
      var run: OperationRun<Success>?
      var priority: TaskPriority
      fileprivate(set) var waiters: Set<Int> = []
      /// Whether those who come join it, and its result may be kept.
      fileprivate(set) var isCurrent = true
    }

    private enum Waiter: Sendable {
      case registered
      case waits(Continuation)
      /// Told before it waited.
      case told(RunEnd<Success>)
    }

    enum Joining: Sendable {
      case found(Kept)
      case joined(Seat)
      case leads(Seat)
    }

    /// Those that nobody waits for any more among them, until they have ended.
    private var flights: [Int: Flight] = [:]
    /// The flights that those join who come.
    private var current: [Key: Int] = [:]
    private var waiters: [Int: Waiter] = [:]
    private var kept: [Key: Kept] = [:]
    /// When more than that are kept, those that are over are looked for.
    private var keptLimit = 64
    /// Of flights, of waiters and of what is kept.
    private var lastNumber = 0

    var runningCount: Int { flights.count }

    private mutating func nextNumber() -> Int {
      lastNumber += 1
      return lastNumber
    }

    // MARK: Who wants an outcome

    /// Somebody wants the outcome for a key.
    ///
    /// - Parameter priority: Of the one who wants it.
    mutating func joined(_ key: Key, at priority: TaskPriority) -> Joining {
      if let kept = kept[key] { return .found(kept) }
      let waiter = nextNumber()
      waiters[waiter] = .registered
      if let number = current[key], let flight = flights[number] {
        flights[number]?.waiters.insert(waiter)
        return .joined(Seat(key: key, flight: number, waiter: waiter, hold: flight.hold))
      }
      let number = nextNumber()
      let hold = PermitHold(untilEndOf: { "the shared result for \(key)" })
      flights[number] = Flight(key: key, hold: hold, priority: priority, waiters: [waiter])
      current[key] = number
      return .leads(Seat(key: key, flight: number, waiter: waiter, hold: hold))
    }

    /// Somebody wants the outcome of a flight at a priority.
    ///
    /// - Returns: The run whose priority is to be raised.
    mutating func wanted(_ flight: Int, at priority: TaskPriority) -> OperationRun<Success>? {
      guard let now = flights[flight]?.priority, priority > now else { return nil }
      flights[flight]?.priority = priority
      return flights[flight]?.run
    }

    /// - Returns: What it is told at once.
    mutating func waited(_ waiter: Int, _ continuation: Continuation) -> RunEnd<Success>? {
      switch waiters[waiter] {
      case .registered:
        waiters[waiter] = .waits(continuation)
        return nil
      case .told(let end):
        waiters[waiter] = nil
        return end
      case .waits, .none: preconditionFailure("Somebody waits twice for a shared run.")
      }
    }

    /// Somebody is gone.
    ///
    /// - Returns: Who is to be told of that, and the run to cancel if nobody is left.
    mutating func left(_ seat: Seat) -> (Continuation?, OperationRun<Success>?) {
      // One that has left its flight has been told of the end, or is about to be.
      guard flights[seat.flight]?.waiters.remove(seat.waiter) != nil else { return (nil, nil) }
      var continuation: Continuation?
      if case .waits(let own) = waiters[seat.waiter] {
        continuation = own
        waiters[seat.waiter] = nil
      } else {
        waiters[seat.waiter] = .told(RunEnd(.cancelled))
      }
      guard let flight = flights[seat.flight], flight.waiters.isEmpty else {
        return (continuation, nil)
      }
      forgetFlight(seat.flight)
      return (continuation, flight.run)
    }

    // MARK: Runs

    /// The run of a flight has been started. It may have ended meanwhile.
    ///
    /// - Returns: What its priority is to be raised to.
    mutating func started(_ flight: Int, _ run: OperationRun<Success>) -> TaskPriority? {
      flights[flight]?.run = run
      return flights[flight]?.priority
    }

    /// A run has ended.
    ///
    /// - Parameter isOver: Asks whether a result is not to be kept any longer; nil if it is not kept.
    /// - Returns: The flight, whose waiters are to be resumed, and a result that was replaced, to be
    ///   freed outside the lock.
    mutating func ended(
      _ number: Int, in outcome: Outcome<Success>, until isOver: (@Sendable () -> Bool)?
    ) -> (Flight, replaced: Kept?) {
      detach(number)
      guard let flight = flights.removeValue(forKey: number) else {
        preconditionFailure("A shared run ends twice.")
      }
      if flight.isCurrent, let isOver, case .result(let value) = outcome {
        let result = Kept(number: nextNumber(), value: value, isOver: isOver)
        return (flight, kept.updateValue(result, forKey: flight.key))
      }
      return (flight, nil)
    }

    /// - Returns: The continuation to resume; nil if it does not wait yet, and is told when it does.
    mutating func told(_ waiter: Int, _ end: RunEnd<Success>) -> Continuation? {
      switch waiters[waiter] {
      case .waits(let continuation):
        waiters[waiter] = nil
        return continuation
      case .registered:
        waiters[waiter] = .told(end)
        return nil
      case .told, .none: preconditionFailure("Somebody is told twice how a shared run ended.")
      }
    }

    /// Whoever comes for the key of a flight begins another one from now on.
    private mutating func detach(_ number: Int) {
      // The flight has the key too, so that none is freed here.
      guard let key = flights[number]?.key, current[key] == number else { return }
      current[key] = nil
    }

    // MARK: What is kept

    typealias Entry = (key: Key, value: Kept)

    mutating func expired(_ key: Key, _ number: Int) -> Entry? {
      kept[key]?.number == number ? removeKept(key) : nil
    }

    mutating func forgot(_ key: Key) -> Entry? {
      if let number = current[key] { forgetFlight(number) }
      return removeKept(key)
    }

    mutating func forgotAll() -> [Key: Kept] {
      for number in current.values { forgetFlight(number) }
      return exchange(&kept, with: [:])
    }

    private mutating func removeKept(_ key: Key) -> Entry? {
      kept.index(forKey: key).map { kept.remove(at: $0) }
    }

    private mutating func forgetFlight(_ number: Int) {
      detach(number)
      flights[number]?.isCurrent = false
    }

    /// What is kept, if it is time to look through it.
    mutating func keptToReview() -> [Key: Kept]? {
      guard kept.count > keptLimit else { return nil }
      // One looks at a time.
      keptLimit = .max
      return kept
    }

    /// What is over has been forgotten.
    mutating func reviewed() { keptLimit = max(64, kept.count * 2) }
  }
}
