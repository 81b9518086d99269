extension PermitLedger {
  /// The position of a request among all requests. A later request has a greater one.
  package typealias Turn = UInt64

  package enum Answer: Sendable {
    case taken
    case cancelled
    /// It would have waited forever.
    case refused
  }

  /// A request for permits.
  ///
  /// A class, because copies of it would cost more than everything else under the lock.
  // Sendable: only the state machine uses the variables, under its lock.
  package final class Request: @unchecked Sendable {
    /// A claim in the queue for its kind of permits.
    struct Entry {
      let kind: Kind
      let number: Int
      let place: LinkedList<Request>.Place
      /// The turn of the first request of the queue that it may pass; its own if it may pass none.
      var passesFrom: Turn
      /// Where it is among the requests that may pass others.
      var passingPlace: LinkedList<Request>.Place?
    }

    package let claims: [PermitClaim]
    /// The permits that the requesting run and its enclosing runs hold.
    package let hold: PermitHold?
    /// Resumed with the answer.
    var waiter: CheckedContinuation<Answer, Never>?
    /// The task that the continuation resumes. It does not end before that.
    var task: RunningTask?
    /// The priority of that task; the lowest one before it is known.
    var priority = TaskPriority(rawValue: 0)

    package var turn: Turn = 0
    /// The turn of the last request that may pass it where both may pass others.
    package var letsPass: Turn = 0
    /// One for each claim while it waits.
    var entries: [Entry] = []
    /// The hold, while the request waits and the hold has not ended.
    var blockedHold: BlockedHold?
    /// Where it is among the requests right below the hold.
    var placeBelowHold: LinkedList<Request>.Place?

    /// The last reduction that has found it, and how many of its conditions are not met there.
    var foundIn = 0
    var unmetCount = 0
    /// The last reduction in which its run has ended.
    var endedIn = 0

    package init(_ claims: [PermitClaim], below hold: PermitHold?) {
      self.claims = claims
      self.hold = hold
    }

    package var isWaiting: Bool { !entries.isEmpty }

    /// For each claim while it waits, the turn of the first request that it may pass.
    package var passesFrom: [Turn] { entries.map(\.passesFrom) }

    /// Whether it waits below a hold, so that requests for the permits of the hold depend on it.
    var isBelowHold: Bool { blockedHold != nil }

    /// Whether a dependency can lead from this request into or out of a queue that it waits in.
    var isLinking: Bool { isBelowHold || claims.count > 1 }
  }

  /// The permits of one kind that requests wait for, or that are held above waiting requests.
  // Sendable for the same reason.
  final class Kind: @unchecked Sendable {
    let permits: Permits
    /// Whether the ledger counts the permits.
    var isOpen = false
    var left = 0

    private(set) var queue = LinkedList<Request>()
    /// How many permits each request in the queue requires.
    private var numbers = CountedSet<Int>()
    /// The priorities of the requests in the queue. All holders have the greatest one, or will soon.
    private var priorities = CountedSet<UInt8>()
    /// How many requests can pass a dependency on. Every cycle through the queue includes one of
    /// them.
    var linkCount = 0
    /// The kinds that requests in the queue take together, this one among them.
    private var combinations: [[ObjectIdentifier]: Combination] = [:]
    /// The requests in the queue that may pass others.
    private(set) var passing = LinkedList<Request>()

    private struct Combination {
      let kinds: [Kind]
      var count = 0
    }

    /// How many permits are held above waiting requests, and by which holds.
    private(set) var blockedNumber = 0
    private(set) var blockedHolds = LinkedList<BlockedHold>()

    /// The last search that has examined it, and its result.
    var search = 0
    var verdict = ProgressSearch.Conclusion.open
    /// The last reduction that has examined it, and its state there.
    var reduction = 0
    var outlook = Outlook()

    init(_ permits: Permits) { self.permits = permits }

    var isUnused: Bool { queue.isEmpty && blockedHolds.isEmpty }

    /// How many permits the largest request of the queue lacks while blocked holds keep theirs.
    var missingNumber: Int { (numbers.greatest ?? 0) + blockedNumber - permits.count }

    /// The first request of the queue.
    var front: Request? { queue.first.map { queue.entry(at: $0).element } }

    /// The turn of the first request; the greatest value if the queue is empty.
    var frontTurn: Turn { front?.turn ?? .max }

    /// The highest priority of the requests in the queue.
    var priority: TaskPriority? { priorities.greatest.map(TaskPriority.init) }

    /// The priority of a request in the queue has been raised.
    func raise(from old: TaskPriority, to new: TaskPriority) {
      priorities.remove(old.rawValue)
      priorities.add(new.rawValue)
    }

    /// Whether a request in the queue passes all requests in front of it.
    func isTurn(of request: Request, from turn: Turn) -> Bool {
      guard frontTurn >= turn else { return false }
      return turn == request.turn
        || passing.allSatisfy { $0.turn >= request.turn || $0.letsPass >= request.turn }
    }

    /// Whether so few permits are left that no request can be admitted.
    var isExhausted: Bool { numbers.least.map { left < $0 } ?? true }

    /// The kinds that requests in the queue take together with this one.
    var companions: [Kind] { combinations.values.flatMap(\.kinds) }

    // MARK: The queue

    /// - Parameter kinds: The kinds of permits that the request takes together.
    func add(_ request: Request, _ number: Int, of kinds: [Kind]) -> LinkedList<Request>.Place {
      numbers.add(number)
      priorities.add(request.priority.rawValue)
      if request.isLinking { linkCount += 1 }
      if kinds.count > 1 {
        combinations[kinds.ids, default: Combination(kinds: kinds)].count += 1
      }
      return queue.append(request)
    }

    func remove(_ request: Request, _ entry: Request.Entry) {
      numbers.remove(entry.number)
      priorities.remove(request.priority.rawValue)
      if request.isLinking { linkCount -= 1 }
      if request.entries.count > 1 {
        let kinds = request.entries.map(\.kind)
        combinations[kinds.ids]?.count -= 1
        if combinations[kinds.ids]?.count == 0 { combinations[kinds.ids] = nil }
      }
      if let place = entry.passingPlace { passing.remove(place) }
      queue.remove(entry.place)
    }

    /// Lets a request in the queue pass others.
    func letPass(_ request: Request) -> LinkedList<Request>.Place { passing.append(request) }

    // MARK: Holds

    func block(_ hold: BlockedHold, _ number: Int) -> LinkedList<BlockedHold>.Place {
      blockedNumber += number
      return blockedHolds.append(hold)
    }

    func unblock(_ number: Int, at place: LinkedList<BlockedHold>.Place) {
      blockedNumber -= number
      blockedHolds.remove(place)
    }
  }

  /// A hold that has waiting requests below it. The run of every other hold can end and give its
  /// permits back.
  // Sendable for the same reason.
  final class BlockedHold: @unchecked Sendable {
    struct Share {
      let kind: Kind
      let number: Int
      let place: LinkedList<BlockedHold>.Place
    }

    let hold: PermitHold
    var shares: [Share] = []
    /// The hold of the enclosing run.
    var parent: BlockedHold?
    var placeInParent: LinkedList<BlockedHold>.Place?
    /// The requests that wait right below it.
    var requests = LinkedList<Request>()
    var holds = LinkedList<BlockedHold>()

    /// The last reduction that has examined it, and how many requests and holds still wait there.
    var reduction = 0
    private var waitingCount = 0

    init(_ hold: PermitHold) { self.hold = hold }

    var isUnblocked: Bool { requests.isEmpty && holds.isEmpty }

    /// Records that a request or hold right below it has ended in a reduction.
    ///
    /// - Returns: Whether it was the last one.
    func ended(in reduction: Int) -> Bool {
      if self.reduction != reduction {
        self.reduction = reduction
        waitingCount = requests.count + holds.count
      }
      waitingCount -= 1
      return waitingCount == 0
    }

    /// The requests that wait below it, at any depth.
    var allRequests: [Request] {
      var found = Array(requests)
      var rest = Array(holds)
      while let next = rest.popLast() {
        found += next.requests
        rest += next.holds
      }
      return found
    }
  }

  /// How often each value occurs, with the least and the greatest.
  struct CountedSet<Element: Hashable & Comparable & Sendable>: Sendable {
    private var counts: [Element: Int] = [:]
    private(set) var least: Element?
    private(set) var greatest: Element?

    mutating func add(_ element: Element) {
      counts[element, default: 0] += 1
      least = least.map { min($0, element) } ?? element
      greatest = greatest.map { max($0, element) } ?? element
    }

    /// - Complexity: O(1), or O(*different values*) if no equal value remains and it was the least
    ///   or the greatest.
    mutating func remove(_ element: Element) {
      guard let count = counts[element] else { return }
      counts[element] = count > 1 ? count - 1 : nil
      if count > 1 { return }
      if element == least { least = counts.keys.min() }
      if element == greatest { greatest = counts.keys.max() }
    }
  }
}

extension [PermitLedger.Kind] {
  fileprivate var ids: [ObjectIdentifier] { map { ObjectIdentifier($0) } }
}
