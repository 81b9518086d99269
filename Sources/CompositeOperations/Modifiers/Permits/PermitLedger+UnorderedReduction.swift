extension PermitLedger {
  /// The state of a reduction for the permits of one kind.
  struct Outlook {
    /// How many are held above requests that wait.
    var held = 0
    var areHoldsExplored = false
    /// If the order does not count: the requests for which the permits do not suffice, by the
    /// required number.
    var short: [Int: [Request]] = [:]
    /// If the order counts: the first request of the queue that waits.
    var front: LinkedList<Request>.Place?
  }

  /// Finds out whether a request would wait forever, even if every request passed those in front of
  /// it.
  ///
  /// It simulates admissions. A run that does not wait can end and give back its permits. A request
  /// is admitted when its permits suffice, and its run then ends. A run that holds permits above
  /// requests ends when these have ended. The requests that remain are stuck.
  ///
  /// Only requests below holds matter: others hold nothing.
  struct UnorderedReduction {
    let number: Int
    private(set) var steps = 0
    /// The request and those that it depends on.
    private(set) var requests: [Request] = []
    private var kinds: [Kind] = []
    /// The requests for which all permits suffice.
    private var ready: [Request] = []

    init(number: Int) { self.number = number }

    /// - Complexity: O(*requests below holds that it depends on*).
    mutating func isStuck(_ request: Request) -> Bool {
      explore(from: request)
      for request in requests { countShortages(of: request) }
      while let next = ready.popLast() { end(next) }
      // Cleared, so that no request is kept for longer than it waits.
      for kind in kinds { kind.outlook = Outlook() }
      return request.endedIn != number
    }

    private mutating func explore(from request: Request) {
      find(request)
      var index = 0
      while index < requests.count {
        for entry in requests[index].entries { explore(entry) }
        index += 1
      }
    }

    private mutating func find(_ request: Request) {
      steps += 1
      if request.foundIn == number { return }
      request.foundIn = number
      requests.append(request)
    }

    private mutating func explore(_ entry: Request.Entry) {
      let kind = entry.kind
      if kind.reduction != number {
        kind.reduction = number
        kind.outlook = Outlook(held: kind.blockedNumber)
        kinds.append(kind)
      }
      if kind.outlook.areHoldsExplored || kind.suffices(for: entry.number) { return }
      kind.outlook.areHoldsExplored = true
      for hold in kind.blockedHolds {
        for request in hold.allRequests { find(request) }
      }
    }

    private mutating func countShortages(of request: Request) {
      request.unmetCount = 0
      for entry in request.entries where !entry.kind.suffices(for: entry.number) {
        request.unmetCount += 1
        entry.kind.outlook.short[entry.number, default: []].append(request)
      }
      if request.unmetCount == 0 { ready.append(request) }
    }

    private mutating func end(_ request: Request) {
      steps += 1
      request.endedIn = number
      for share in request.sharesGivenBack(in: number) where share.kind.reduction == number {
        share.kind.outlook.held -= share.number
        endShortages(of: share.kind)
      }
    }

    private mutating func endShortages(of kind: Kind) {
      for (number, requests) in kind.outlook.short where kind.suffices(for: number) {
        kind.outlook.short[number] = nil
        for request in requests {
          request.unmetCount -= 1
          if request.unmetCount == 0 { ready.append(request) }
        }
      }
    }
  }
}

extension PermitLedger.Kind {
  /// Whether the permits that are not held above waiting requests suffice, in a reduction.
  func suffices(for number: Int) -> Bool { outlook.held <= permits.count - number }
}

extension PermitLedger.Request {
  /// The permits of the holds above it that end with it in a reduction.
  func sharesGivenBack(in reduction: Int) -> [PermitLedger.BlockedHold.Share] {
    var shares: [PermitLedger.BlockedHold.Share] = []
    var next = blockedHold
    while let hold = next, hold.ended(in: reduction) {
      shares += hold.shares
      next = hold.parent
    }
    return shares
  }
}
