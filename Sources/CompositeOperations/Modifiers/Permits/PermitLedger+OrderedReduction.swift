extension PermitLedger {
  /// Finds out whether a request that is not deadlocked would wait forever because of the order in
  /// which the requests were made.
  ///
  /// It simulates admissions as an ``UnorderedReduction`` does, but a request is admitted only if
  /// it is the first one of its queues or may pass the requests in front of it. So at any time only
  /// one request of a queue matters, in addition to the requests that may pass others.
  struct OrderedReduction {
    let number: Int
    private(set) var steps = 0
    private var kinds: [Kind] = []
    /// The kinds in whose queues a request may be admitted.
    private var changed: [Kind] = []

    init(number: Int) { self.number = number }

    /// - Parameter requests: The request and those below holds that it depends on.
    /// - Returns: The change that lets the request be admitted; nil if it is admitted anyway.
    /// - Complexity: O(*requests that are admitted before it*).
    mutating func orderChange(for request: Request, among requests: [Request]) -> OrderChange? {
      for entry in requests.flatMap(\.entries) { begin(entry.kind) }
      while request.endedIn != number, let kind = changed.popLast() { advance(kind) }
      let change = request.endedIn == number ? nil : orderChange(among: requests)
      for kind in kinds { kind.outlook = Outlook() }
      return change
    }

    /// Lets each stuck request pass the stuck requests in front of it.
    private func orderChange(among requests: [Request]) -> OrderChange {
      var change = OrderChange()
      for request in requests where request.endedIn != number {
        for entry in request.entries {
          let first = entry.kind.firstWaiting?.turn ?? request.turn
          guard first < request.turn else { continue }
          change.passages.append(
            Passage(request: request, kind: entry.kind, turn: min(first, entry.passesFrom)))
          change.lenient += entry.kind.passing.filter { $0.endedIn != number }
        }
      }
      return change
    }

    private mutating func begin(_ kind: Kind) {
      if kind.reduction == number { return }
      kind.reduction = number
      kind.outlook = Outlook(held: kind.blockedNumber, front: kind.queue.first)
      kinds.append(kind)
      changed.append(kind)
    }

    private mutating func advance(_ kind: Kind) {
      while let request = kind.firstWaiting, isAdmitted(request) { end(request) }
      for request in kind.passing where request.endedIn != number {
        if isAdmitted(request) { end(request) }
      }
    }

    private mutating func isAdmitted(_ request: Request) -> Bool {
      steps += 1
      var isAdmitted = true
      for entry in request.entries {
        begin(entry.kind)
        if !entry.kind.suffices(for: entry.number) {
          exploreHolds(of: entry.kind)
          isAdmitted = false
        } else if !entry.kind.isTurn(of: request, from: entry.passesFrom, in: number) {
          isAdmitted = false
        }
      }
      return isAdmitted
    }

    /// Requests that wait below holds of permits may be admitted, and then give the permits back.
    private mutating func exploreHolds(of kind: Kind) {
      if kind.outlook.areHoldsExplored { return }
      kind.outlook.areHoldsExplored = true
      for hold in kind.blockedHolds {
        for request in hold.allRequests {
          steps += 1
          for entry in request.entries { begin(entry.kind) }
        }
      }
    }

    private mutating func end(_ request: Request) {
      request.endedIn = number
      for entry in request.entries {
        entry.kind.skipEnded(in: number)
        changed.append(entry.kind)
      }
      for share in request.sharesGivenBack(in: number) {
        begin(share.kind)
        share.kind.outlook.held -= share.number
        changed.append(share.kind)
      }
    }
  }
}

extension PermitLedger.Kind {
  /// The first request of the queue that waits in a reduction.
  fileprivate var firstWaiting: PermitLedger.Request? {
    outlook.front.map { queue.entry(at: $0).element }
  }

  /// Whether a request in the queue passes all requests that are in front of it and wait in a
  /// reduction.
  fileprivate func isTurn(
    of request: PermitLedger.Request, from turn: PermitLedger.Turn, in reduction: Int
  ) -> Bool {
    guard let first = firstWaiting else { return true }
    if first.turn == request.turn { return true }
    return first.turn >= turn
      && passing.allSatisfy {
        $0.turn >= request.turn || $0.letsPass >= request.turn || $0.endedIn == reduction
      }
  }

  /// Finds the first request of the queue that waits.
  fileprivate func skipEnded(in reduction: Int) {
    while let place = outlook.front {
      let (request, next) = queue.entry(at: place)
      if request.endedIn != reduction { return }
      outlook.front = next
    }
  }
}
