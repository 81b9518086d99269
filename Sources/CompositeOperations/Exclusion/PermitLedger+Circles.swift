extension PermitLedger.StateMachine {
  /// What is to become of a request that has to wait below holds.
  enum Prospect {
    /// It will be given its permits.
    case good
    /// It waits in a circle with others only because of the order in which they came. If they let one
    /// another pass, they all go on.
    case inCircle([Ticket])
    /// It would wait for ever.
    case none(PermitError)
  }

  func prospect(of ticket: Ticket, _ request: Request, below above: PermitHold) -> Prospect {
    let isHeldAbove = request.claims.contains { claim in
      above.number(of: claim.permits) + claim.number > claim.permits.count
    }
    if isHeldAbove { return .none(error(.heldAbove, for: request, below: above)) }
    let requests = requests(connectedWith: request)
    let inOrder = deadlocked(among: requests, byOrder: true)
    guard inOrder.contains(ticket) else { return .good }
    // Those who hold nothing are in nobody's way then.
    let holding = requests.filter { $0.value.above != nil }
    guard deadlocked(among: holding, byOrder: false).contains(ticket) else {
      return .inCircle(inOrder.sorted())
    }
    return .none(error(.circle, for: request, below: above))
  }

  private func error(
    _ reason: PermitError.Reason, for request: Request, below above: PermitHold
  ) -> PermitError {
    PermitError(
      wanted: request.claims.map(\.permits.name),
      held: above.chain.flatMap { $0.claims.map(\.permits.name) }.reversed(), reason: reason)
  }

  /// Everybody whose waiting may have to do with a request.
  private func requests(connectedWith request: Request) -> [Ticket: Request] {
    var connected: [Ticket: Request] = [:]
    var seen = Set(request.ids)
    var new = Array(seen)
    while let id = new.popLast() {
      for ticket in accounts[id]?.queue.all ?? [] where connected[ticket] == nil {
        guard let request = requests[ticket] else { continue }
        connected[ticket] = request
        new += request.ids.filter { seen.insert($0).inserted }
      }
    }
    return connected
  }

  /// Who of some will never be given permits, whatever those who do not wait do.
  ///
  /// Plays on what can still happen: whoever does not wait may end and give back what it holds;
  /// whoever waits is given its permits if they suffice then, and ends; whoever holds permits above
  /// requests ends when those have.
  ///
  /// - Parameter byOrder: Whether nobody is overtaken.
  private func deadlocked(among requests: [Ticket: Request], byOrder: Bool) -> Set<Ticket> {
    var future = Future(requests)
    var changed = Set(requests.values.flatMap(\.claims).map(\.id))
    while let id = changed.popFirst() {
      for ticket in accounts[id]?.queue.all ?? [] {
        guard let request = future.waiting[ticket] else { continue }
        let hasTurn =
          !byOrder || request.claims.allSatisfy { isNext(ticket, in: $0.id, future.waiting) }
        if hasTurn, future.suffices(for: request) {
          changed.formUnion(future.end(ticket, request))
        } else if byOrder, !request.stepsAside {
          break
        }
      }
    }
    return Set(future.waiting.keys)
  }

  private func isNext(
    _ ticket: Ticket, in id: ObjectIdentifier, _ waiting: [Ticket: Request]
  ) -> Bool {
    for other in accounts[id]?.queue.all ?? [] {
      if other == ticket { return true }
      if waiting[other]?.stepsAside == false { return false }
    }
    return false
  }

  /// What is still waited for, and what is held by those who wait.
  private struct Future {
    private(set) var waiting: [Ticket: Request]
    /// How many requests wait below a hold.
    private var waitingBelow: [ObjectIdentifier: Int] = [:]
    /// How many permits are held above requests that wait.
    private var held: [ObjectIdentifier: Int] = [:]

    init(_ requests: [Ticket: Request]) {
      waiting = requests
      for request in requests.values {
        for hold in request.holdsAbove {
          let count = waitingBelow[ObjectIdentifier(hold), default: 0]
          waitingBelow[ObjectIdentifier(hold)] = count + 1
          guard count == 0 else { continue }
          for claim in hold.claims { held[claim.id, default: 0] += claim.number }
        }
      }
    }

    func suffices(for request: Request) -> Bool {
      request.claims.allSatisfy { (held[$0.id] ?? 0) + $0.number <= $0.permits.count }
    }

    /// - Returns: The permits whose queues may have more to tell now.
    mutating func end(_ ticket: Ticket, _ request: Request) -> [ObjectIdentifier] {
      waiting[ticket] = nil
      var changed = request.claims.map(\.id)
      for hold in request.holdsAbove {
        let count = waitingBelow[ObjectIdentifier(hold), default: 1] - 1
        waitingBelow[ObjectIdentifier(hold)] = count
        guard count == 0 else { continue }
        for claim in hold.claims {
          held[claim.id, default: 0] -= claim.number
          changed.append(claim.id)
        }
      }
      return changed
    }
  }
}

extension PermitLedger.StateMachine.Request {
  fileprivate var holdsAbove: [PermitHold] { above.map { Array($0.chain) } ?? [] }

  /// The permits that it waits for and those that are held above it.
  fileprivate var ids: [ObjectIdentifier] {
    claims.map(\.id) + holdsAbove.flatMap { $0.claims.map(\.id) }
  }
}
