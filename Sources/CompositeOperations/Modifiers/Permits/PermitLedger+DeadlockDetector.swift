extension PermitLedger {
  /// The result of a search for a request that waits below a hold.
  enum Prospect {
    case admitted
    /// Blocked only by the FIFO order, in a cycle with other requests. With another order all of
    /// them are admitted.
    case blockedByOrder(OrderChange)
    /// It would wait forever.
    case deadlock
  }

  /// Lets requests that wait below holds pass others.
  struct OrderChange {
    var passages: [Passage] = []
    /// Requests that may pass others themselves, and that others pass from now on.
    var lenient: [Request] = []
  }

  /// Lets a request pass the requests in a queue from one turn on. Among these it passes a request
  /// that may pass others itself only if that is lenient.
  struct Passage {
    let request: Request
    let kind: Kind
    let turn: Turn
  }

  /// Finds out whether a new request can be admitted.
  ///
  /// Before a request is made, every other request can eventually be admitted, because a request
  /// that could not be has been refused. So a request is deadlocked only if it closes a cycle: it
  /// depends on requests that depend on it. The searches, in the order of their cost:
  ///
  /// 1. Enough permits are left, or held by runs that do not wait: O(*claims*).
  /// 2. No request that could be part of a cycle waits for what is held above it:
  ///    O(*holds above it*).
  /// 3. A ``ProgressSearch`` examines kinds of permits and holds, not every request in a queue. It
  ///    may find no proof where one exists.
  /// 4. An ``UnorderedReduction`` finds deadlocks: O(*requests below holds that it depends on*).
  /// 5. An ``OrderedReduction`` finds cycles that exist because of the order:
  ///    O(*requests that are admitted before it*).
  struct DeadlockDetector: Sendable {
    /// How many requests, holds and kinds of permits have been examined.
    var steps = 0
    /// The number of the last search or reduction. The results of earlier ones are out of date.
    private var lastNumber = 0

    mutating func prospect(of request: Request) -> Prospect {
      if comesBack(request) || isAwaitedByNone(request) || isProven(request) { return .admitted }
      lastNumber += 1
      var unordered = UnorderedReduction(number: lastNumber)
      let isStuck = unordered.isStuck(request)
      steps += unordered.steps
      if isStuck { return .deadlock }
      lastNumber += 1
      var ordered = OrderedReduction(number: lastNumber)
      let change = ordered.orderChange(for: request, among: unordered.requests)
      steps += ordered.steps
      return change.map(Prospect.blockedByOrder) ?? .admitted
    }

    private mutating func comesBack(_ request: Request) -> Bool {
      steps += request.entries.count
      return request.entries.count == 1
        && request.entries.allSatisfy { $0.kind.companions.isEmpty && $0.kind.missingNumber <= 0 }
    }

    private mutating func isAwaitedByNone(_ request: Request) -> Bool {
      var next = request.blockedHold
      while let hold = next {
        steps += hold.shares.count
        if hold.shares.contains(where: { $0.kind.linkCount > 0 }) { return false }
        next = hold.parent
      }
      return true
    }

    private mutating func isProven(_ request: Request) -> Bool {
      lastNumber += 1
      var search = ProgressSearch(number: lastNumber)
      defer { steps += search.steps }
      // It is in the queues of all kinds that it takes together, so these are proven together.
      return search.isProven(request.entries[0].kind)
    }
  }
}
