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
      above.number(of: claim.permits) > claim.permits.count - claim.number
    }
    if isHeldAbove { return .none(error(.heldAbove, for: request, below: above)) }
    // Nobody waits for what is held above.
    if !above.chain.contains(where: { $0.claims.contains { accounts[$0.id] != nil } }) {
      return .good
    }
    let requests = requests(connectedWith: request)
    let inOrder = deadlocked(among: requests, byOrder: true)
    guard inOrder.contains(ticket) else { return .good }
    // Those who hold nothing are in nobody's way then.
    let holding = requests.filter { $0.value.above != nil }
    guard deadlocked(among: holding, byOrder: false).contains(ticket) else {
      return .inCircle(inOrder.sorted { turn(of: $0) < turn(of: $1) })
    }
    return .none(error(.circle, for: request, below: above))
  }

  private func turn(of ticket: Ticket) -> Turn { requests[ticket]?.turn ?? 0 }

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
    var queues = [ObjectIdentifier: ArraySlice<Ticket>](
      uniqueKeysWithValues: Set(requests.values.flatMap(\.claims).map(\.id)).map { id in
        (id, (accounts[id]?.queue.all ?? []).filter { requests[$0] != nil }[...])
      })
    var changed = Set(queues.keys)
    while let id = changed.popFirst() {
      for ticket in future.next(in: &queues[id, default: []], byOrder: byOrder) {
        guard let request = future.waiting[ticket], future.suffices(for: request),
          !byOrder
            || request.claims.allSatisfy({ claim in
              future.next(in: &queues[claim.id, default: []], byOrder: true).contains(ticket)
            })
        else { continue }
        changed.formUnion(future.end(ticket))
      }
    }
    return Set(future.waiting.keys)
  }

  /// What is still waited for, and what is held by those who wait.
  private struct Future {
    private(set) var waiting: [Ticket: Request]
    private let holdsAbove: [Ticket: [PermitHold]]
    /// How many requests wait below a hold.
    private var waitingBelow: [ObjectIdentifier: Int] = [:]
    /// How many permits are held above requests that wait.
    private var held: [ObjectIdentifier: Int] = [:]

    init(_ requests: [Ticket: Request]) {
      waiting = requests
      // Once, because a hold may end meanwhile.
      holdsAbove = requests.mapValues(\.holdsAbove)
      for holds in holdsAbove.values {
        for hold in holds {
          let count = waitingBelow[ObjectIdentifier(hold), default: 0]
          waitingBelow[ObjectIdentifier(hold)] = count + 1
          guard count == 0 else { continue }
          for claim in hold.claims { held[claim.id, default: 0] += claim.number }
        }
      }
    }

    func suffices(for request: Request) -> Bool {
      request.claims.allSatisfy { (held[$0.id] ?? 0) <= $0.permits.count - $0.number }
    }

    /// Those in a queue whose turn it may be. Those in front who have ended are taken out.
    func next(in queue: inout ArraySlice<Ticket>, byOrder: Bool) -> [Ticket] {
      queue = queue.drop { waiting[$0] == nil }
      return byOrder
        ? PermitLedger.StateMachine.candidates(in: queue) { waiting[$0] }
        : queue.filter { waiting[$0] != nil }
    }

    /// - Returns: The permits whose queues may have more to tell now.
    mutating func end(_ ticket: Ticket) -> [ObjectIdentifier] {
      var changed = waiting.removeValue(forKey: ticket)?.claims.map(\.id) ?? []
      for hold in holdsAbove[ticket] ?? [] {
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
  fileprivate var holdsAbove: [PermitHold] { above?.chain ?? [] }

  /// The permits that it waits for and those that are held above it.
  fileprivate var ids: [ObjectIdentifier] {
    claims.map(\.id) + holdsAbove.flatMap { $0.claims.map(\.id) }
  }
}
