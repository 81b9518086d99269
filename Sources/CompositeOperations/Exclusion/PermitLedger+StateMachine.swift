extension PermitLedger {
  /// Who waits for which permits, in the order in which they came.
  struct StateMachine: Sendable {
    /// Names a request. Handed out before it is asked with, so it does not say who came first.
    typealias Ticket = UInt64
    /// Whoever comes later has a greater one.
    typealias Turn = UInt64
    typealias Waiter = CheckedContinuation<Answer, Never>

    enum Answer: Sendable {
      case taken
      case cancelled
      case refused(PermitError)
    }

    struct Request: Sendable {
      let claims: [PermitClaim]
      /// What is held above whoever asks.
      let above: PermitHold?
      let waiter: Waiter
      fileprivate(set) var turn: Turn = 0
      /// The turn of the last of those behind it whom it lets pass.
      fileprivate(set) var letsPass: Turn = 0
    }

    struct Answered: Sendable {
      let waiter: Waiter
      let answer: Answer
    }

    /// Permits of one kind that somebody waits for.
    struct Account: Sendable {
      let permits: Permits
      var left: Int
      var queue = TicketQueue()
    }

    private var lastTicket: Ticket = 0
    private var lastTurn: Turn = 0
    private(set) var requests: [Ticket: Request] = [:]
    private(set) var accounts: [ObjectIdentifier: Account] = [:]

    mutating func nextTicket() -> Ticket {
      lastTicket += 1
      return lastTicket
    }

    func left(of permits: Permits) -> Int { accounts[ObjectIdentifier(permits)]?.left ?? 0 }

    func waitingCount(for permits: Permits) -> Int {
      accounts[ObjectIdentifier(permits)]?.queue.all.count { requests[$0] != nil } ?? 0
    }

    mutating func asked(_ request: Request, as ticket: Ticket) -> [Answered] {
      for claim in request.claims { open(claim.permits) }
      lastTurn += 1
      var request = request
      request.turn = lastTurn
      requests[ticket] = request
      for claim in request.claims { accounts[claim.id]?.queue.append(ticket) }
      var answered = admit(from: request.claims)
      if requests[ticket] != nil, let above = request.above {
        answered += resolve(ticket, below: above)
      }
      close(request.claims)
      return answered
    }

    /// Refuses a request that would wait for ever, or lets those pass one another who would only
    /// because of their order.
    private mutating func resolve(_ ticket: Ticket, below above: PermitHold) -> [Answered] {
      guard let request = requests[ticket] else { return [] }
      switch prospect(of: ticket, request, below: above) {
      case .good: return []
      case .none(let error): return drop(ticket, answer: .refused(error))
      case .inCircle(let tickets):
        for other in tickets { requests[other]?.letsPass = request.turn }
        return admit(from: tickets.flatMap { requests[$0]?.claims ?? [] })
      }
    }

    mutating func cancelled(_ ticket: Ticket) -> [Answered] { drop(ticket, answer: .cancelled) }

    mutating func gaveBack(_ claim: PermitClaim) -> [Answered] {
      open(claim.permits)
      accounts[claim.id]?.left += claim.number
      let answered = admit(from: [claim])
      close([claim])
      return answered
    }

    /// Takes a request out of all queues, which lets those behind it come forward.
    private mutating func drop(_ ticket: Ticket, answer: Answer) -> [Answered] {
      guard let request = requests.removeValue(forKey: ticket) else { return [] }
      for claim in request.claims {
        accounts[claim.id]?.queue.dropped { [requests] in requests[$0] != nil }
      }
      let answered = admit(from: request.claims)
      close(request.claims)
      return [Answered(waiter: request.waiter, answer: answer)] + answered
    }

    /// Gives permits to those whose turn it is wherever they wait, and for whom they suffice.
    private mutating func admit(from claims: [PermitClaim]) -> [Answered] {
      var answered: [Answered] = []
      var touched = claims.map(\.id)
      while let id = touched.popLast() {
        guard let ticket = candidates(in: id).first(where: mayBeAdmitted),
          let request = requests.removeValue(forKey: ticket)
        else { continue }
        for claim in request.claims {
          accounts[claim.id]?.left -= claim.number
          accounts[claim.id]?.queue.dropped { [requests] in requests[$0] != nil }
          touched.append(claim.id)
        }
        answered.append(Answered(waiter: request.waiter, answer: .taken))
      }
      return answered
    }

    private func candidates(in id: ObjectIdentifier) -> [Ticket] {
      Self.candidates(in: accounts[id]?.queue.all ?? []) { requests[$0] }
    }

    /// Those whose turn it may be: the first one, and those behind it whom it lets pass.
    static func candidates(
      in queue: ArraySlice<Ticket>, _ request: (Ticket) -> Request?
    ) -> [Ticket] {
      var candidates: [Ticket] = []
      var last = Turn.max
      for ticket in queue {
        guard let request = request(ticket) else { continue }
        if request.turn <= last { candidates.append(ticket) }
        last = min(last, request.letsPass)
        if last == 0 { break }
      }
      return candidates
    }

    private func mayBeAdmitted(_ ticket: Ticket) -> Bool {
      requests[ticket]?.claims.allSatisfy { claim in
        (accounts[claim.id]?.left ?? 0) >= claim.number
          && candidates(in: claim.id).contains(ticket)
      } == true
    }

    // MARK: Which permits are counted here

    private mutating func open(_ permits: Permits) {
      let id = ObjectIdentifier(permits)
      if accounts[id] == nil {
        accounts[id] = Account(permits: permits, left: permits.moveToLedger())
      }
    }

    /// Lets permits count themselves again if nobody waits.
    private mutating func close(_ claims: [PermitClaim]) {
      for claim in claims where accounts[claim.id]?.queue.isEmpty == true {
        guard let account = accounts.removeValue(forKey: claim.id) else { continue }
        account.permits.moveFromLedger(left: account.left)
      }
    }
  }

  /// Tickets in the order in which they came.
  ///
  /// Those that are dropped stay until there are as many of them as of the others, so that dropping one
  /// costs the same however many wait.
  struct TicketQueue: Sendable {
    typealias Ticket = StateMachine.Ticket

    private var tickets: [Ticket] = []
    private var head = 0
    private var droppedCount = 0

    var isEmpty: Bool { tickets.count - head == droppedCount }

    /// All of them, and some that are dropped.
    var all: ArraySlice<Ticket> { tickets[head...] }

    mutating func append(_ ticket: Ticket) { tickets.append(ticket) }

    /// Takes note that one of the tickets was dropped.
    mutating func dropped(isWaiting: (Ticket) -> Bool) {
      droppedCount += 1
      while head < tickets.count, !isWaiting(tickets[head]) {
        head += 1
        droppedCount -= 1
      }
      guard head + droppedCount > tickets.count / 2 else { return }
      tickets = all.filter(isWaiting)
      head = 0
      droppedCount = 0
    }
  }
}
