extension PermitLedger {
  /// The waiters to resume after the lock, and the objects to free there: the last reference to
  /// permits frees the closure that names them, and so values of a user.
  package struct Effects: Sendable {
    package struct Answered: Sendable {
      package let request: Request
      package let answer: Answer
      /// If it is taken, the highest priority of those that still wait for the same permits, if
      /// that is higher than its own.
      package let priority: TaskPriority?
    }

    /// A priority that all runs which hold some permits must have.
    package struct Raise: Sendable {
      package let permits: Permits
      package let priority: TaskPriority
    }

    package fileprivate(set) var answered: [Answered] = []
    package fileprivate(set) var raises: [Raise] = []
    /// Whether more requests may be admitted, by ``StateMachine/continueAdmitting()``.
    package fileprivate(set) var isIncomplete = false
    fileprivate var unusedKinds: [Kind] = []
    fileprivate var unblockedHolds: [BlockedHold] = []
  }

  /// The requests that wait, the permits that they wait for, and the holds that they wait below.
  package struct StateMachine: Sendable {
    /// How many requests are admitted at once: the lock is held for a short time, however many
    /// wait.
    private static let batch = 64

    private var lastTurn: Turn = 0
    private var kinds: [ObjectIdentifier: Kind] = [:]
    private var blockedHolds: [ObjectIdentifier: BlockedHold] = [:]
    /// The kinds in whose queues there may be requests to admit.
    private var changed: [Kind] = []
    private var detector = DeadlockDetector()

    package init() {}

    /// How many requests, holds and kinds of permits have been examined to admit requests and to
    /// find deadlocks.
    package var stepCount: Int { detector.steps }

    package func left(of permits: Permits) -> Int { kind(of: permits)?.left ?? 0 }

    package func waitingCount(for permits: Permits) -> Int { kind(of: permits)?.queue.count ?? 0 }

    package func priority(ofWaitersFor permits: Permits) -> TaskPriority? {
      kind(of: permits)?.priority
    }

    private func kind(of permits: Permits) -> Kind? { kinds[ObjectIdentifier(permits)] }

    // MARK: Events

    /// - Parameter priority: The priority of the task of the request.
    package mutating func asked(
      _ request: Request, at priority: TaskPriority = .medium
    ) -> Effects {
      // It may have been raised since.
      request.priority = max(request.priority, priority)
      lastTurn += 1
      request.turn = lastTurn
      block(request)
      let kinds = request.claims.map { open($0.permits) }
      let priorities = kinds.map(\.priority)
      request.entries = zip(kinds, request.claims).map { kind, claim in
        let place = kind.add(request, claim.number, of: kinds)
        return Request.Entry(
          kind: kind, number: claim.number, place: place, passesFrom: request.turn)
      }
      var effects = Effects()
      admit(from: kinds, &effects)
      if request.isWaiting, request.isBelowHold { resolve(request, &effects) }
      if request.isWaiting { raise(kinds, from: priorities, to: request.priority, &effects) }
      return effects
    }

    /// The priority of the task of a request has been raised.
    package mutating func escalated(_ request: Request, to priority: TaskPriority) -> Effects {
      var effects = Effects()
      guard priority > request.priority else { return effects }
      let kinds = request.entries.map(\.kind)
      let priorities = kinds.map(\.priority)
      for kind in kinds { kind.raise(from: request.priority, to: priority) }
      request.priority = priority
      raise(kinds, from: priorities, to: priority, &effects)
      return effects
    }

    /// Raises the holders of permits, unless they have been raised as high for another request.
    private func raise(
      _ kinds: [Kind], from priorities: [TaskPriority?], to priority: TaskPriority,
      _ effects: inout Effects
    ) {
      for (kind, before) in zip(kinds, priorities) where before.map({ $0 < priority }) ?? true {
        effects.raises.append(Effects.Raise(permits: kind.permits, priority: priority))
      }
    }

    /// Removes a request. Has no effect if the request does not wait.
    package mutating func cancelled(_ request: Request) -> Effects {
      var effects = Effects()
      if request.isWaiting { drop(request, .cancelled, &effects) }
      return effects
    }

    package mutating func gaveBack(_ claim: PermitClaim) -> Effects {
      let kind = open(claim.permits)
      kind.left += claim.number
      var effects = Effects()
      admit(from: [kind], &effects)
      return effects
    }

    /// Detaches a hold that has ended although requests wait below it: these were made through a
    /// context that outlived its run. They are below no hold from now on.
    package mutating func ended(_ hold: PermitHold) -> Effects {
      var effects = Effects()
      guard let blocked = blockedHolds[ObjectIdentifier(hold)] else { return effects }
      for request in blocked.requests {
        request.blockedHold = nil
        if request.isLinking { continue }
        for entry in request.entries { entry.kind.linkCount -= 1 }
      }
      for child in blocked.holds { child.parent = nil }
      unblock(blocked, &effects)
      return effects
    }

    /// Admits more of the requests whose turn it is.
    package mutating func continueAdmitting() -> Effects {
      var effects = Effects()
      admit(from: [], &effects)
      return effects
    }

    // MARK: Requests

    /// Refuses a request that would wait forever, and resolves a cycle that exists only because of
    /// the order of the requests.
    private mutating func resolve(_ request: Request, _ effects: inout Effects) {
      switch detector.prospect(of: request) {
      case .admitted: break
      case .deadlock: drop(request, .refused, &effects)
      case .blockedByOrder(let change):
        for lenient in change.lenient { lenient.letsPass = request.turn }
        for passage in change.passages { letPass(passage, until: request.turn) }
        let requests = change.passages.map(\.request) + change.lenient
        admit(from: kinds(of: requests), &effects)
      }
    }

    /// Each kind once, in the order of the requests.
    private func kinds(of requests: [Request]) -> [Kind] {
      var seen: Set<ObjectIdentifier> = []
      return requests.flatMap(\.entries).map(\.kind).filter {
        seen.insert(ObjectIdentifier($0)).inserted
      }
    }

    private func letPass(_ passage: Passage, until turn: Turn) {
      let request = passage.request
      request.letsPass = turn
      for index in request.entries.indices where request.entries[index].kind === passage.kind {
        request.entries[index].passesFrom = passage.turn
        if request.entries[index].passingPlace != nil { continue }
        request.entries[index].passingPlace = passage.kind.letPass(request)
      }
    }

    /// Removes a request from all queues, and admits the requests that can now be admitted.
    private mutating func drop(_ request: Request, _ answer: Answer, _ effects: inout Effects) {
      let kinds = request.entries.map(\.kind)
      remove(request, answer, &effects)
      admit(from: kinds, &effects)
    }

    private mutating func remove(
      _ request: Request, _ answer: Answer, _ effects: inout Effects
    ) {
      for entry in request.entries { entry.kind.remove(request, entry) }
      let waiting =
        answer == .taken ? request.entries.compactMap(\.kind.priority).max() : nil
      let priority = waiting.flatMap { $0 > request.priority ? $0 : nil }
      request.entries = []
      if let hold = request.blockedHold, let place = request.placeBelowHold {
        hold.requests.remove(place)
        request.blockedHold = nil
        if hold.isUnblocked { unblock(hold, &effects) }
      }
      effects.answered.append(
        Effects.Answered(request: request, answer: answer, priority: priority))
    }

    /// Admits requests whose turn it is in every queue, and for which the permits suffice.
    private mutating func admit(from kinds: [Kind], _ effects: inout Effects) {
      changed += kinds
      while effects.answered.count < Self.batch, let kind = changed.popLast() {
        guard let request = firstToAdmit(in: kind) else {
          close(kind, &effects)
          continue
        }
        for entry in request.entries {
          entry.kind.left -= entry.number
          changed.append(entry.kind)
        }
        remove(request, .taken, &effects)
      }
      effects.isIncomplete = !changed.isEmpty
    }

    private mutating func firstToAdmit(in kind: Kind) -> Request? {
      if kind.isExhausted { return nil }
      detector.steps += 1
      if let front = kind.front, mayBeAdmitted(front) { return front }
      detector.steps += kind.passing.count
      return kind.passing.sorted { $0.turn < $1.turn }.first(where: mayBeAdmitted)
    }

    private func mayBeAdmitted(_ request: Request) -> Bool {
      request.entries.allSatisfy { $0.kind.left >= $0.number }
        && request.entries.allSatisfy { $0.kind.isTurn(of: request, from: $0.passesFrom) }
    }

    // MARK: Holds

    /// Records that a request waits below its hold, if the hold has not ended.
    private mutating func block(_ request: Request) {
      guard let hold = request.hold, let blocked = blocked(hold) else { return }
      request.blockedHold = blocked
      request.placeBelowHold = blocked.requests.append(request)
    }

    /// Returns the record of a hold with waiting requests below it, and creates the missing records
    /// of its parents.
    ///
    /// - Returns: Nil if the hold has ended.
    /// - Complexity: O(*holds that were not blocked before*).
    private mutating func blocked(_ hold: PermitHold) -> BlockedHold? {
      var lowest: BlockedHold?
      var child: BlockedHold?
      var next: PermitHold? = hold
      while let hold = next {
        detector.steps += 1
        let known = blockedHolds[ObjectIdentifier(hold)]
        if known == nil, !hold.markBlocked() { break }
        let blocked = known ?? newlyBlocked(hold)
        child?.parent = blocked
        child?.placeInParent = child.map { blocked.holds.append($0) }
        lowest = lowest ?? blocked
        if known != nil { break }
        child = blocked
        next = hold.parent
      }
      return lowest
    }

    private mutating func newlyBlocked(_ hold: PermitHold) -> BlockedHold {
      let blocked = BlockedHold(hold)
      blocked.shares = hold.claims.map { claim in
        let kind = knownKind(of: claim.permits)
        let place = kind.block(blocked, claim.number)
        return BlockedHold.Share(kind: kind, number: claim.number, place: place)
      }
      blockedHolds[ObjectIdentifier(hold)] = blocked
      return blocked
    }

    /// Removes a hold that has ended, or that no longer has waiting requests below it, and its
    /// parents as far as they have none either.
    private mutating func unblock(_ hold: BlockedHold, _ effects: inout Effects) {
      var next: BlockedHold? = hold
      while let blocked = next {
        blockedHolds[ObjectIdentifier(blocked.hold)] = nil
        blocked.hold.markUnblocked()
        for share in blocked.shares {
          share.kind.unblock(share.number, at: share.place)
          forget(share.kind, &effects)
        }
        effects.unblockedHolds.append(blocked)
        next = blocked.parent
        if let place = blocked.placeInParent { next?.holds.remove(place) }
        if next?.isUnblocked == false { break }
      }
    }

    // MARK: Which permits are counted here

    private mutating func knownKind(of permits: Permits) -> Kind {
      let id = ObjectIdentifier(permits)
      if let kind = kinds[id] { return kind }
      let kind = Kind(permits)
      kinds[id] = kind
      return kind
    }

    private mutating func open(_ permits: Permits) -> Kind {
      let kind = knownKind(of: permits)
      if !kind.isOpen {
        kind.isOpen = true
        kind.left = permits.moveToLedger()
      }
      return kind
    }

    /// Lets permits count themselves again if no request waits.
    private mutating func close(_ kind: Kind, _ effects: inout Effects) {
      guard kind.isOpen, kind.queue.isEmpty else { return }
      kind.isOpen = false
      kind.permits.moveFromLedger(left: kind.left)
      forget(kind, &effects)
    }

    private mutating func forget(_ kind: Kind, _ effects: inout Effects) {
      guard !kind.isOpen, kind.isUnused else { return }
      kinds[ObjectIdentifier(kind.permits)] = nil
      effects.unusedKinds.append(kind)
    }
  }
}
