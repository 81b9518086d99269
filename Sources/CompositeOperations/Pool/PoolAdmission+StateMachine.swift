extension PoolAdmission {
  /// Who may run, who waits for a place, and who waits for room to wait in.
  struct StateMachine: Sendable {
    private let capacity: Int
    private let overflow: OperationPool.Overflow
    private(set) var limit: Int
    private var isPaused = false
    private var isClosed = false
    private var members = PoolSlots<Ticket>()
    private var lastNumber = 0
    private var queue: PoolQueue
    /// Those who want room in the queue.
    private var roomQueue = PoolQueue(order: .firstIn)
    private(set) var runningCount = 0
    private var isBarrierRunning = false
    private var drainWaiters: [PlainWaiter] = []

    init(
      limit: Int, order: OperationPool.Order, capacity: Int, overflow: OperationPool.Overflow
    ) {
      self.limit = limit
      self.capacity = capacity
      self.overflow = overflow
      queue = PoolQueue(order: order)
    }

    var waitingCount: Int { queue.count }

    // MARK: Members come

    /// - Parameters:
    ///   - canWait: Whether whoever submits it can wait for room.
    ///   - canceller: Cancels the run.
    /// - Returns: What whoever submits it has to wait for.
    mutating func submitted(
      _ ticket: Ticket, priority: Int, isBarrier: Bool, canWait: Bool,
      canceller: @escaping Canceller
    ) -> (Remainder, Wakening) {
      var wakening = Wakening()
      if !ticket.isMember { ticket.slot = members.add(ticket) }
      let waiter: Waiter? = if case .early(let waiter) = ticket.stage { waiter } else { nil }
      lastNumber += 1
      ticket.number = lastNumber
      ticket.priority = priority
      ticket.isBarrier = isBarrier
      ticket.canceller = canceller
      if let reason = refusal(isBarrier: isBarrier, canWait: canWait) {
        settle(ticket, .refused(reason), waiter, &wakening)
      } else if isThereRoom(isBarrier: isBarrier) || drop(by: overflow, &wakening) {
        enqueue(ticket, waiter)
        advance(&wakening)
      } else {
        let place = roomQueue.add(ticket, priority: 0, isBarrier: false)
        ticket.stage = .wantsRoom(at: place, nil, waiter)
        return (.roomIsWanted, wakening)
      }
      return (isCrowded ? .othersAreLeaving : .isDone, wakening)
    }

    /// Why a member that comes now would be refused; nil if it would not be.
    func refusal(isBarrier: Bool, canWait: Bool) -> PoolRefusalError.Reason? {
      if isClosed { return .closed }
      if isThereRoom(isBarrier: isBarrier) { return nil }
      switch overflow {
      case .wait: return canWait ? nil : .full
      case .refuse: return .full
      case .dropOldest, .dropNewest: return queue.count == 0 ? .full : nil
      }
    }

    /// Makes room at the cost of one that waits.
    ///
    /// - Returns: Whether the rule says so and one waits.
    private mutating func drop(
      by overflow: OperationPool.Overflow, _ wakening: inout Wakening
    ) -> Bool {
      let victim: Ticket? =
        switch overflow {
        case .wait, .refuse: nil
        case .dropOldest: queue.oldest
        case .dropNewest: queue.newest
        }
      guard let victim else { return false }
      decide(victim, .refused(.dropped), &wakening)
      return true
    }

    /// Whoever submitted a member waits until it is in the queue, or decided.
    ///
    /// - Returns: The waiter itself if there is nothing to wait for.
    mutating func waitedForRoom(_ ticket: Ticket, _ submitter: PlainWaiter) -> PlainWaiter? {
      guard case .wantsRoom(let place, _, let waiter) = ticket.stage else { return submitter }
      ticket.stage = .wantsRoom(at: place, submitter, waiter)
      return nil
    }

    /// The run of a member waits for what becomes of it.
    mutating func waited(_ ticket: Ticket, _ waiter: Waiter) -> Wakening {
      var wakening = Wakening()
      switch ticket.stage {
      case .unknown:
        ticket.slot = members.add(ticket)
        ticket.stage = .early(waiter)
      case .wantsRoom(let place, let submitter, nil):
        ticket.stage = .wantsRoom(at: place, submitter, waiter)
      case .waits(let place, nil): ticket.stage = .waits(at: place, waiter)
      case .leaves(nil): ticket.stage = .leaves(waiter)
      case .decided(let decision): settle(ticket, decision, waiter, &wakening)
      case .early, .wantsRoom, .waits, .leaves, .runs, .turnedAway, .gone:
        preconditionFailure("waited: the run of the member already waits or has a decision")
      }
      return wakening
    }

    // MARK: Members go

    /// Whoever submits a member is cancelled: that is cancelled, too, if it has no room yet.
    mutating func submitterCancelled(_ ticket: Ticket) -> Wakening {
      guard case .wantsRoom = ticket.stage else { return Wakening() }
      return cancelled(ticket)
    }

    /// The run of a member is cancelled.
    mutating func cancelled(_ ticket: Ticket) -> Wakening {
      var wakening = Wakening()
      decide(ticket, .cancelled, &wakening)
      advance(&wakening)
      return wakening
    }

    /// The run of a member has ended.
    mutating func ended(_ ticket: Ticket) -> Wakening {
      var wakening = Wakening()
      precondition(ticket.isMember, "ended: the run of the member has already ended")
      if ticket.hasPlace {
        runningCount -= 1
        if ticket.isBarrier { isBarrierRunning = false }
      }
      members.remove(ticket.slot)
      wakening.unused = ticket.leave()
      advance(&wakening)
      return wakening
    }

    // MARK: Everybody

    mutating func widthSet(to limit: Int) -> Wakening {
      self.limit = limit
      return advanced()
    }

    mutating func paused() { isPaused = true }

    mutating func resumed() -> Wakening {
      isPaused = false
      return advanced()
    }

    mutating func closed(_ closing: OperationPool.Closing) -> Wakening {
      isClosed = true
      var wakening = Wakening()
      if closing == .refusingWhatWaits {
        for ticket in ticketsInOrder { decide(ticket, .refused(.closed), &wakening) }
      }
      advance(&wakening)
      return wakening
    }

    /// Everybody who has been submitted is being cancelled: nobody of them begins any more, and each is
    /// gone when its canceller has been called, so that its run knows why.
    mutating func allCancelled() -> (cancellers: [Canceller], Wakening) {
      var wakening = Wakening()
      var cancellers: [Canceller] = []
      for ticket in ticketsInOrder where !ticket.isTurnedAway {
        if let canceller = ticket.canceller { cancellers.append(canceller) }
        takeOut(ticket, &wakening)
      }
      advance(&wakening)
      return (cancellers, wakening)
    }

    /// Those who have been submitted, in the order of that.
    private var ticketsInOrder: [Ticket] {
      members.elements.filter { $0.number > 0 }.sorted { $0.number < $1.number }
    }

    /// - Returns: The waiter itself if nobody is left.
    mutating func waitedUntilDrained(_ waiter: PlainWaiter) -> PlainWaiter? {
      if members.isEmpty { return waiter }
      drainWaiters.append(waiter)
      return nil
    }

    // MARK: The queue

    private var hasPlace: Bool { !isPaused && !isBarrierRunning && runningCount < limit }

    /// Whether many members have been turned away and have not ended.
    private var isCrowded: Bool {
      members.count - runningCount - queue.count - roomQueue.count > 64
    }

    /// Whether there is room for one who comes: it is for those first who want some already.
    private func isThereRoom(isBarrier: Bool) -> Bool {
      roomQueue.count == 0 && hasRoom(isBarrier: isBarrier)
    }

    private func hasRoom(isBarrier: Bool) -> Bool {
      if queue.count < capacity { return true }
      return queue.count == 0 && hasPlace && (!isBarrier || runningCount == 0)
    }

    private mutating func enqueue(_ ticket: Ticket, _ waiter: Waiter?) {
      let place = queue.add(ticket, priority: ticket.priority, isBarrier: ticket.isBarrier)
      ticket.stage = .waits(at: place, waiter)
    }

    /// Takes a member that wants room or waits out of its queue.
    private mutating func takeOut(_ ticket: Ticket, _ wakening: inout Wakening) {
      switch ticket.stage {
      case .wantsRoom(let place, let submitter, let waiter):
        roomQueue.remove(place)
        if let submitter { wakening.others.append(submitter) }
        ticket.stage = .leaves(waiter)
      case .waits(let place, let waiter):
        queue.remove(place)
        ticket.stage = .leaves(waiter)
      case .unknown, .early, .leaves, .decided, .runs, .turnedAway, .gone: break
      }
    }

    /// Decides about a member that wants room, waits or leaves; about others it has been decided.
    private mutating func decide(_ ticket: Ticket, _ decision: Decision, _ wakening: inout Wakening)
    {
      takeOut(ticket, &wakening)
      if case .leaves(let waiter) = ticket.stage { settle(ticket, decision, waiter, &wakening) }
    }

    /// Notes what becomes of a member, and tells its run if that waits.
    private mutating func settle(
      _ ticket: Ticket, _ decision: Decision, _ waiter: Waiter?, _ wakening: inout Wakening
    ) {
      guard let waiter else {
        ticket.stage = .decided(decision)
        if case .begin = decision { ticket.admit() }
        return
      }
      wakening.add(waiter, decision)
      ticket.stage =
        switch decision {
        case .begin: .runs
        case .cancelled, .refused: .turnedAway
        }
    }

    private mutating func advanced() -> Wakening {
      var wakening = Wakening()
      advance(&wakening)
      return wakening
    }

    /// Lets those begin for whom there is a place, and those into the queue for whom there is room.
    private mutating func advance(_ wakening: inout Wakening) {
      repeat {
        while hasPlace, let ticket = queue.next, !ticket.isBarrier || runningCount == 0 {
          runningCount += 1
          isBarrierRunning = ticket.isBarrier
          decide(ticket, .begin, &wakening)
        }
      } while letIn(&wakening)
      guard members.isEmpty else { return }
      wakening.others += drainWaiters
      drainWaiters = []
    }

    /// Lets the first who wants room into the queue: one at a time, so that a free place is that one's.
    ///
    /// - Returns: Whether anybody was let in.
    private mutating func letIn(_ wakening: inout Wakening) -> Bool {
      guard let ticket = roomQueue.next, hasRoom(isBarrier: ticket.isBarrier),
        case .wantsRoom(let place, let submitter, let waiter) = ticket.stage
      else { return false }
      roomQueue.remove(place)
      if let submitter { wakening.others.append(submitter) }
      enqueue(ticket, waiter)
      return true
    }
  }
}
