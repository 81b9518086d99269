extension PoolAdmission {
  /// The members that run, that wait for a place, and that wait for room in the queue.
  struct StateMachine: Sendable {
    private let capacity: Int
    private let overflow: OperationPool.Overflow
    private(set) var limit: Int
    private var isPaused = false
    private var isClosed = false
    private var members = PoolSlots<Ticket>()
    private var lastNumber = 0
    private var queue: PoolQueue
    /// The members that wait for room in the queue.
    private var roomQueue = PoolQueue(order: .fifo)
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

    // MARK: Submission

    /// Adds a member.
    ///
    /// - Parameters:
    ///   - canWait: Whether the submitter can wait for room.
    ///   - canceller: Cancels the run.
    /// - Returns: The remaining wait of the submitter.
    mutating func submitted(
      _ ticket: Ticket, priority: Int, isBarrier: Bool, canWait: Bool,
      canceller: @escaping Canceller
    ) -> (Remainder, Resumptions) {
      var wakening = Resumptions()
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

    /// The reason to refuse a member that is submitted now; nil if it would not be refused.
    func refusal(isBarrier: Bool, canWait: Bool) -> PoolRefusalError.Reason? {
      if isClosed { return .closed }
      if isThereRoom(isBarrier: isBarrier) { return nil }
      switch overflow {
      case .wait: return canWait ? nil : .full
      case .refuse: return .full
      case .dropOldest, .dropNewest: return queue.count == 0 ? .full : nil
      }
    }

    /// Drops a waiting member to make room.
    ///
    /// - Returns: Whether a member was dropped.
    private mutating func drop(
      by overflow: OperationPool.Overflow, _ wakening: inout Resumptions
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

    /// Registers the submitter of a member, which waits until the member is in the queue or
    /// decided.
    ///
    /// - Returns: The waiter itself if there is nothing to wait for.
    mutating func waitedForRoom(_ ticket: Ticket, _ submitter: PlainWaiter) -> PlainWaiter? {
      guard case .wantsRoom(let place, _, let waiter) = ticket.stage else { return submitter }
      ticket.stage = .wantsRoom(at: place, submitter, waiter)
      return nil
    }

    /// Registers the run of a member, which waits for the decision.
    mutating func waited(_ ticket: Ticket, _ waiter: Waiter) -> Resumptions {
      var wakening = Resumptions()
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

    // MARK: Cancellation and end

    /// Cancels a member whose submitter was cancelled, unless it has room in the queue.
    mutating func submitterCancelled(_ ticket: Ticket) -> Resumptions {
      guard case .wantsRoom = ticket.stage else { return Resumptions() }
      return cancelled(ticket)
    }

    /// Cancels a member.
    mutating func cancelled(_ ticket: Ticket) -> Resumptions {
      var wakening = Resumptions()
      decide(ticket, .cancelled, &wakening)
      advance(&wakening)
      return wakening
    }

    /// Removes a member whose run has ended.
    mutating func ended(_ ticket: Ticket) -> Resumptions {
      var wakening = Resumptions()
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

    // MARK: All members

    mutating func widthSet(to limit: Int) -> Resumptions {
      self.limit = limit
      return advanced()
    }

    mutating func paused() { isPaused = true }

    mutating func resumed() -> Resumptions {
      isPaused = false
      return advanced()
    }

    mutating func closed(_ closing: OperationPool.Closing) -> Resumptions {
      isClosed = true
      var wakening = Resumptions()
      if closing == .rejectingPending {
        for ticket in ticketsInOrder { decide(ticket, .refused(.closed), &wakening) }
      }
      advance(&wakening)
      return wakening
    }

    /// Takes all submitted members out of their queues, so that none begins. Each ends when its
    /// canceller has been called, so that its run has the reason.
    mutating func allCancelled() -> (cancellers: [Canceller], Resumptions) {
      var wakening = Resumptions()
      var cancellers: [Canceller] = []
      for ticket in ticketsInOrder where !ticket.isTurnedAway {
        if let canceller = ticket.canceller { cancellers.append(canceller) }
        takeOut(ticket, &wakening)
      }
      advance(&wakening)
      return (cancellers, wakening)
    }

    /// The submitted members, in the order of submission.
    private var ticketsInOrder: [Ticket] {
      members.elements.filter { $0.number > 0 }.sorted { $0.number < $1.number }
    }

    /// - Returns: The waiter itself if no member is left.
    mutating func waitedUntilDrained(_ waiter: PlainWaiter) -> PlainWaiter? {
      if members.isEmpty { return waiter }
      drainWaiters.append(waiter)
      return nil
    }

    // MARK: The queue

    private var hasPlace: Bool { !isPaused && !isBarrierRunning && runningCount < limit }

    /// Whether many refused or cancelled members have not ended.
    private var isCrowded: Bool {
      members.count - runningCount - queue.count - roomQueue.count > 64
    }

    /// Whether there is room for a new member. Members that already wait for room precede it.
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

    /// Removes a member that waits for room or for a place from its queue.
    private mutating func takeOut(_ ticket: Ticket, _ wakening: inout Resumptions) {
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

    /// Decides on a member that waits for room, waits for a place or leaves. Other members are
    /// unaffected.
    private mutating func decide(
      _ ticket: Ticket, _ decision: Decision, _ wakening: inout Resumptions
    ) {
      takeOut(ticket, &wakening)
      if case .leaves(let waiter) = ticket.stage { settle(ticket, decision, waiter, &wakening) }
    }

    /// Records the decision on a member, and resumes its run if that waits.
    private mutating func settle(
      _ ticket: Ticket, _ decision: Decision, _ waiter: Waiter?, _ wakening: inout Resumptions
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

    private mutating func advanced() -> Resumptions {
      var wakening = Resumptions()
      advance(&wakening)
      return wakening
    }

    /// Begins the members for which there is a place, and enqueues the members for which there is
    /// room.
    private mutating func advance(_ wakening: inout Resumptions) {
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

    /// Moves the first member that waits for room into the queue, one at a time, so that it gets a
    /// place that is free.
    ///
    /// - Returns: Whether a member was moved.
    private mutating func letIn(_ wakening: inout Resumptions) -> Bool {
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
