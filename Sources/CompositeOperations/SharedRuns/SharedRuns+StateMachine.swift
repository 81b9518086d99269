extension SharedRuns {
  /// The runs in flight, their waiters, and the kept results.
  ///
  /// Removed values are returned, so that they are freed outside the lock. Keys are neither hashed
  /// nor compared here, because that is user code.
  struct StateMachine: Sendable {
    typealias Continuation = CheckedContinuation<Completion<Success>, Never>

    /// A waiter of a run.
    struct Waiter: Sendable {
      let key: Key
      /// The number of its run.
      let run: Int
      let number: Int
      /// Represents the end of the run.
      let hold: PermitHold
    }

    /// The current run and the kept result of a key.
    struct Entry: Sendable {
      let key: Key
      let hash: Int
      /// The run that a caller with the key joins.
      fileprivate(set) var run: Int?
      fileprivate(set) var kept: Kept?
    }

    struct Kept: Sendable {
      let number: Int
      /// The entry that contains it.
      let entry: Int
      let value: Success
      let isOver: @Sendable () -> Bool
    }

    struct InFlightRun: Sendable {
      let entry: Int
      let hold: PermitHold
      var handle: OperationRun<Success>?
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

    private enum WaiterState: Sendable {
      case registered
      case waits(Continuation)
      /// The waiter received its completion before it waited.
      case told(Completion<Success>)
    }

    enum Joining: Sendable {
      case found(Kept)
      case joined(Waiter)
      case leads(Waiter)
      /// Compare the key with the candidates, without the lock, and try again.
      case compare(Candidates)
    }

    enum Forgetting: Sendable {
      /// The entry was removed, and must be freed without the lock. Nil if there was none.
      case forgot(Entry?)
      /// Compare the key with the candidates, without the lock, and try again.
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
      /// The run whose waiters the caller resumes.
      let run: InFlightRun
      fileprivate let removed: Entry?
    }

    /// Includes runs without waiters until they have ended.
    private var inFlight: [Int: InFlightRun] = [:]
    private var entries: [Int: Entry] = [:]
    /// The numbers of entries by the hash values of their keys.
    private var entriesByHash: [Int: [Int]] = [:]
    private var waiters: [Int: WaiterState] = [:]
    private var keptCount = 0
    /// How many results are kept before expired ones are searched for.
    private var keptLimit = 64
    /// The last number of an entry, a run, a waiter or a kept result.
    private var lastNumber = 0

    var runningCount: Int { inFlight.count }

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

    private mutating func addEntry(for sought: SoughtKey, _ run: Int) -> Int {
      let number = nextNumber()
      entries[number] = Entry(key: sought.key, hash: sought.hash, run: run)
      entriesByHash[sought.hash, default: []].append(number)
      return number
    }

    /// Removes an entry that has neither a run nor a result.
    private mutating func removeIfUnused(_ number: Int) -> Entry? {
      guard let entry = entries[number], entry.run == nil, entry.kept == nil else { return nil }
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
        guard let number = entries[entry]?.run, let run = inFlight[number] else {
          preconditionFailure("joined: the entry has neither a run nor a result")
        }
        waiter = nextNumber()
        inFlight[number]?.waiters.insert(waiter)
        waiters[waiter] = .registered
        return .joined(Waiter(key: sought.key, run: number, number: waiter, hold: run.hold))
      case .nothing:
        waiter = nextNumber()
        waiters[waiter] = .registered
        let number = nextNumber()
        let entry = addEntry(for: sought, number)
        let hold = PermitHold(untilEndOf: { [key = sought.key] in "shared result for \(key)" })
        inFlight[number] = InFlightRun(
          entry: entry, hold: hold, priority: priority, waiters: [waiter])
        return .leads(Waiter(key: sought.key, run: number, number: waiter, hold: hold))
      }
    }

    /// Records that a caller with a priority waits for a run.
    ///
    /// - Returns: The run whose priority must be raised.
    mutating func wanted(_ run: Int, at priority: TaskPriority) -> OperationRun<Success>? {
      guard let now = inFlight[run]?.priority, priority > now else { return nil }
      inFlight[run]?.priority = priority
      return inFlight[run]?.handle
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
    mutating func left(_ waiter: Waiter) -> Leaving {
      var leaving = Leaving()
      // A waiter that is not in its run has the end of the run, or is about to receive it.
      guard inFlight[waiter.run]?.waiters.remove(waiter.number) != nil else { return leaving }
      if case .waits(let own) = waiters[waiter.number] {
        leaving.continuation = own
        waiters[waiter.number] = nil
      } else {
        waiters[waiter.number] = .told(.neverBegan)
      }
      if let run = inFlight[waiter.run], run.waiters.isEmpty {
        leaving.run = run.handle
        leaving.removed = forgetRun(waiter.run)
      }
      return leaving
    }

    // MARK: Runs

    /// Records the handle of a run, which may already have ended.
    ///
    /// - Returns: The priority to raise the run to.
    mutating func started(_ run: Int, _ handle: OperationRun<Success>) -> TaskPriority? {
      inFlight[run]?.handle = handle
      return inFlight[run]?.priority
    }

    /// Removes a run that has ended.
    ///
    /// - Parameter isOver: Returns whether a kept result has expired; nil if the result is not
    ///   kept.
    mutating func ended(
      _ number: Int, in outcome: Outcome<Success>, until isOver: (@Sendable () -> Bool)?
    ) -> Ended {
      guard let run = inFlight.removeValue(forKey: number) else {
        preconditionFailure("ended: the shared run has already ended")
      }
      if run.isCurrent {
        entries[run.entry]?.run = nil
        if let isOver, case .result(let value) = outcome {
          let kept = Kept(
            number: nextNumber(), entry: run.entry, value: value, isOver: isOver)
          entries[run.entry]?.kept = kept
          keptCount += 1
        }
      }
      return Ended(run: run, removed: removeIfUnused(run.entry))
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
      if let run = entry.run { inFlight[run]?.isCurrent = false }
    }

    /// Lets the next caller with the key of a run start another one.
    private mutating func forgetRun(_ number: Int) -> Entry? {
      guard let run = inFlight[number], run.isCurrent else { return nil }
      inFlight[number]?.isCurrent = false
      entries[run.entry]?.run = nil
      return removeIfUnused(run.entry)
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
