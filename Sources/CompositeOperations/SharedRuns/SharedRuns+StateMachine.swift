extension SharedRuns {
  /// The runs in flight, their waiters, and the kept results.
  ///
  /// Removed values are returned, so that they are freed outside the lock. Keys are neither hashed
  /// nor compared here, because that is user code.
  struct StateMachine: Sendable {
    typealias Continuation = CheckedContinuation<Completion<Success>, Never>

    /// A waiter of a run.
    struct Seat: Sendable {
      let key: Key
      let flight: Int
      let waiter: Int
      /// Represents the end of the run.
      let hold: PermitHold
    }

    /// The current run and the kept result of a key.
    struct Entry: Sendable {
      let key: Key
      let hash: Int
      /// The flight that a caller with the key joins.
      fileprivate(set) var flight: Int?
      fileprivate(set) var kept: Kept?
    }

    struct Kept: Sendable {
      let number: Int
      /// The entry that contains it.
      let entry: Int
      let value: Success
      let isOver: @Sendable () -> Bool
    }

    struct Flight: Sendable {
      let entry: Int
      let hold: PermitHold
      var run: OperationRun<Success>?
      var priority: TaskPriority
      fileprivate(set) var waiters: Set<Int> = []
      /// Whether later callers join it, and its result may be kept.
      fileprivate(set) var isCurrent = true
    }

    /// A key that a caller searches for.
    struct SoughtKey: Sendable {
      let key: Key
      /// Computed without the lock.
      let hash: Int
      /// The entry whose key is equal.
      private(set) var entry: Int?
      /// The last number of the entries that have been compared.
      fileprivate private(set) var comparedUpTo = 0

      init(_ key: Key) {
        self.key = key
        hash = key.hashValue
      }

      /// Compares keys. Must not be called under the lock.
      mutating func compare(with candidates: Candidates) {
        entry = candidates.keys.first { $0.key == key }?.number
        comparedUpTo = candidates.lastNumber
      }
    }

    /// The keys with the same hash value as a sought one.
    struct Candidates: Sendable {
      fileprivate let keys: [(number: Int, key: Key)]
      fileprivate let lastNumber: Int
    }

    private enum Finding {
      case entry(Int)
      case nothing
      case compare(Candidates)
    }

    private enum Waiter: Sendable {
      case registered
      case waits(Continuation)
      /// The run ended before the waiter waited.
      case told(Completion<Success>)
    }

    enum Joining: Sendable {
      case found(Kept)
      case joined(Seat)
      case leads(Seat)
      /// The caller has to compare the key with others first.
      case compare(Candidates)
    }

    enum Forgetting: Sendable {
      /// The removed entry, to be freed.
      case forgot(Entry?)
      /// The caller has to compare the key with others first.
      case compare(Candidates)
    }

    /// The effects of a caller that leaves.
    struct Leaving: Sendable {
      var continuation: Continuation?
      /// The run to cancel if no caller is left.
      var run: OperationRun<Success>?
      fileprivate var removed: Entry?
    }

    struct Ended: Sendable {
      /// The flight whose waiters the caller resumes.
      let flight: Flight
      fileprivate let removed: Entry?
    }

    /// Includes flights without waiters until they have ended.
    private var flights: [Int: Flight] = [:]
    private var entries: [Int: Entry] = [:]
    /// The numbers of entries by the hash values of their keys.
    private var entriesByHash: [Int: [Int]] = [:]
    private var waiters: [Int: Waiter] = [:]
    private var keptCount = 0
    /// How many results are kept before expired ones are searched for.
    private var keptLimit = 64
    /// The last number of an entry, a flight, a waiter or a kept result.
    private var lastNumber = 0

    var runningCount: Int { flights.count }

    private mutating func nextNumber() -> Int {
      lastNumber += 1
      return lastNumber
    }

    // MARK: Keys

    private func find(_ sought: SoughtKey) -> Finding {
      let numbers = entriesByHash[sought.hash] ?? []
      if let number = sought.entry, entries[number] != nil { return .entry(number) }
      // Entries may have been added since the key was compared.
      if numbers.allSatisfy({ $0 <= sought.comparedUpTo }) { return .nothing }
      let keys = numbers.compactMap { number in
        entries[number].map { (number: number, key: $0.key) }
      }
      return .compare(Candidates(keys: keys, lastNumber: lastNumber))
    }

    private mutating func addEntry(for sought: SoughtKey, _ flight: Int) -> Int {
      let number = nextNumber()
      entries[number] = Entry(key: sought.key, hash: sought.hash, flight: flight)
      entriesByHash[sought.hash, default: []].append(number)
      return number
    }

    /// Removes an entry that has neither a flight nor a result.
    private mutating func removeIfUnused(_ number: Int) -> Entry? {
      guard let entry = entries[number], entry.flight == nil, entry.kept == nil else { return nil }
      return removeEntry(number)
    }

    private mutating func removeEntry(_ number: Int) -> Entry? {
      guard let entry = entries.removeValue(forKey: number) else { return nil }
      if entry.kept != nil { keptCount -= 1 }
      entriesByHash[entry.hash]?.removeAll { $0 == number }
      if entriesByHash[entry.hash]?.isEmpty == true { entriesByHash[entry.hash] = nil }
      return entry
    }

    // MARK: Callers

    /// Joins a caller to the run for a key, or lets it start one.
    ///
    /// - Parameter priority: The priority of the caller.
    mutating func joined(_ sought: SoughtKey, at priority: TaskPriority) -> Joining {
      let waiter: Int
      switch find(sought) {
      case .compare(let candidates): return .compare(candidates)
      case .entry(let entry):
        if let kept = entries[entry]?.kept { return .found(kept) }
        guard let number = entries[entry]?.flight, let flight = flights[number] else {
          preconditionFailure("joined: the entry has neither a run nor a result")
        }
        waiter = nextNumber()
        flights[number]?.waiters.insert(waiter)
        waiters[waiter] = .registered
        return .joined(Seat(key: sought.key, flight: number, waiter: waiter, hold: flight.hold))
      case .nothing:
        waiter = nextNumber()
        waiters[waiter] = .registered
        let number = nextNumber()
        let entry = addEntry(for: sought, number)
        let hold = PermitHold(untilEndOf: { [key = sought.key] in "shared result for \(key)" })
        flights[number] = Flight(entry: entry, hold: hold, priority: priority, waiters: [waiter])
        return .leads(Seat(key: sought.key, flight: number, waiter: waiter, hold: hold))
      }
    }

    /// Records that a caller with a priority waits for a flight.
    ///
    /// - Returns: The run whose priority must be raised.
    mutating func wanted(_ flight: Int, at priority: TaskPriority) -> OperationRun<Success>? {
      guard let now = flights[flight]?.priority, priority > now else { return nil }
      flights[flight]?.priority = priority
      return flights[flight]?.run
    }

    /// - Returns: The end of the run, if it has ended.
    mutating func waited(_ waiter: Int, _ continuation: Continuation) -> Completion<Success>? {
      switch waiters[waiter] {
      case .registered:
        waiters[waiter] = .waits(continuation)
        return nil
      case .told(let completion):
        waiters[waiter] = nil
        return completion
      case .waits, .none: preconditionFailure("waited: the waiter already waits")
      }
    }

    /// Removes a waiter that was cancelled.
    mutating func left(_ seat: Seat) -> Leaving {
      var leaving = Leaving()
      // A waiter that is not in its flight has the end of the run, or is about to receive it.
      guard flights[seat.flight]?.waiters.remove(seat.waiter) != nil else { return leaving }
      if case .waits(let own) = waiters[seat.waiter] {
        leaving.continuation = own
        waiters[seat.waiter] = nil
      } else {
        waiters[seat.waiter] = .told(.neverBegan)
      }
      if let flight = flights[seat.flight], flight.waiters.isEmpty {
        leaving.run = flight.run
        leaving.removed = forgetFlight(seat.flight)
      }
      return leaving
    }

    // MARK: Runs

    /// Records the run of a flight, which may already have ended.
    ///
    /// - Returns: The priority to raise the run to.
    mutating func started(_ flight: Int, _ run: OperationRun<Success>) -> TaskPriority? {
      flights[flight]?.run = run
      return flights[flight]?.priority
    }

    /// Removes a flight whose run has ended.
    ///
    /// - Parameter isOver: Returns whether a kept result has expired; nil if the result is not
    ///   kept.
    mutating func ended(
      _ number: Int, in outcome: Outcome<Success>, until isOver: (@Sendable () -> Bool)?
    ) -> Ended {
      guard let flight = flights.removeValue(forKey: number) else {
        preconditionFailure("ended: the shared run has already ended")
      }
      if flight.isCurrent {
        entries[flight.entry]?.flight = nil
        if let isOver, case .result(let value) = outcome {
          let kept = Kept(
            number: nextNumber(), entry: flight.entry, value: value, isOver: isOver)
          entries[flight.entry]?.kept = kept
          keptCount += 1
        }
      }
      return Ended(flight: flight, removed: removeIfUnused(flight.entry))
    }

    /// - Returns: The continuation to resume; nil if the waiter does not wait yet. It then receives
    ///   the end as soon as it does.
    mutating func told(_ waiter: Int, _ completion: Completion<Success>) -> Continuation? {
      switch waiters[waiter] {
      case .waits(let continuation):
        waiters[waiter] = nil
        return continuation
      case .registered:
        waiters[waiter] = .told(completion)
        return nil
      case .told, .none: preconditionFailure("told: the waiter already has an outcome")
      }
    }

    // MARK: Kept results

    /// Removes a kept result that has expired.
    mutating func expired(_ kept: Kept) -> Entry? {
      entries[kept.entry]?.kept?.number == kept.number ? removeEntry(kept.entry) : nil
    }

    mutating func forgot(_ sought: SoughtKey) -> Forgetting {
      switch find(sought) {
      case .compare(let candidates): return .compare(candidates)
      case .entry(let entry): return .forgot(forget(entry))
      case .nothing: return .forgot(nil)
      }
    }

    mutating func forgotAll() -> [Int: Entry] {
      for entry in entries.values { detach(entry) }
      entriesByHash = [:]
      keptCount = 0
      return exchange(&entries, with: [:])
    }

    private mutating func forget(_ number: Int) -> Entry? {
      if let entry = entries[number] { detach(entry) }
      return removeEntry(number)
    }

    private mutating func detach(_ entry: Entry) {
      if let flight = entry.flight { flights[flight]?.isCurrent = false }
    }

    /// Lets the next caller with the key of a flight start another one.
    private mutating func forgetFlight(_ number: Int) -> Entry? {
      guard let flight = flights[number], flight.isCurrent else { return nil }
      flights[number]?.isCurrent = false
      entries[flight.entry]?.flight = nil
      return removeIfUnused(flight.entry)
    }

    /// The kept results, if there are enough of them to search for expired ones.
    mutating func keptToReview() -> [Kept]? {
      guard keptCount > keptLimit else { return nil }
      // Only one task searches at a time.
      keptLimit = .max
      return entries.values.compactMap(\.kept)
    }

    /// Records that the expired results have been removed.
    mutating func reviewed() { keptLimit = max(64, keptCount * 2) }
  }
}
