extension SharedRuns {
  /// The runs that are going on, who waits for them, and the results that are kept.
  struct StateMachine: Sendable {
    typealias Continuation = CheckedContinuation<End, Never>
    typealias Canceller = @Sendable () -> Void

    struct Kept: Sendable {
      let number: Int
      let value: Success
      let isOver: @Sendable () -> Bool
    }

    private struct Flight: Sendable {
      let number: Int
      var waiters: Set<Int>
      var canceller: Canceller?
    }

    private enum Waiter: Sendable {
      case registered
      case waits(Continuation)
      /// Told before it waited.
      case told(End)
    }

    enum Joining: Sendable {
      case found(Kept)
      case joined(waiter: Int)
      case leads(flight: Int, waiter: Int)
    }

    private var flights: [Key: Flight] = [:]
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

    /// Somebody wants the outcome for a key.
    mutating func joined(_ key: Key) -> Joining {
      if let kept = kept[key] { return .found(kept) }
      let waiter = nextNumber()
      waiters[waiter] = .registered
      if flights[key]?.waiters.insert(waiter) != nil { return .joined(waiter: waiter) }
      let flight = nextNumber()
      flights[key] = Flight(number: flight, waiters: [waiter])
      return .leads(flight: flight, waiter: waiter)
    }

    /// - Returns: Whether somebody still waits for the run; if not, it is to be cancelled.
    mutating func started(
      _ flight: Int, for key: Key, _ canceller: @escaping Canceller
    ) -> Bool {
      guard flights[key]?.number == flight else { return false }
      flights[key]?.canceller = canceller
      return true
    }

    /// - Returns: What it is told at once.
    mutating func waited(_ waiter: Int, _ continuation: Continuation) -> End? {
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

    /// Somebody is cancelled.
    ///
    /// - Returns: Who is to be told of that, and what cancels the run if nobody is left.
    mutating func left(_ waiter: Int, of key: Key) -> (Continuation?, Canceller?) {
      // One that has left its flight has been told of the end, or is about to be.
      guard flights[key]?.waiters.remove(waiter) != nil else { return (nil, nil) }
      var continuation: Continuation?
      if case .waits(let own) = waiters[waiter] {
        continuation = own
        waiters[waiter] = nil
      } else {
        waiters[waiter] = .told(.cancelled)
      }
      guard flights[key]?.waiters.isEmpty == true else { return (continuation, nil) }
      return (continuation, flights.removeValue(forKey: key)?.canceller)
    }

    /// A run has ended.
    ///
    /// - Parameter isOver: Asks whether a result is not to be kept any longer; nil if it is not kept.
    /// - Returns: Who is to be told; nobody if nobody waited for the run any more.
    mutating func ended(
      _ flight: Int, for key: Key, in outcome: Outcome<Success>,
      until isOver: (@Sendable () -> Bool)?
    ) -> Set<Int> {
      guard let waiters = flights[key], waiters.number == flight else { return [] }
      flights[key] = nil
      if let isOver, case .result(let value) = outcome {
        kept[key] = Kept(number: nextNumber(), value: value, isOver: isOver)
      }
      return waiters.waiters
    }

    /// - Returns: The continuation to resume; nil if it does not wait yet, and is told when it does.
    mutating func told(_ waiter: Int, _ end: End) -> Continuation? {
      if case .waits(let continuation) = waiters[waiter] {
        waiters[waiter] = nil
        return continuation
      }
      waiters[waiter] = .told(end)
      return nil
    }

    // MARK: What is kept

    // These return what they forget, so that it is freed outside the lock.

    mutating func expired(_ key: Key, _ number: Int) -> Kept? {
      kept[key]?.number == number ? kept.removeValue(forKey: key) : nil
    }

    mutating func forgot(_ key: Key) -> Kept? { kept.removeValue(forKey: key) }

    mutating func forgotAll() -> [Key: Kept] { exchange(&kept, with: [:]) }

    /// What is kept, if it is time to look through it.
    mutating func keptToReview() -> [Key: Kept]? {
      guard kept.count > keptLimit else { return nil }
      keptLimit = kept.count * 2
      return kept
    }
  }
}
